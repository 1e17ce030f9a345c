import type { Command } from 'commander';
import type { WorkSummary } from '../../../cluster/workers/work-off.ts';
import { addNetworkOptions } from '../../../query/input/option-values.ts';
import { announceRun } from '../../../remote/run-status/announce.ts';
import { EXIT, exitCodeOfStop } from '../../../render/exit.ts';
import type { MinuteLines } from '../../../render/live/live.ts';
import { stopFault, stopReason, totalsLines } from '../../../render/live/round-table.ts';
import { counted } from '../../../render/quantities.ts';
import { failureLines, rejectionLines } from '../../../render/text/seeds-text.ts';
import { seedSources } from '../../input/seed-sources.ts';
import { stopNote, withStopSignal } from '../../process/stop-signal.ts';
import type { Run } from '../../program/program.ts';
import { resumeCommand, writeSummary } from '../../program/write-answer.ts';
import type { Session } from '../../session.ts';

export function addWork(program: Command, run: Run): void {
  const command = addNetworkOptions(
    program
      .command('work')
      .argument('[seed...]', 'seeds as for crawl')
      .description(
        'Work on a crawl that several processes share, on one or more machines, until nothing is due. Any worker ' +
          'may die. Prints a line a minute, and a total. Needs cluster.store.',
      )
      .option('--daemon', 'stay where nothing is due, and go on when something is, until a signal'),
  ).addHelpText(
    'after',
    `
Examples:
  incrawl work seeds/ -D cluster.store=postgres://10.0.0.5/crawl --dir /mnt/shared/crawl --contact me@example.org
  incrawl work -D cluster.store=postgres://crawler@10.0.0.7/crawl --dir /mnt/shared/crawl --contact me@example.org
  incrawl work --daemon --dir /mnt/shared/crawl`,
  );
  command.action((seeds: string[], { daemon = false }: { readonly daemon?: boolean }) =>
    run(command, async (session) => {
      const sources = await seedSources(session, seeds);
      const onStop = (): void => session.note(stopNote('the pages in flight; other workers get the rest'));
      return withStopSignal(session.surroundings, onStop, async (signal) => {
        await session.showProgress();
        const { MinuteLines } = await import('../../../render/live/live.ts');
        const lines = new MinuteLines(session.width);
        const summary = await session.withWorker(async (worker) => {
          const { dir } = session.options;
          const shown = await announceRun({ dir, command: 'work', pid: process.pid, log: await session.log() });
          const over = new AbortController();
          const printing = eachMinute(session, over.signal, () => printMinute(session, lines));
          return worker
            .work({
              seeds: sources,
              signal,
              stays: daemon,
              onProgress: (progress) => {
                shown.progress(progress);
                session.live.progress(progress);
                lines.progress(progress);
              },
              onRound: (round) => {
                shown.round(round);
                lines.round(round);
              },
            })
            .finally(async () => {
              over.abort();
              await printing;
              printMinute(session, lines);
              await shown.close();
            });
        });
        session.live.stop();
        await writeSummary(session, summary, () => workText(summary, session.width));
        const fault = stopFault(summary.stoppedBy);
        if (fault !== null && session.options.quiet) session.complain(`incrawl: ${fault}`);
        const code = exitCodeOfStop(summary.stoppedBy);
        if (code === EXIT.stopped)
          session.note(`Join again with:\n  ${resumeCommand(session.surroundings.argv, seeds)}`);
        return code;
      });
    }),
  );
}

const MINUTE_MS = 60_000;

/** Calls `use` each minute until the signal aborts. */
async function eachMinute(session: Session, signal: AbortSignal, use: () => void): Promise<void> {
  for (;;) {
    await session.sleepUntil(session.now() + MINUTE_MS, signal);
    if (signal.aborted) return;
    use();
  }
}

/** Prints what was done since the last line. */
function printMinute(session: Session, minutes: MinuteLines): void {
  const lines = minutes.take(session.now(), session.bold);
  if (session.json || session.options.quiet || lines.length === 0) return;
  session.live.around(() => {
    void session.out.write(lines.map((line) => `${line}\n`).join(''));
    // An error of stdout rejects the next write that is awaited.
    session.out.flush().catch(() => {});
  });
}

function workText({ turns, totals, stoppedBy, ...summary }: WorkSummary, width: number): string {
  const lines = [
    ...(turns === 0 ? [] : totalsLines({ totals }, width)),
    ...failureLines(totals.failures),
    ...rejectionLines(totals.filteredBy).map((line) => `filtered out: ${line}`),
    `this worker: ${counted(turns, 'turn')} of partitions, ${counted(summary.roundsDone, 'round')}`,
    stopReason({ stoppedBy }),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

import type { Command } from 'commander';
import type { WorkSummary } from '../../../operations/cluster/work-off.ts';
import { EXIT, exitCodeOfStop } from '../../exit.ts';
import { seedSources } from '../../input/seed-sources.ts';
import { stopNote, withStopSignal } from '../../process/stop-signal.ts';
import type { Run } from '../../program/program.ts';
import { resumeCommand } from '../../program/resume-command.ts';
import { addNetworkOptions } from '../../program/shared-options.ts';
import { writeSummary } from '../../program/write-answer.ts';
import { printRound } from '../../render/live/print-round.ts';
import { stopFault, stopReason } from '../../render/live/round-table.ts';
import { count } from '../../render/quantities.ts';
import { failureLines } from '../../render/text/failures-text.ts';
import { rejectionLines } from '../../render/text/rejections-text.ts';
import { announceRun } from '../../run-status/announce.ts';

export function addWork(program: Command, run: Run): void {
  const command = addNetworkOptions(
    program
      .command('work')
      .argument('[seed...]', 'seeds as for crawl')
      .description(
        'Work on a crawl that several processes share, on one or more machines, until nothing is due. Any worker ' +
          'may die. Needs cluster.store.',
      ),
  ).addHelpText(
    'after',
    `
Examples:
  incrawl work seeds/ -D cluster.store=postgres://10.0.0.5/crawl --dir /mnt/shared/crawl --contact me@example.org
  incrawl work -D cluster.store=postgres://crawler@10.0.0.7/crawl --dir /mnt/shared/crawl --contact me@example.org`,
  );
  command.action((seeds: string[]) =>
    run(command, async (session) => {
      const sources = await seedSources(session, seeds);
      const onStop = (): void => session.note(stopNote('the pages in flight; other workers get the rest'));
      return withStopSignal(session.surroundings, onStop, async (signal) => {
        await session.showProgress();
        const summary = await session.withWorker(async (worker) => {
          const { dir } = session.options;
          const shown = await announceRun({ dir, command: 'work', pid: process.pid, log: await session.log() });
          return worker
            .work({
              seeds: sources,
              signal,
              onProgress: (progress) => {
                shown.progress(progress);
                session.live.progress(progress);
              },
              onRound: (round) => {
                shown.round(round);
                printRound(session, round);
              },
            })
            .finally(() => shown.close());
        });
        session.live.stop();
        await writeSummary(session, summary, () => workText(summary));
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

function workText({ turns, rounds, totals, stoppedBy }: WorkSummary): string {
  const lines = [
    ...failureLines(totals.failures),
    ...rejectionLines(totals.filteredBy).map((line) => `filtered out: ${line}`),
    `this worker: ${count(turns)} turns of partitions, ${count(rounds.length)} rounds`,
    stopReason({ stoppedBy }),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

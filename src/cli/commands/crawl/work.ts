import type { Command } from 'commander';
import type { WorkSummary } from '../../../operations/cluster/work-off.ts';
import { EXIT, exitCodeOfStop } from '../../exit.ts';
import { seedSources } from '../../input/seed-sources.ts';
import { listenForStop } from '../../process/stop-signal.ts';
import type { Run } from '../../program/program.ts';
import { resumeCommand } from '../../program/resume-command.ts';
import { addNetworkOptions } from '../../program/shared-options.ts';
import { stopReason } from '../../render/live/round-table.ts';
import { tellRound } from '../../render/live/tell-round.ts';
import { count } from '../../render/quantities.ts';
import { failureLines } from '../../render/text/failures-text.ts';
import { rejectionLines } from '../../render/text/rejections-text.ts';
import type { Session } from '../../session.ts';

export function addWork(program: Command, run: Run): void {
  const command = addNetworkOptions(
    program
      .command('work')
      .argument('[seed...]', 'as for crawl')
      .description(
        'One of several processes that crawl together, on one or more machines: takes jobs until nothing is due. Any of them may die. Needs cluster.redis.',
      ),
  ).addHelpText(
    'after',
    `
Examples:
  incrawl work seeds/ -D cluster.redis=redis://10.0.0.5:6379 --dir /mnt/shared/crawl --contact me@example.org
  incrawl work -D cluster.redis=redis://10.0.0.5:6379 --dir /mnt/shared/crawl --contact me@example.org`,
  );
  command.action((seeds: string[]) =>
    run(command, async (session) => {
      const named = await seedSources(seeds, session.surroundings.stdin);
      if ('error' in named) return session.refuse(named.error);
      const stop = listenForStop(() =>
        session.note('Finishing the pages in flight, and giving the jobs back; once more stops at once.'),
      );
      await session.showProgress();
      try {
        const summary = await session.withWorker((worker) =>
          worker.work({
            seeds: named.sources,
            signal: stop.signal,
            onProgress: (progress) => session.live.progress(progress),
            onRound: (round) => tellRound(session, round),
          }),
        );
        session.live.stop();
        await tellEnd(session, summary);
        const code = exitCodeOfStop(summary.stoppedBy);
        if (code === EXIT.stopped)
          session.note(`Join again with:\n  ${resumeCommand(session.surroundings.argv, seeds)}`);
        return code;
      } finally {
        stop.release();
      }
    }),
  );
}

async function tellEnd(session: Session, summary: WorkSummary): Promise<void> {
  if (session.json) return session.out.write(`${JSON.stringify(summary)}\n`);
  const { generate, fetch, update } = summary.jobs;
  for (const line of failureLines(summary.totals.failures)) await session.out.write(`${line}\n`);
  for (const line of rejectionLines(summary.totals.filteredBy)) await session.out.write(`kept out: ${line}\n`);
  await session.out.write(
    `jobs of this worker: generate ${count(generate)}, fetch ${count(fetch)}, update ${count(update)}\n${stopReason(summary.stoppedBy)}\n`,
  );
}

import { Argument, type Command } from 'commander';
import { linesOf } from '../../input/line-reader.ts';
import type { Run } from '../../program/program.ts';

/** Names of the jobs; their code is loaded when one runs. */
const JOBS = ['dedup', 'linkclusters'] as const;

export function addMr(program: Command, run: Run): void {
  const command = program
    .command('mr')
    .description(
      'Run the map or reduce step of a job on stdin and stdout, as Hadoop Streaming does: lines of key, tab, value.',
    )
    .addArgument(new Argument('<half>', 'step to run').choices(['map', 'reduce']))
    .addArgument(new Argument('<job>', 'name of the job').choices([...JOBS]))
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl mr map linkclusters < links.tsv | LC_ALL=C sort | incrawl mr reduce linkclusters',
    );
  command.action((half: 'map' | 'reduce', job: string) =>
    run(command, async (session) => {
      const { MAP_REDUCE_JOBS } = await import('../../../crawler.ts');
      const chosen = MAP_REDUCE_JOBS[job];
      if (chosen === undefined) return session.refuse(`no such job: ${job}`);
      for await (const line of chosen[half](linesOf(session.surroundings.stdin())))
        await session.out.write(`${line}\n`);
    }),
  );
}

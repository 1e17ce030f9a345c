import { Argument, type Command } from 'commander';
import { linesOf } from '../../input/line-reader.ts';
import type { Run } from '../../program/program.ts';

/** Jobs by name; their code is loaded when one runs. */
const JOBS = ['dedup', 'linkclusters'] as const;

export function addMr(program: Command, run: Run): void {
  const command = program
    .command('mr')
    .description(
      'Run one half of a map/reduce job on stdin and stdout, as Hadoop Streaming does: lines with key and value parted by a tab.',
    )
    .addArgument(new Argument('<half>', 'which half').choices(['map', 'reduce']))
    .addArgument(new Argument('<job>', 'which job').choices([...JOBS]))
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl mr map linkclusters < links.tsv | LC_ALL=C sort | incrawl mr reduce linkclusters',
    );
  command.action((half: 'map' | 'reduce', job: string) =>
    run(command, async (session) => {
      const { MAP_REDUCE_JOBS } = await import('../../../crawler.ts');
      const chosen = MAP_REDUCE_JOBS[job];
      if (chosen === undefined) return session.refuse(`no job ${job}`);
      for await (const line of chosen[half](linesOf(session.surroundings.stdin())))
        await session.out.write(`${line}\n`);
    }),
  );
}

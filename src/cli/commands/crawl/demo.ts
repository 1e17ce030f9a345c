import type { Command } from 'commander';
import { wholeNumber } from '../../../query/input/option-values.ts';
import { wrapText } from '../../../render/table.ts';
import type { Run } from '../../program/program.ts';

interface DemoOptions {
  readonly rounds?: number;
  readonly seed?: number;
  readonly keep?: true;
}

export function addDemo(program: Command, run: Run): void {
  const command = program
    .command('demo')
    .description('Serve a bundled changing site on this machine, crawl it for several rounds, and report the result.')
    .option('--rounds <n>', 'number of visits to the site', wholeNumber(1))
    .option('--seed <n>', 'seed of the generated site: the same number gives the same site', wholeNumber(0))
    .option('--keep', 'keep the crawl db afterwards, for readdb and explain')
    .addHelpText('after', '\nExample:\n  incrawl demo --rounds 6 --keep');
  command.action((options: DemoOptions) =>
    run(command, async (session) => {
      const { runDemo } = await import('../../../demo/demo.ts');
      const { json, width } = session;
      await runDemo({
        out: (line) => void session.out.write(`${json ? line : wrapText(line, width)}\n`),
        json,
        width,
        program: session.surroundings.commandIn?.(process.cwd()) ?? 'incrawl',
        ...(options.rounds === undefined ? {} : { rounds: options.rounds }),
        ...(options.seed === undefined ? {} : { seed: options.seed }),
        keep: options.keep === true,
        config: session.config,
      });
    }),
  );
}

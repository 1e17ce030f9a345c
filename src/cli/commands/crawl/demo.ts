import type { Command } from 'commander';
import type { Run } from '../../program/program.ts';
import { wholeNumber } from '../../program/shared-options.ts';

interface DemoOptions {
  readonly rounds?: number;
  readonly seed?: number;
  readonly keep?: true;
}

export function addDemo(program: Command, run: Run): void {
  const command = program
    .command('demo')
    .description('Serve a bundled changing site on this machine, crawl it for several rounds, and tell what happened.')
    .option('--rounds <n>', 'visits to the site', wholeNumber(1))
    .option('--seed <n>', 'another site: the same number gives the same one', wholeNumber(0))
    .option('--keep', 'leave the crawl db behind, to look at it with readdb and explain')
    .addHelpText('after', '\nExample:\n  incrawl demo --rounds 6 --keep');
  command.action((options: DemoOptions) =>
    run(command, async (session) => {
      const [{ runDemo }, { openCrawler }] = await Promise.all([
        import('../../../demo/demo.ts'),
        import('../../../crawler.ts'),
      ]);
      await runDemo({
        out: (line) => void session.out.write(`${line}\n`),
        json: session.json,
        ...(options.rounds === undefined ? {} : { rounds: options.rounds }),
        ...(options.seed === undefined ? {} : { seed: options.seed }),
        keep: options.keep === true,
        openCrawler,
        config: session.config,
      });
    }),
  );
}

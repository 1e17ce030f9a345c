import type { Command } from 'commander';
import { EXIT } from '../../exit.ts';
import type { Run } from '../../program/program.ts';
import { verifyText } from '../../render/text/care-text.ts';

export function addVerify(program: Command, run: Run): void {
  const command = program
    .command('verify')
    .description(
      'Hold the crawl db and the segments against their invariants. Nothing is changed, and a crawl may run meanwhile; exit code 1 when something is wrong.',
    )
    .option('--deep', 'also read every stored response and hold it against its own digest')
    .addHelpText('after', '\nExamples:\n  incrawl verify\n  incrawl verify --deep --json');
  command.action((flags: { readonly deep?: true }) =>
    run(command, async (session) => {
      const { verifyState } = await import('../../../crawler.ts');
      const summary = await verifyState(await session.stateOptions({ deep: flags.deep === true }));
      await session.out.write(session.json ? `${JSON.stringify(summary)}\n` : verifyText(summary, session.bold));
      return summary.sound ? EXIT.done : EXIT.error;
    }),
  );
}

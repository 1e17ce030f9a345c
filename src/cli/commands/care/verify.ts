import type { Command } from 'commander';
import { EXIT } from '../../../render/exit.ts';
import { verifyText } from '../../../render/text/care-text.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer, writeSummary } from '../../program/write-answer.ts';

export function addVerify(program: Command, run: Run): void {
  const command = program
    .command('verify')
    .description(
      'Check the invariants of the crawl db and the segments. Changes nothing; a crawl may run meanwhile. Exit ' +
        'code 1 when something is wrong.',
    )
    .option('--deep', 'also read every stored response and check its digest')
    .addHelpText('after', '\nExamples:\n  incrawl state verify\n  incrawl state verify --deep --json');
  command.action((flags: { readonly deep?: true }) =>
    run(command, async (session) => {
      const { verifyState } = await import('../../../crawler/index.ts');
      const summary = await verifyState(await session.stateOptions({ deep: flags.deep === true }));
      const write = summary.sound ? writeSummary : writeAnswer;
      await write(session, summary, () => verifyText(summary, session.bold));
      return summary.sound ? EXIT.done : EXIT.error;
    }),
  );
}

import type { Command } from 'commander';
import { EXIT } from '../../exit.ts';
import { dryRunNotice, jsonOf } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { repairText, verifyText } from '../../render/text/care-text.ts';

interface RepairFlags {
  readonly deep?: true;
  readonly dryRun?: true;
}

export function addRepair(program: Command, run: Run): void {
  const command = program
    .command('repair')
    .description(
      'Put right what verify finds: indexes, counters and the filter are made anew from the records. What cannot be read is kept in a quarantine, nothing is deleted.',
    )
    .option('--deep', 'also read every stored response; pages without one are taken out of their segment')
    .option('--dry-run', 'only say what is wrong, and what would be done about it')
    .addHelpText('after', '\nExamples:\n  incrawl repair --dry-run\n  incrawl repair && incrawl crawl');
  command.action((flags: RepairFlags) =>
    run(command, async (session) => {
      const { repairState, verifyState } = await import('../../../crawler.ts');
      const options = await session.stateOptions({ deep: flags.deep === true });
      if (flags.dryRun) {
        const summary = await verifyState(options);
        await session.out.write(
          session.json ? `${jsonOf(summary, true)}\n` : `${dryRunNotice(true)}${verifyText(summary, session.bold)}`,
        );
        return EXIT.done;
      }
      const summary = await repairState(options);
      await session.out.write(session.json ? `${JSON.stringify(summary)}\n` : repairText(summary, session.bold));
      return summary.left.sound ? EXIT.done : EXIT.error;
    }),
  );
}

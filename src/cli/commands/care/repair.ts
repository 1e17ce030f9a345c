import type { Command } from 'commander';
import { EXIT } from '../../../render/exit.ts';
import { clockText, repairText, verifyText } from '../../../render/text/care-text.ts';
import type { Run } from '../../program/program.ts';
import { writeAnswer, writeSummary } from '../../program/write-answer.ts';

interface RepairFlags {
  readonly deep?: true;
  readonly clock?: true;
  readonly dryRun?: true;
}

export function addRepair(program: Command, run: Run): void {
  const command = program
    .command('repair')
    .description(
      'Repair what "incrawl state verify" finds: indexes, counters and the Bloom filter are rebuilt from the ' +
        'records. Unreadable data is moved to a quarantine; nothing is deleted.',
    )
    .option('--deep', 'also read every stored response; pages without a readable one are removed from their segment')
    .option('--clock', 'correct times that were stamped while the clock was ahead; nothing else is repaired')
    .option('--dry-run', 'only say what is wrong, and how it would be repaired')
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl state repair --dry-run\n  incrawl state repair && incrawl crawl\n  incrawl state repair --clock --dry-run',
    );
  command.action((flags: RepairFlags) =>
    run(command, async (session) => {
      const { repairClock, repairState, verifyState } = await import('../../../crawler/index.ts');
      const options = await session.stateOptions({ deep: flags.deep === true });
      if (flags.clock) {
        const summary = await repairClock({ ...options, dryRun: flags.dryRun === true });
        await writeSummary(session, summary, () => clockText(summary));
        return EXIT.done;
      }
      if (flags.dryRun) {
        const summary = await verifyState(options);
        await writeAnswer(session, summary, () => verifyText(summary, session.bold), true);
        return EXIT.done;
      }
      const summary = await repairState(options);
      await writeSummary(session, summary, () => repairText(summary, session.bold));
      return summary.left.sound ? EXIT.done : EXIT.error;
    }),
  );
}

import type { Command } from 'commander';
import { backupText } from '../../../render/text/care-text.ts';
import type { Run } from '../../program/program.ts';
import { writeSummary } from '../../program/write-answer.ts';

export function addRestore(program: Command, run: Run): void {
  const command = program
    .command('restore')
    .argument('<folder>', 'a backup')
    .description('Restore a backup to the state directory, which must be new or empty. It appears when it is complete.')
    .option('--dry-run', 'only check the backup against its digests; nothing is written')
    .addHelpText('after', '\nExamples:\n  incrawl state restore /backups/crawl-2026-11 --dir crawldb-restored');
  command.action((folder: string, { dryRun = false }: { readonly dryRun?: boolean }) =>
    run(command, async (session) => {
      const { restoreState } = await import('../../../crawler/index.ts');
      const deps = { log: await session.log(), onWork: session.onWork, dryRun };
      const summary = await restoreState(folder, session.options.dir, deps);
      await writeSummary(session, summary, () => backupText(summary, 'Restored to'), dryRun);
    }),
  );
}

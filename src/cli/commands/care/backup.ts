// cli/commands/care/: commands that verify, repair, back up and prune.

import type { Command } from 'commander';
import { backupText } from '../../../render/text/care-text.ts';
import type { Run } from '../../program/program.ts';
import { writeSummary } from '../../program/write-answer.ts';

export function addBackup(program: Command, run: Run): void {
  const command = program
    .command('backup')
    .argument('<folder>', 'new or empty; with --check a backup')
    .description('Copy crawl db, segments and robots.txt files to a folder, with digests. A crawl may run meanwhile.')
    .option('--check', 'check an existing backup against its digests instead')
    .option('--dry-run', 'only say how much would be copied; nothing is written')
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl state backup /backups/crawl-2026-11\n  incrawl state backup --check /backups/crawl-2026-11',
    );
  command.action((folder: string, flags: { readonly check?: true; readonly dryRun?: boolean }) =>
    run(command, async (session) => {
      const { backupState, checkBackup } = await import('../../../crawler/index.ts');
      const { dryRun = false } = flags;
      const deps = { log: await session.log(), onWork: session.onWork, dryRun };
      const summary = flags.check
        ? await checkBackup(folder, deps)
        : await backupState(session.options.dir, folder, deps);
      await writeSummary(session, summary, () => backupText(summary, flags.check ? 'Sound:' : 'Backed up to'), dryRun);
    }),
  );
}

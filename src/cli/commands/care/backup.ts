import type { Command } from 'commander';
import type { BackupSummary } from '../../../crawler.ts';
import { dryRunNotice, jsonOf } from '../../program/dry-run.ts';
import type { Run } from '../../program/program.ts';
import { bytes, count } from '../../render/quantities.ts';
import type { Session } from '../../session.ts';

export function addBackup(program: Command, run: Run): void {
  const backup = program
    .command('backup')
    .argument('<folder>', 'new or empty; with --check a backup')
    .description('Copy crawl db, segments and robots.txt files to a folder, with digests. A crawl may run meanwhile.')
    .option('--check', 'hold an existing backup against its own digests instead')
    .option('--dry-run', 'only say how much would be copied; nothing is written')
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl backup /backups/crawl-2026-11\n  incrawl backup --check /backups/crawl-2026-11',
    );
  backup.action((folder: string, flags: { readonly check?: true; readonly dryRun?: boolean }) =>
    run(backup, async (session) => {
      const { backupState, checkBackup } = await import('../../../crawler.ts');
      const { dryRun = false } = flags;
      const deps = { log: await session.log(), dryRun };
      const summary = flags.check
        ? await checkBackup(folder, deps)
        : await backupState(session.options.dir, folder, deps);
      await tell(session, summary, flags.check ? 'Whole:' : 'Backed up to', dryRun);
    }),
  );
}

export function addRestore(program: Command, run: Run): void {
  const restore = program
    .command('restore')
    .argument('<folder>', 'a backup')
    .description(
      'Make the state directory of a backup again. It must be new or empty, and appears only when everything is there.',
    )
    .option('--dry-run', 'hold the backup against its digests, and only say what would come back; nothing is written')
    .addHelpText('after', '\nExamples:\n  incrawl restore /backups/crawl-2026-11 --dir crawldb-restored');
  restore.action((folder: string, { dryRun = false }: { readonly dryRun?: boolean }) =>
    run(restore, async (session) => {
      const { restoreState } = await import('../../../crawler.ts');
      const summary = await restoreState(folder, session.options.dir, { log: await session.log(), dryRun });
      await tell(session, summary, 'Restored to', dryRun);
    }),
  );
}

async function tell(session: Session, summary: BackupSummary, done: string, dryRun: boolean): Promise<void> {
  const { dir, rows, files, bytes: size, createdAt } = summary;
  await session.out.write(
    session.json
      ? `${jsonOf(summary, dryRun)}\n`
      : `${dryRunNotice(dryRun)}${done} ${dir}: ${count(rows)} rows of the crawl db, ${count(files)} files with ${bytes(size)}, as of ${createdAt}.\n`,
  );
}

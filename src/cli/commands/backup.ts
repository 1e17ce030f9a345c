import type { Command } from 'commander';
import type { BackupSummary } from '../../crawler.ts';
import type { Run } from '../program.ts';
import { bytes, count } from '../render/quantities.ts';
import type { Session } from '../session.ts';

export function addBackup(program: Command, run: Run): void {
  const backup = program
    .command('backup')
    .argument('<folder>', 'new or empty; with --check a backup')
    .description('Copy crawl db, segments and robots.txt files to a folder, with digests. No crawl may run meanwhile.')
    .option('--check', 'hold an existing backup against its own digests instead')
    .addHelpText(
      'after',
      '\nExamples:\n  incrawl backup /backups/crawl-2026-11\n  incrawl backup --check /backups/crawl-2026-11',
    );
  backup.action((folder: string, flags: { readonly check?: true }) =>
    run(backup, async (session) => {
      const { backupState, checkBackup } = await import('../../crawler.ts');
      const room = { log: await session.log() };
      const summary = flags.check
        ? await checkBackup(folder, room)
        : await backupState(session.options.dir, folder, room);
      await tell(session, summary, flags.check ? 'Whole' : 'Backed up to');
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
    .addHelpText('after', '\nExamples:\n  incrawl restore /backups/crawl-2026-11 --dir crawldb-restored');
  restore.action((folder: string) =>
    run(restore, async (session) => {
      const { restoreState } = await import('../../crawler.ts');
      await tell(session, await restoreState(folder, session.options.dir, { log: await session.log() }), 'Restored to');
    }),
  );
}

async function tell(session: Session, summary: BackupSummary, done: string): Promise<void> {
  const { dir, rows, files, bytes: size, createdAt } = summary;
  await session.out.write(
    session.json
      ? `${JSON.stringify(summary)}\n`
      : `${done} ${dir}: ${count(rows)} rows of the crawl db, ${count(files)} files with ${bytes(size)}, as of ${createdAt}.\n`,
  );
}

import { constants, copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../../domain/errors.ts';

/** Attempts while the holder of the db makes and removes files. */
const TRIES = 100;

/** Tables are written once. The other files of a db grow. */
export const TABLE = /^\d+\.(?:ldb|sst)$/;
const GROWING = /^(?:\d+\.log|MANIFEST-\d+|CURRENT)$/;

/**
 * Copies the db in `from` as it is at this moment into `to`, a LevelDB of its own. Nothing of the original is opened
 * for writing, not even its lock. Another process may hold it and write meanwhile: all acknowledged writes are in the
 * copy.
 *
 * Files only grow, and each step of LevelDB that depends on several files makes or removes one. So a copy during which
 * the names stayed the same is one that a crash at this moment would have left, which LevelDB opens
 * (https://github.com/google/leveldb/blob/main/doc/impl.md).
 *
 * LevelDB takes numbers for new tables from the newest log on, and a table that was just made may not be in the
 * manifest yet: such tables are copied, not shared, since the copy could overwrite them.
 *
 * Throws `db-locked` when the names never stay the same for long enough.
 * @param share makes a second name for a file that is never written again
 */
export function snapshotDb(from: string, to: string, share: (from: string, to: string) => void): void {
  for (let tries = 1; tries <= TRIES; tries++) {
    rmSync(to, { recursive: true, force: true });
    mkdirSync(to, { recursive: true });
    const before = filesOf(from);
    if (copyFiles(before, from, to, share) && before.join() === filesOf(from).join()) return;
  }
  throw new CrawlError('db-locked', `the crawl db ${from} is being written too fast to be copied; try again`);
}

/** Logs first: rows that leave a log meanwhile are in tables, which a manifest that is read later names. */
function filesOf(dir: string): string[] {
  const names = readdirSync(dir).filter((name) => TABLE.test(name) || GROWING.test(name));
  const order = (name: string): number => (name.endsWith('.log') ? 0 : TABLE.test(name) ? 2 : 1);
  return names.sort((a, b) => order(a) - order(b) || (a < b ? -1 : 1));
}

function copyFiles(
  names: readonly string[],
  from: string,
  to: string,
  share: (from: string, to: string) => void,
): boolean {
  const newestLog = Math.max(
    0,
    ...names.filter((name) => name.endsWith('.log')).map((name) => Number.parseInt(name, 10)),
  );
  const isFixed = (name: string): boolean => TABLE.test(name) && Number.parseInt(name, 10) < newestLog;
  try {
    for (const name of names) {
      if (isFixed(name)) share(join(from, name), join(to, name));
      else copyFileSync(join(from, name), join(to, name), constants.COPYFILE_FICLONE);
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

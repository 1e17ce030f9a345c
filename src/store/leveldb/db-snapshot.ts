import { createHash } from 'node:crypto';
import { constants, copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Level } from 'level';
import { CrawlError } from '../../core/domain/errors.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import { type Rows, readRange } from '../rows/rows.ts';
import { crawlDbError } from './holder.ts';

interface CopiedRows {
  readonly rows: number;
  /** SHA-256 over all keys and values in key order, 64 hex digits. */
  readonly sha256: string;
}

/**
 * Copies all rows as of now into a new LevelDB folder, through the reader: unreadable rows fail here, not when the copy
 * is restored.
 */
export async function copyRows(rows: Rows, to: string, onWork?: OnWork): Promise<CopiedRows> {
  const copy = new Level<string, Buffer>(to, { keyEncoding: 'utf8', valueEncoding: 'buffer' });
  try {
    await copy.open({ errorIfExists: true });
    const copied = onWork && ((done: number) => onWork({ work: 'copying rows of the crawl db', done, total: null }));
    return await digested(rows, copied, async (batch) => {
      await copy.batch(batch.map(([key, value]) => ({ type: 'put', key, value })));
    });
  } catch (error) {
    throw crawlDbError(error);
  } finally {
    await copy.close();
  }
}

/** The digest of a copy, to be compared with that of the original. */
export function digestRows(rows: Rows, onWork?: OnWork): Promise<CopiedRows> {
  const read = onWork && ((done: number) => onWork({ work: 'checking rows of the crawl db', done, total: null }));
  return digested(rows, read, async () => {});
}

async function digested(
  rows: Rows,
  onRows: ((done: number) => void) | undefined,
  each: (batch: [string, Buffer][]) => Promise<void>,
): Promise<CopiedRows> {
  const hash = createHash('sha256');
  const lengths = Buffer.alloc(8);
  let count = 0;
  for await (const batch of readRange(rows, { from: '', to: '\u{10ffff}' })) {
    await each(batch);
    count += batch.length;
    onRows?.(count);
    for (const [key, value] of batch) {
      // Lengths first: otherwise a byte could move from a key to its value without changing the digest.
      lengths.writeUInt32LE(Buffer.byteLength(key), 0);
      lengths.writeUInt32LE(value.length, 4);
      hash.update(lengths).update(key).update(value);
    }
  }
  return { rows: count, sha256: hash.digest('hex') };
}

/** Number of attempts while the holder of the db creates and removes files. */
const TRIES = 100;

/** Tables are written once. The other files of a db grow. */
export const TABLE = /^\d+\.(?:ldb|sst)$/;
const GROWING = /^(?:\d+\.log|MANIFEST-\d+|CURRENT)$/;

/**
 * Copies the db in `from`, as it is at this moment, into `to`, a LevelDB of its own. Nothing of the original is opened
 * for writing, not even its lock. Another process may hold it and write meanwhile: all acknowledged writes are in the
 * copy.
 *
 * Files only grow, and each step of LevelDB that involves several files creates or removes one. So if the names stayed
 * the same during the copy, it is a state that a crash at this moment would have left, and LevelDB opens such states
 * (https://github.com/google/leveldb/blob/main/doc/impl.md).
 *
 * LevelDB numbers new tables from the newest log on, and a table that was just made may not be in the manifest yet.
 * Such tables are copied, not shared, because the copy could overwrite them.
 *
 * Throws `db-locked` if the names never stay the same for long enough.
 * @param share gives a second name to a file that is never written again
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

/** Logs first: rows that leave a log meanwhile are in tables, which the manifest names because it is read later. */
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

import { createHash } from 'node:crypto';
import { Level } from 'level';
import type { OnWork } from '../../ports/work-progress.ts';
import type { Rows } from '../rows/rows.ts';
import { readRange } from '../rows/rows.ts';
import { crawlDbError } from './level-errors.ts';

export interface CopiedRows {
  readonly rows: number;
  /** SHA-256 over all keys and values in key order, 64 hex digits. */
  readonly sha256: string;
}

/**
 * Copies all rows as of now into a new LevelDB folder, through the reader: unreadable rows fail here, not at the
 * restore.
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
      // Lengths first: otherwise a byte could move from a key to its value unnoticed.
      lengths.writeUInt32LE(Buffer.byteLength(key), 0);
      lengths.writeUInt32LE(value.length, 4);
      hash.update(lengths).update(key).update(value);
    }
  }
  return { rows: count, sha256: hash.digest('hex') };
}

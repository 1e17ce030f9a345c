// core/adapters/rows/: the crawl db over ordered rows, whatever stores them.

import { CrawlError } from '../../domain/errors.ts';
import type { Log } from '../../ports/log.ts';
import { isFinding, storedRecord } from './care/stored-record.ts';
import { FORMAT_VERSION_FACT, ROW, rowRange } from './codecs/keys.ts';
import { type Rows, readRange } from './rows.ts';

/**
 * Version of the layout of all rows. A change that older versions cannot read raises it. 2: new URLs have a due index
 * of their own. 3: digests of new URLs are written with their records, which older versions would leave out. 4: so are
 * the rows of further indexes, counts, and the tables of signatures. 5: due rows hold the time of the last failed
 * visit, and the interval that an operator has fixed. 6: visits a day that the intervals require are counted.
 * 7: so are records by score. 8: records hold what a page states, which older versions would drop. 9: and the
 * signature by which visits are compared, and elements at a place. 10: and why the stored copy is not the whole page.
 * 11: families of like URLs are counted by host, and links from and to other partitions have rows.
 * 12: records hold what a rendered copy was made from, and hosts what rendering has shown. 13: beliefs about changes
 * are of another kind, hosts have clocks, and pages an index by group. 14: records hold a digest of the text by which
 * visits are compared, and a sketch of that by which pages are likened. 15: records hold what has
 * set the next visit.
 */
export const DB_FORMAT_VERSION = 15;

const FORMAT_KEY = ROW.meta + FORMAT_VERSION_FACT;

/** Reason why rows are not touched; follows the name of the db. */
export const FOREIGN = 'holds a LevelDB that is not a crawl db; "incrawl repair" leaves it as it is';

/** Rows of an inbox may be there before the crawl db: others put them without opening it. */
async function hasAny(rows: Rows): Promise<boolean> {
  const { from, to } = rowRange(ROW.inbox);
  for (const range of [{ lt: from }, { gte: to }]) {
    if ((await rows.keys({ ...range, limit: 1 }).all()).length > 0) return true;
  }
  return false;
}

export const hasFormat = async (rows: Rows): Promise<boolean> => (await rows.hasMany([FORMAT_KEY]))[0] === true;

/** Whether there are rows, but neither the format row, which a damaged crawl db may have lost, nor any record. */
export async function isForeign(rows: Rows): Promise<boolean> {
  if ((await hasFormat(rows)) || !(await hasAny(rows))) return false;
  for await (const batch of readRange(rows, rowRange(ROW.record))) {
    if (batch.some(([key, bytes]) => !isFinding(storedRecord(key, bytes)))) return false;
  }
  return true;
}

/**
 * The version that the db was written with; an empty db gets the current one. Rejects with `CrawlError`: `db-corrupt`
 * (no version, or none that there ever was), `db-version` (written by a newer incrawl).
 * @param name of the db, for messages
 */
export async function checkFormat(rows: Rows, name: string): Promise<number> {
  const [stored] = await rows.getMany([FORMAT_KEY]);
  if (stored === undefined) {
    if (await isForeign(rows)) throw new CrawlError('db-corrupt', `${name} ${FOREIGN}`);
    if (await hasAny(rows)) {
      throw new CrawlError('db-corrupt', `the crawl db ${name} is damaged: the row with its format version is missing`);
    }
    await writeFormat(rows);
    return DB_FORMAT_VERSION;
  }
  const version = Number(stored.toString());
  if (!Number.isInteger(version) || version < 1) {
    throw new CrawlError('db-corrupt', `the crawl db ${name} has the format version "${stored.toString()}"`);
  }
  if (version > DB_FORMAT_VERSION) {
    throw new CrawlError(
      'db-version',
      `the crawl db ${name} has format ${version}; this incrawl reads formats up to ${DB_FORMAT_VERSION}, ` +
        'a newer one is needed',
    );
  }
  return version;
}

/** Brings an older db up to date. A run that is killed half way is repeated at the next start. */
export async function migrate(rows: Rows, version: number, log: Log): Promise<void> {
  if (version === DB_FORMAT_VERSION) return;
  log.warn('the crawl db is being migrated to a new format', { from: version, to: DB_FORMAT_VERSION });
  if (version < 13) await (await import('./indexes/rebuild-due-index.ts')).rebuildDueIndex(rows);
  if (version < 13) await (await import('./indexes/rebuild-indexes.ts')).rebuildIndexes(rows);
  await writeFormat(rows);
}

export function writeFormat(rows: Rows): Promise<void> {
  return rows.put(FORMAT_KEY, Buffer.from(String(DB_FORMAT_VERSION)), { sync: true });
}

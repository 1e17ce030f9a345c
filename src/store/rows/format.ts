// store/rows/: the crawl db over ordered rows, whatever stores them.

import { CrawlError, unknownVersion } from '../../core/domain/errors.ts';
import type { Log } from '../../core/ports/log.ts';
import { isFinding, storedRecord } from './care/stored-record.ts';
import { COUNTERS_KEY, FORMAT_VERSION_FACT, ROW, rowRange } from './codecs/keys.ts';
import { existMany, type RowSink, type Rows, readRange } from './rows.ts';

/** Brings rows of one format to the next. A step that is cut short is run again from its beginning. */
export type FormatStep = (rows: Rows) => Promise<void>;

/**
 * The first step brings format 1 to format 2, and so on. A change of rows that earlier versions would misread adds a
 * step, even an empty one.
 */
const STEPS: readonly FormatStep[] = [];

/** Version of the layout of all rows. */
export const DB_FORMAT_VERSION = 1 + STEPS.length;

const FORMAT_KEY = ROW.meta + FORMAT_VERSION_FACT;

/** Reason why rows are not touched; follows the name of the db. */
export const FOREIGN = 'holds a LevelDB that is not a crawl db; "incrawl state repair" leaves it as it is';

/** Rows of an inbox may exist before the crawl db does: other processes put them there without opening it. */
async function hasAny(rows: Rows): Promise<boolean> {
  const { from, to } = rowRange(ROW.inbox);
  for (const range of [{ lt: from }, { gte: to }]) {
    if ((await rows.keys({ ...range, limit: 1 }).all()).length > 0) return true;
  }
  return false;
}

export const hasFormat = async (rows: Rows): Promise<boolean> => (await rows.hasMany([FORMAT_KEY]))[0] === true;

/** Whether there are rows, but neither a record nor the format row, which a damaged crawl db may have lost. */
export async function isForeign(rows: Rows): Promise<boolean> {
  if ((await hasFormat(rows)) || !(await hasAny(rows))) return false;
  for await (const batch of readRange(rows, rowRange(ROW.record))) {
    if (batch.some(([key, bytes]) => !isFinding(storedRecord(key, bytes)))) return false;
  }
  return true;
}

/**
 * The version that the db was written with; an empty db gets the current one. Rejects with `CrawlError`: `db-corrupt`
 * (no version, or one that never existed), `db-version` (one that this incrawl does not know). Existing rows are not
 * changed.
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
    const found = `the crawl db ${name} has the format "${stored.toString()}"`;
    throw new CrawlError('db-corrupt', `${found}, where a number from 1 on was expected; nothing was changed`);
  }
  if (version > DB_FORMAT_VERSION) throw unknownVersion(`the crawl db ${name} has format`, version, DB_FORMAT_VERSION);
  return version;
}

/**
 * Brings an older db up to date, step by step. After a kill the next start continues with the step that was not
 * finished.
 */
export async function migrate(rows: Rows, version: number, log: Log, steps = STEPS): Promise<void> {
  for (const [i, step] of steps.entries()) {
    const [from, to] = [i + 1, i + 2];
    if (from < version) continue;
    log.warn('the crawl db is being brought up to date', { from, to });
    await step(rows);
    await writeFormat(rows, to);
  }
}

export function writeFormat(rows: Rows, version = DB_FORMAT_VERSION): Promise<void> {
  return rows.put(FORMAT_KEY, Buffer.from(String(version)), { sync: true });
}

/** Present while a repair is under way. If the repair crashes, this keeps the db from being opened. */
export const REPAIRING_KEY = `${ROW.meta}repairing`;

/** Whether a repair was begun and not finished. */
export async function isHalfRepaired(rows: Rows): Promise<boolean> {
  return (await existMany(rows, [REPAIRING_KEY]))[0] === true;
}

/** Rejects with `db-corrupt` if a repair was cut short. */
export async function refuseHalfRepaired(rows: Rows, dir: string): Promise<void> {
  if (await isHalfRepaired(rows)) {
    throw new CrawlError('db-corrupt', `the repair of ${dir} was cut short; "incrawl state repair" begins it again`);
  }
}

/** Present while an import is under way: otherwise part of a crawl db would look like a whole one. */
const IMPORTING_KEY = `${ROW.meta}importing`;

export const IMPORT_CUT_SHORT = 'an import was cut short; open the crawl db again, which removes its rows';

export function stageImporting(sink: RowSink, isImporting: boolean): void {
  if (isImporting) sink.put(IMPORTING_KEY, Buffer.from('1'));
  else sink.del(IMPORTING_KEY);
}

/** Whether an import is under way, or was cut short. */
export const isHalfImported = async (rows: Rows): Promise<boolean> =>
  (await existMany(rows, [IMPORTING_KEY]))[0] === true;

/**
 * Empties a crawl db whose import was cut short; the db was empty before. If this is killed half way, the next start
 * repeats it.
 */
export async function undoHalfImport(rows: Rows, name: string, log: Log): Promise<void> {
  if (!(await isHalfImported(rows))) return;
  log.warn('an import was cut short; its rows are removed', { name });
  for (const kind of Object.values(ROW)) {
    if (kind === ROW.meta) continue;
    const { from, to } = rowRange(kind);
    await rows.clear({ gte: from, lt: to });
  }
  await rows.batch(
    [COUNTERS_KEY, IMPORTING_KEY].map((key) => ({ type: 'del', key })),
    { sync: true },
  );
}

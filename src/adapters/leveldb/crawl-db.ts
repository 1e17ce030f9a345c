import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Level } from 'level';
import { CrawlError } from '../../domain/errors.ts';
import type { BloomPlan } from '../../domain/url/bloom/bloom-sizing.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { SharedSeenFilter } from '../../ports/seen-filter.ts';
import { refuseHalfRepaired } from '../rows/care/half-repaired.ts';
import { isFinding, storedRecord } from '../rows/care/stored-record.ts';
import { FORMAT_VERSION_FACT, ROW, rowRange } from '../rows/codecs/keys.ts';
import { type NearPlan, openFingerprintTables } from '../rows/near/fingerprint-tables.ts';
import { type Rows, readRange } from '../rows/rows.ts';
import { LevelCrawlDb } from '../rows/rows-crawl-db.ts';
import { forgetting, LevelSeenFilter } from '../rows/seen/seen-filter.ts';
import { SEEN_TREE_KEY } from '../rows/seen/seen-rows.ts';
import { SHARED_MARK_KEY, SharedFilterKeeper } from '../rows/seen/shared-filter.ts';
import { BatchWriter } from '../rows/writing/batch-writer.ts';
import { takeBackHalfImport } from '../rows/writing/half-import.ts';
import { TABLE } from './db-snapshot.ts';
import { isHeldBriefly, lockedError, removeHolder, writeHolder } from './holder.ts';
import { crawlDbError, isLocked } from './level-errors.ts';

/**
 * Layout of all rows; a change that older versions cannot read raises it. 2: new URLs have an index of their own. 3:
 * digests of new URLs are written with their records, which older versions would leave out. 4: so are the rows of
 * further indexes, counts, and the tables of signatures. 5: due rows tell when a page was last asked for in vain, and
 * the interval that an operator has fixed.
 */
export const DB_FORMAT_VERSION = 5;

const FORMAT_KEY = ROW.meta + FORMAT_VERSION_FACT;

export interface LevelCrawlDbOptions {
  /**
   * Folder of the LevelDB files, made when missing. `<dir>-holder.json` beside it names the process that holds the db.
   */
  readonly dir: string;
  readonly log: Log;
  /** Tells since when the db is held; default: the system's time. */
  readonly clock?: Clock;
  /** Cache of uncompressed blocks, bytes; default 32 MiB. */
  readonly cacheBytes?: number;
  /** Rows held in memory before they go into a table file, bytes; up to twice as much is in use. Default 4 MiB. */
  readonly writeBufferBytes?: number;
  /** The db is closed again at once: others who find it locked wait for it instead of giving up. */
  readonly isBrief?: boolean;
  /**
   * Keeps a filter of all URLs, as `seenFilter` of the db: one of its own, or one that lives elsewhere; default: none.
   */
  readonly seenFilter?: BloomPlan | SharedSeenFilter;
  /** Keeps tables of the signatures, as `fingerprints` of the db; default: none. */
  readonly near?: NearPlan;
}

/**
 * Opens or creates a crawl db on LevelDB. Rejects with `CrawlError`: `db-locked` (another process has it; the message
 * names it), `db-version` (written by a newer incrawl), `db-corrupt` (damaged, or some other LevelDB), `disk-full`.
 */
export async function openLevelCrawlDb(options: LevelCrawlDbOptions): Promise<LevelCrawlDb> {
  const { dir } = options;
  const rows = await openRows(options);
  return openCrawlDbOn(rows, {
    ...options,
    name: dir,
    onOpen: () => tellHolder(options),
    onClose: () => removeHolder(dir),
  });
}

export interface CrawlDbOnRowsOptions extends Pick<LevelCrawlDbOptions, 'log' | 'seenFilter' | 'near'> {
  /** What messages call the db. */
  readonly name: string;
  /** For reading, while another process may write. */
  readonly isLooking?: boolean;
  readonly onOpen?: () => Promise<void>;
  /** While the rows can still be written. */
  readonly onClose?: () => Promise<void>;
}

/**
 * A crawl db on rows that nobody else writes as long as it is open. It closes them, at once where it cannot be opened.
 */
export async function openCrawlDbOn(rows: Rows, options: CrawlDbOnRowsOptions): Promise<LevelCrawlDb> {
  const { name, log, onOpen = async () => {}, onClose = async () => {} } = options;
  try {
    await refuseHalfRepaired(rows, name);
    await migrate(rows, await checkFormat(rows, name), log);
    if (options.isLooking !== true) await takeBackHalfImport(rows, name, log);
    const writer = await BatchWriter.open(rows);
    await onOpen();
    log.debug('crawl db opened', { name, ...writer.counters() });
    const filter = options.seenFilter === undefined ? null : filterOf(rows, writer, options.seenFilter, log);
    const unused = [];
    if (!(filter instanceof LevelSeenFilter)) unused.push(SEEN_TREE_KEY);
    if (!(filter instanceof SharedFilterKeeper)) unused.push(SHARED_MARK_KEY);
    writer.newUrls = await forgetting(rows, filter, unused);
    const { tables, watcher } = await openFingerprintTables(rows, options.near ?? null, log);
    writer.records = watcher;
    const { isLooking = false } = options;
    return new LevelCrawlDb({
      rows,
      writer,
      beforeUnlock: onClose,
      isLooking,
      seenFilter: filter,
      fingerprints: tables,
    });
  } catch (error) {
    await rows.close();
    throw crawlDbError(error);
  }
}

/**
 * The rows themselves, for who verifies or repairs them; closing them gives the lock back. Rejects as {@link
 * openLevelCrawlDb} does, but not for a repair that was cut short, and with `usage-invalid` for some other LevelDB:
 * there is nothing to put right in it.
 * @param isRebuilt LevelDB has just made the db anew from its tables, and may have lost the row that tells the format.
 *   Records tell their versions themselves, and the rest is made from them.
 */
export function openLevelRows(options: LevelCrawlDbOptions, isRebuilt = false): Promise<Rows> {
  return openedRows(options, async (rows) => {
    if (isRebuilt && !(await rows.hasMany([FORMAT_KEY]))[0]) await writeFormat(rows);
    await migrate(rows, await checkFormat(rows, options.dir), options.log);
  });
}

/** The same as they were written, by this version or an older one. */
export function openStoredRows(options: LevelCrawlDbOptions): Promise<Rows> {
  return openedRows(options, (rows) => checkFormat(rows, options.dir));
}

async function openedRows(options: LevelCrawlDbOptions, prepare: (rows: Rows) => Promise<unknown>): Promise<Rows> {
  const rows = await openRows(options);
  try {
    if (await isForeign(rows)) throw new CrawlError('usage-invalid', `${options.dir} ${FOREIGN}`);
    await prepare(rows);
    await tellHolder(options);
    return rows;
  } catch (error) {
    await rows.close();
    throw crawlDbError(error);
  }
}

function filterOf(
  rows: Rows,
  writer: BatchWriter,
  filter: BloomPlan | SharedSeenFilter,
  log: Log,
): LevelSeenFilter | SharedFilterKeeper {
  const deps = {
    rows,
    log,
    exclusive: <Value>(task: () => Promise<Value>) => writer.exclusive(task),
    urls: () => writer.counters().urls,
  };
  return 'probe' in filter
    ? new SharedFilterKeeper({ ...deps, filter })
    : new LevelSeenFilter({ ...deps, plan: filter });
}

/** Only for the message that others get; a db that cannot say who holds it is as good. */
async function tellHolder({ dir, log, clock, isBrief }: LevelCrawlDbOptions): Promise<void> {
  try {
    await writeHolder(dir, clock?.now() ?? Date.now(), isBrief);
  } catch (error) {
    log.warn('the file that names the holder of the crawl db could not be written', { dir, error: String(error) });
  }
}

/** Tries for a db that is held for a moment only, and the pause between them, ms. */
const BRIEF_TRIES = 20;
const BRIEF_PAUSE_MS = 50;

/**
 * Every read looks into the write buffer, and into each of the up to three files of the first level, which are as
 * large: with 16 MB a read costs a third more, and what writing saves by it is lost in asking.
 */
const WRITE_BUFFER_BYTES = 4 * 1024 * 1024;

async function openRows({ dir, cacheBytes, writeBufferBytes }: LevelCrawlDbOptions): Promise<Rows> {
  refuseWithoutCurrent(dir);
  for (let tries = 1; ; tries++) {
    const rows = new Level<string, Buffer>(dir, {
      keyEncoding: 'utf8',
      valueEncoding: 'buffer',
      cacheSize: cacheBytes ?? 32 * 1024 * 1024,
      writeBufferSize: writeBufferBytes ?? WRITE_BUFFER_BYTES,
    });
    try {
      await rows.open();
      return rows;
    } catch (error) {
      if (!isLocked(error)) throw crawlDbError(error);
      if (tries >= BRIEF_TRIES || !(await isHeldBriefly(dir))) throw await lockedError(dir, error);
      await delay(BRIEF_PAUSE_MS);
    }
  }
}

/**
 * Where the file CURRENT is missing, LevelDB takes the folder for a new db and deletes the tables that lie in it. A db
 * that is just being made has none before it has that file.
 */
function refuseWithoutCurrent(dir: string): void {
  if (!existsSync(dir) || existsSync(join(dir, 'CURRENT')) || !readdirSync(dir).some((name) => TABLE.test(name)))
    return;
  throw new CrawlError('db-corrupt', `the crawl db is damaged: ${dir} has tables, but no file CURRENT`);
}

const FOREIGN = 'holds a LevelDB that is not a crawl db; "incrawl repair" leaves it as it is';

const hasAny = async (rows: Rows): Promise<boolean> => (await rows.keys({ limit: 1 }).all()).length > 0;

/**
 * Whether it holds something, and neither the row that tells the format, which a damaged crawl db may have lost, nor
 * any record.
 */
async function isForeign(rows: Rows): Promise<boolean> {
  if ((await rows.hasMany([FORMAT_KEY]))[0] || !(await hasAny(rows))) return false;
  for await (const batch of readRange(rows, rowRange(ROW.record))) {
    if (batch.some(([key, bytes]) => !isFinding(storedRecord(key, bytes)))) return false;
  }
  return true;
}

/** The version that the db was written with. */
async function checkFormat(rows: Rows, name: string): Promise<number> {
  const [stored] = await rows.getMany([FORMAT_KEY]);
  if (stored === undefined) {
    if (await isForeign(rows)) throw new CrawlError('db-corrupt', `${name} ${FOREIGN}`);
    if (await hasAny(rows)) {
      throw new CrawlError('db-corrupt', `the crawl db ${name} is damaged: the row that tells its format is missing`);
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
      `the crawl db ${name} has format ${version}; this incrawl reads formats up to ${DB_FORMAT_VERSION}, a newer one is needed`,
    );
  }
  return version;
}

/** Brings an older db up to date; killed half way, it begins again at the next start. */
async function migrate(rows: Rows, version: number, log: Log): Promise<void> {
  if (version === DB_FORMAT_VERSION) return;
  log.warn('the crawl db is being brought to a new format', { from: version, to: DB_FORMAT_VERSION });
  if (version < 5) await (await import('../rows/indexes/rebuild-due-index.ts')).rebuildDueIndex(rows);
  if (version < 4) await (await import('../rows/indexes/rebuild-indexes.ts')).rebuildIndexes(rows);
  await writeFormat(rows);
}

function writeFormat(rows: Rows): Promise<void> {
  return rows.put(FORMAT_KEY, Buffer.from(String(DB_FORMAT_VERSION)), { sync: true });
}

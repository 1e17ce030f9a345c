import { existsSync, linkSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Level } from 'level';
import { CrawlError } from '../../core/domain/errors.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type {
  OrderedRows,
  RowBatch,
  RowIterator,
  RowQuery,
  RowSnapshot,
  RowWrite,
} from '../../core/ports/ordered-rows.ts';
import { checkFormat, FOREIGN, hasFormat, isForeign, migrate, writeFormat } from '../rows/format.ts';
import { type CrawlDbFeatures, openCrawlDbOn } from '../rows/open-crawl-db.ts';
import type { Rows } from '../rows/rows.ts';
import type { RowsCrawlDb } from '../rows/rows-crawl-db.ts';
import { TABLE } from './db-snapshot.ts';
import { crawlDbError, isHeldBriefly, isLocked, lockedError, removeHolder, writeHolder } from './holder.ts';

const LOG_FILE = /^\d+\.log$/;
const KEPT = /^\d+\.log\.kept-\d+$/;
/** LevelDB notes this when it continues without all or part of a write-ahead log because of an error of the system. */
const PASSED_OVER = /Ignoring error (?!Corruption).*|dropping \d+ bytes; (?!Corruption).*/;

/**
 * Second names for the write-ahead logs of a db that is about to be opened. If a log cannot be opened or read (too few
 * descriptors, a failing disk), LevelDB passes over it, notes that only in its own file `LOG`, and removes the log once
 * it is open. What was acknowledged and not yet in a table would be lost. Torn ends of logs are rightly passed over.
 */
interface KeptLogs {
  /** What LevelDB passed over at the opening that has just ended, or null. */
  passedOver(): string | null;
  /**
   * Gives the logs to the next opening. To be called while the db is still locked, and before anything is written:
   * LevelDB takes the entry of the newer file for the newer entry.
   */
  putBack(): void;
  /** For a db that is now open. Also removes names left by processes that ended at this point. */
  remove(): void;
  /** For a db that could not be opened, so LevelDB has removed nothing. */
  discard(): void;
}

function keepLogs(dir: string): KeptLogs {
  const kept: string[] = [];
  for (const name of namesIn(dir)
    .filter((each) => LOG_FILE.test(each))
    .sort(byNumber)) {
    const link = `${name}.kept-${process.pid}`;
    try {
      rmSync(join(dir, link), { force: true });
      if (statSync(join(dir, name), { throwIfNoEntry: false })?.size === 0) continue;
      linkSync(join(dir, name), join(dir, link));
      kept.push(link);
    } catch {
      // The holder of the db has removed it, or the file system has no hard links: then only the error remains.
    }
  }
  return {
    passedOver() {
      return PASSED_OVER.exec(readText(join(dir, 'LOG')))?.[0] ?? null;
    },
    putBack() {
      // All of them, in their order: content may be in two files, and newer entries have to be in newer files.
      let number = Math.max(...readdirSync(dir).map(numberIn));
      for (const link of kept) {
        number += 1;
        renameSync(join(dir, link), join(dir, `${String(number).padStart(6, '0')}.log`));
      }
    },
    remove() {
      for (const name of namesIn(dir)) if (KEPT.test(name)) rmSync(join(dir, name), { force: true });
    },
    discard() {
      for (const link of kept) rmSync(join(dir, link), { force: true });
    },
  };
}

/** Names in a folder; none if the folder does not exist. */
function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function numberIn(name: string): number {
  return Number(/^(?:MANIFEST-)?(\d+)/.exec(name)?.[1] ?? 0);
}

function byNumber(a: string, b: string): number {
  return numberIn(a) - numberIn(b);
}

/** The rows of an open LevelDB. Its errors come as `CrawlError`; see {@link crawlDbError}. */
export class LevelRows implements OrderedRows {
  /** Has the type of the port: the snapshots passed to it are its own. */
  readonly #db: OrderedRows;

  constructor(db: Level<string, Buffer>) {
    this.#db = db;
  }

  get(key: string): Promise<Buffer | undefined> {
    return mapped(() => this.#db.get(key));
  }

  getMany(keys: string[], options: { readonly snapshot?: RowSnapshot } = {}): Promise<(Buffer | undefined)[]> {
    return mapped(() => this.#db.getMany(keys, options));
  }

  hasMany(keys: string[]): Promise<boolean[]> {
    return mapped(() => this.#db.hasMany(keys));
  }

  put(key: string, value: Buffer, options: { readonly sync?: boolean } = {}): Promise<void> {
    return mapped(() => this.#db.put(key, value, options));
  }

  del(key: string): Promise<void> {
    return mapped(() => this.#db.del(key));
  }

  batch(): RowBatch;
  batch(writes: RowWrite[], options?: { readonly sync?: boolean }): Promise<void>;
  batch(writes?: RowWrite[], options: { readonly sync?: boolean } = {}): RowBatch | Promise<void> {
    if (writes !== undefined) return mapped(() => this.#db.batch(writes, options));
    const native = opened(() => this.#db.batch());
    return {
      put: (key, value) => native.put(key, value),
      del: (key) => native.del(key),
      write: (settings) => mapped(() => native.write(settings)),
      close: () => native.close(),
    };
  }

  clear(range: { readonly gte: string; readonly lt: string }): Promise<void> {
    return mapped(() => this.#db.clear(range));
  }

  iterator(range: RowQuery): RowIterator<[string, Buffer]> {
    return iterating(opened(() => this.#db.iterator(range)));
  }

  keys(range: RowQuery): RowIterator<string> {
    return iterating(opened(() => this.#db.keys(range)));
  }

  snapshot(): RowSnapshot {
    return opened(() => this.#db.snapshot());
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}

function iterating<Row>(native: RowIterator<Row>): RowIterator<Row> {
  return {
    nextv: (size) => mapped(() => native.nextv(size)),
    all: () => mapped(() => native.all()),
    seek: (key) => native.seek(key),
    close: () => native.close(),
  };
}

/** A closed LevelDB throws at once instead of rejecting. */
function opened<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw crawlDbError(error);
  }
}

async function mapped<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw crawlDbError(error);
  }
}

export interface LevelCrawlDbOptions extends CrawlDbFeatures {
  /**
   * Folder of the LevelDB files, created if missing. `<dir>-holder.json` beside it names the process that holds the db.
   */
  readonly dir: string;
  /** Tells since when the db is held; default: the system's clock. */
  readonly clock?: Clock;
  /** Cache of uncompressed blocks, bytes; default 16 MiB. */
  readonly cacheBytes?: number;
  /** The db will be closed again in a moment: other processes that find it locked wait instead of failing. */
  readonly isBrief?: boolean;
}

/**
 * The rows themselves, for verification or repair; closing them releases the lock. Rejects as `openLevelCrawlDb` does,
 * except for a repair that was cut short. Rejects with `usage-invalid` for a LevelDB that is not a crawl db: there is
 * nothing to repair in it.
 * @param isRebuilt LevelDB has just rebuilt the db from its tables, and may have lost the format row. Records hold
 * their versions themselves, and the rest is made from them.
 */
export function openLevelRows(options: LevelCrawlDbOptions, isRebuilt = false): Promise<Rows> {
  return openChecked(options, async (rows) => {
    if (isRebuilt && !(await hasFormat(rows))) await writeFormat(rows);
    await migrate(rows, await checkFormat(rows, options.dir), options.log);
  });
}

/** As {@link openLevelRows}, but in the stored format, which may be an earlier one. */
export function openStoredRows(options: LevelCrawlDbOptions): Promise<Rows> {
  return openChecked(options, (rows) => checkFormat(rows, options.dir));
}

async function openChecked(options: LevelCrawlDbOptions, prepare: (rows: Rows) => Promise<unknown>): Promise<Rows> {
  const rows = await openUnchecked(options);
  try {
    if (await isForeign(rows)) throw new CrawlError('usage-invalid', `${options.dir} ${FOREIGN}`);
    await prepare(rows);
    await noteHolder(options);
    return rows;
  } catch (error) {
    await rows.close();
    throw crawlDbError(error);
  }
}

/** Only for a message that other processes print, so a failure is logged and does not keep the db from opening. */
async function noteHolder({ dir, log, clock, isBrief }: LevelCrawlDbOptions): Promise<void> {
  try {
    await writeHolder(dir, clock?.now() ?? Date.now(), isBrief);
  } catch (error) {
    log.warn('the file that names the holder of the crawl db could not be written', { dir, error: String(error) });
  }
}

/** Number of attempts to read the write-ahead logs. */
const LOG_READINGS = 3;
/** Number of attempts on a db that is held only for a moment, and the pause between them, ms. */
const BRIEF_TRIES = 20;
const BRIEF_PAUSE_MS = 50;

/**
 * Every read looks into the write buffer, and into each of up to three files of the first level, which have the same
 * size. With 16 MB a read costs a third more than with 4 MB, which is more than what writes gain.
 */
const WRITE_BUFFER_BYTES = 4 * 1024 * 1024;

/** With more, a crawl of 100,000 pages took no less CPU: a table that is mapped is read at once. */
const CACHE_BYTES = 16 * 1024 * 1024;

/** The default of LevelDB. */
const TABLE_BYTES = 2 * 1024 * 1024;
const MOST_TABLES = 1_000;
const LEAST_TABLES = 64;
/** Share of the memory that tables may be mapped into. */
const MAPPED_SHARE = 1 / 8;

/**
 * Tables that are open, and mapped, at a time where a process may use this much memory, bytes. The system takes mapped
 * pages back when other programs need them, but a container that counts them may be killed first. A read at random in
 * a large db costs 58 us with 64 tables, and 35 with a thousand.
 */
export const openTables = (memoryBytes: number): number =>
  Math.min(MOST_TABLES, Math.max(LEAST_TABLES, Math.floor((memoryBytes * MAPPED_SHARE) / TABLE_BYTES)));

/** The limit of the container where there is one. */
function memoryOfProcess(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/**
 * Opens the LevelDB, which takes the lock. The rows are not checked. Blocks have LevelDB's default size, 4 KiB: those
 * of 16 KiB take a quarter less disk space, but a sixth more CPU per read and 30 MB more memory.
 */
async function openUnchecked({ dir, cacheBytes }: LevelCrawlDbOptions): Promise<Rows> {
  refuseWithoutCurrent(dir);
  let readings = 0;
  for (let tries = 1; ; tries++) {
    const logs = keepLogs(dir);
    const db = new Level<string, Buffer>(dir, {
      keyEncoding: 'utf8',
      valueEncoding: 'buffer',
      cacheSize: cacheBytes ?? CACHE_BYTES,
      writeBufferSize: WRITE_BUFFER_BYTES,
      maxFileSize: TABLE_BYTES,
      maxOpenFiles: openTables(memoryOfProcess()),
    });
    try {
      await db.open();
    } catch (error) {
      logs.discard();
      if (!isLocked(error)) throw crawlDbError(error);
      if (tries >= BRIEF_TRIES || !(await isHeldBriefly(dir))) throw await lockedError(dir, error);
      await delay(BRIEF_PAUSE_MS);
      continue;
    }
    const passedOver = logs.passedOver();
    if (passedOver === null) {
      logs.remove();
      return new LevelRows(db);
    }
    try {
      logs.putBack();
    } finally {
      await db.close();
    }
    if (++readings >= LOG_READINGS) {
      throw crawlDbError(new Error(`a write-ahead log of ${dir} could not be read (${passedOver})`));
    }
  }
}

/**
 * If the file CURRENT is missing, LevelDB takes the folder for a new db and deletes the tables in it. A db that is just
 * being created has no table before it has that file.
 */
function refuseWithoutCurrent(dir: string): void {
  if (!existsSync(dir) || existsSync(join(dir, 'CURRENT')) || !readdirSync(dir).some((name) => TABLE.test(name)))
    return;
  throw new CrawlError('db-corrupt', `the crawl db is damaged: ${dir} has tables, but no file CURRENT`);
}

/**
 * Opens or creates a crawl db on LevelDB. Rejects with `CrawlError`: `db-locked` (another process has it; the message
 * names it), `db-version` (an unknown format), `db-corrupt` (damaged, or a LevelDB that is not a crawl db),
 * `disk-full`.
 */
export async function openLevelCrawlDb(options: LevelCrawlDbOptions): Promise<RowsCrawlDb> {
  const { dir } = options;
  const rows = await openUnchecked(options);
  return openCrawlDbOn(rows, {
    ...options,
    name: dir,
    onOpen: () => noteHolder(options),
    onClose: () => removeHolder(dir),
  });
}

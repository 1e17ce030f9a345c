import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Level } from 'level';
import { CrawlError } from '../../domain/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import { checkFormat, FOREIGN, hasFormat, isForeign, migrate, writeFormat } from '../rows/format.ts';
import type { CrawlDbFeatures } from '../rows/open-crawl-db.ts';
import type { Rows } from '../rows/rows.ts';
import { TABLE } from './db-snapshot.ts';
import { isHeldBriefly, lockedError, writeHolder } from './holder.ts';
import { keepLogs } from './kept-logs.ts';
import { crawlDbError, isLocked } from './level-errors.ts';
import { LevelRows } from './level-rows.ts';

export interface LevelCrawlDbOptions extends CrawlDbFeatures {
  /**
   * Folder of the LevelDB files, made when missing. `<dir>-holder.json` beside it names the process that holds the db.
   */
  readonly dir: string;
  /** Time since when the db is held; default: the system's. */
  readonly clock?: Clock;
  /** Cache of uncompressed blocks, bytes; default 32 MiB. */
  readonly cacheBytes?: number;
  /** Rows held in memory before they go into a table file, bytes; up to twice as much is in use. Default 4 MiB. */
  readonly writeBufferBytes?: number;
  /** The db is closed again in a moment: other processes that find it locked wait instead of failing. */
  readonly isBrief?: boolean;
}

/**
 * The rows themselves, to verify or repair them; closing them releases the lock. Rejects as `openLevelCrawlDb` does,
 * but not for a repair that was cut short, and with `usage-invalid` for some other LevelDB: there is nothing to repair
 * in it.
 * @param isRebuilt LevelDB has just rebuilt the db from its tables, and may have lost the format row. Records hold
 *   their versions themselves, and the rest is made from them.
 */
export function openLevelRows(options: LevelCrawlDbOptions, isRebuilt = false): Promise<Rows> {
  return openChecked(options, async (rows) => {
    if (isRebuilt && !(await hasFormat(rows))) await writeFormat(rows);
    await migrate(rows, await checkFormat(rows, options.dir), options.log);
  });
}

/** As {@link openLevelRows}, but in the format in which they are stored, which may be an older one. */
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

/** Only for the message that other processes print, so a failure is logged and the db is opened all the same. */
export async function noteHolder({ dir, log, clock, isBrief }: LevelCrawlDbOptions): Promise<void> {
  try {
    await writeHolder(dir, clock?.now() ?? Date.now(), isBrief);
  } catch (error) {
    log.warn('the file that names the holder of the crawl db could not be written', { dir, error: String(error) });
  }
}

/** Attempts to read the write-ahead logs. */
const LOG_READINGS = 3;
/** Attempts on a db that is held for a moment only, and the pause between them, ms. */
const BRIEF_TRIES = 20;
const BRIEF_PAUSE_MS = 50;

/**
 * Every read looks into the write buffer, and into each of the up to three files of the first level, which are as
 * large. With 16 MB a read costs a third more than with 4 MB, which is more than the writes gain.
 */
const WRITE_BUFFER_BYTES = 4 * 1024 * 1024;

/**
 * Opens the LevelDB, which takes the lock. The rows are not checked. Blocks and tables have the sizes of LevelDB, 4 KiB
 * and 2 MiB. Blocks of 16 KiB take a quarter less of the disk, but a sixth more CPU a read and 30 MB more memory. Up to
 * a thousand tables are mapped into memory while they are read: larger ones would map more of the disk.
 */
export async function openUnchecked({ dir, cacheBytes, writeBufferBytes }: LevelCrawlDbOptions): Promise<Rows> {
  refuseWithoutCurrent(dir);
  let readings = 0;
  for (let tries = 1; ; tries++) {
    const logs = keepLogs(dir);
    const db = new Level<string, Buffer>(dir, {
      keyEncoding: 'utf8',
      valueEncoding: 'buffer',
      cacheSize: cacheBytes ?? 32 * 1024 * 1024,
      writeBufferSize: writeBufferBytes ?? WRITE_BUFFER_BYTES,
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
 * Where the file CURRENT is missing, LevelDB takes the folder for a new db and deletes the tables that lie in it. A db
 * that is just being made has no table before it has that file.
 */
function refuseWithoutCurrent(dir: string): void {
  if (!existsSync(dir) || existsSync(join(dir, 'CURRENT')) || !readdirSync(dir).some((name) => TABLE.test(name)))
    return;
  throw new CrawlError('db-corrupt', `the crawl db is damaged: ${dir} has tables, but no file CURRENT`);
}

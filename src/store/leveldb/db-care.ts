// store/leveldb/: a crawl db in LevelDB: opening, lock, snapshot and repair of its files.

import { existsSync } from 'node:fs';
import { appendFile, cp, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { Level } from 'level';
import { CrawlError } from '../../core/domain/errors.ts';
import type { Finding } from '../../core/domain/findings.ts';
import type { Report, RowCounts } from '../../core/ports/crawl-db.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import { retimeEntries } from '../rows/care/feed-care.ts';
import { type RepairedRows, repairRows } from '../rows/care/repair-rows.ts';
import { verifyRows } from '../rows/care/verify-rows.ts';
import { isHalfRepaired } from '../rows/format.ts';
import type { Rows } from '../rows/rows.ts';
import { crawlDbError, removeHolder } from './holder.ts';
import { type LevelCrawlDbOptions, openLevelRows } from './open-rows.ts';

/** On Node `Level` is `ClassicLevel`; its types have only what browsers have too. */
const levelDb = Level as unknown as { repair(location: string): Promise<void> };

/**
 * Verifies the rows of a crawl db. `null`: there is none, or LevelDB cannot read it (which is reported). Writes no more
 * than every opening does. Rejects with `db-locked` and `db-version`.
 */
export async function verifyDb(
  options: LevelCrawlDbOptions,
  report: Report,
  onWork?: OnWork,
): Promise<RowCounts | null> {
  if (!existsSync(options.dir)) return null;
  const rows = await openOrReport(options, report);
  if (rows === null) return null;
  try {
    if (await isHalfRepaired(rows)) {
      report({
        kind: 'repair-unfinished',
        subject: options.dir,
        detail: 'the crawl db will not open before it is done',
      });
    }
    return await verifyRows(rows, report, options.near, onWork);
  } catch (error) {
    report(unreadable(options.dir, error));
    return null;
  } finally {
    await closeRows(rows, options.dir);
  }
}

export interface RepairedDb extends RepairedRows {
  /** LevelDB had to rebuild its own files. */
  readonly rebuilt: boolean;
}

/**
 * Repairs the findings of {@link verifyDb}. Removed rows are kept in `quarantine`; the state of records is never
 * changed.
 */
export async function repairDb(
  options: LevelCrawlDbOptions,
  quarantine: string,
  report: Report,
): Promise<RepairedDb | null> {
  if (!existsSync(options.dir)) return null;
  const first = await openOrReport(options, report);
  if (first !== null) {
    try {
      return { ...(await repairRows(first, keepIn(quarantine), report)), rebuilt: false };
    } catch (error) {
      if (!isDamage(error)) throw error;
      report(unreadable(options.dir, error));
    } finally {
      await closeRows(first, options.dir);
    }
  }
  // LevelDB moves unreadable tables aside; the copy keeps them.
  await cp(options.dir, join(quarantine, 'db'), { recursive: true });
  try {
    await levelDb.repair(options.dir);
  } catch (error) {
    throw crawlDbError(error);
  }
  const rows = await openLevelRows(options, true);
  try {
    return { ...(await repairRows(rows, keepIn(quarantine), report)), rebuilt: true };
  } finally {
    await closeRows(rows, options.dir);
  }
}

/** Changes the times of the entries of the change feed, in their order. */
export async function retimeFeed(options: LevelCrawlDbOptions, timeOf: (at: number) => number): Promise<void> {
  const rows = await openLevelRows(options);
  try {
    await retimeEntries(rows, timeOf);
  } finally {
    await closeRows(rows, options.dir);
  }
}

async function openOrReport(options: LevelCrawlDbOptions, report: Report): Promise<Rows | null> {
  try {
    return await openLevelRows(options);
  } catch (error) {
    if (!isDamage(error)) throw error;
    report({ kind: 'db-unopenable', subject: options.dir, detail: (error as Error).message });
    return null;
  }
}

async function closeRows(rows: Rows, dir: string): Promise<void> {
  await removeHolder(dir);
  await rows.close();
}

function isDamage(error: unknown): boolean {
  const known = crawlDbError(error);
  return known instanceof CrawlError && known.code === 'db-corrupt';
}

function unreadable(dir: string, error: unknown): Finding {
  if (!isDamage(error)) throw error;
  return { kind: 'db-unreadable', subject: dir, detail: crawlDbError(error).message };
}

/** Writes rows as lines of JSON, which are safely on disk before the rows leave the db. */
export function keepIn(folder: string): Parameters<typeof repairRows>[1] {
  return async (rows) => {
    await mkdir(folder, { recursive: true });
    const file = join(folder, 'rows.jsonl');
    const lines = rows.map(
      ({ key, value, why }) => `${JSON.stringify({ key, value: value.toString('base64'), why })}\n`,
    );
    await appendFile(file, lines.join(''));
    const handle = await open(file, 'r+');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  };
}

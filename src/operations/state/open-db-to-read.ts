import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../core/config/schema.ts';
import { CrawlError, type ErrorCode } from '../../core/domain/errors.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { Log } from '../../core/ports/log.ts';
import { openLevelCrawlDb } from '../../store/leveldb/open-rows.ts';
import type { RowsCrawlDb } from '../../store/rows/rows-crawl-db.ts';
import { ofOnePart, type QueryDb } from '../deps.ts';
import { readClusterMark } from './cluster-mark.ts';
import { openOwnDb } from './open-store.ts';
import type { TemporaryState } from './state-copy.ts';
import { requireCrawlDb } from './state-folder.ts';

export interface ReadDbOptions {
  /** State directory, absolute. */
  readonly dir: string;
  readonly log: Log;
  readonly clock: Clock;
  /** Called only for a shared crawl db, or one opened with its indexes. */
  readonly config: () => Promise<Config>;
  /**
   * Also opens the filter and the tables of signatures, and holds the crawl db for longer. Without them it is open only
   * for a moment, and other processes wait for it.
   */
  readonly withIndexes: boolean;
}

/**
 * Opens a crawl db for questions. Rejects with `crawl-missing` if there is none, and with `db-locked` while a crawl
 * holds it.
 */
export async function openDbToRead(options: ReadDbOptions): Promise<QueryDb> {
  const { dir, log } = options;
  const mark = readClusterMark(dir);
  if (mark?.partitions !== undefined) {
    const { openSpreadDb } = await import('../../cluster/partitions/open-spread-db.ts');
    const { withIndexes } = options;
    return openSpreadDb({ config: await options.config(), dir, partitions: mark.partitions, log, withIndexes });
  }
  if (mark !== null) {
    const { openSharedDb } = await import('../../cluster/workers/open-shared-db.ts');
    return ofOnePart(await openSharedDb({ config: await options.config(), dir, log, access: 'look' }), dir);
  }
  requireCrawlDb(dir);
  try {
    return ofOnePart(await openIn(dir, options), dir);
  } catch (error) {
    if (!(error instanceof CrawlError) || !UNWRITTEN.has(error.code)) throw error;
    return openCopy(options, error);
  }
}

async function openIn(dir: string, { log, clock, config, withIndexes }: ReadDbOptions): Promise<RowsCrawlDb> {
  if (withIndexes) return openOwnDb({ config: await config(), dir, log, clock });
  return openLevelCrawlDb({ dir: join(dir, 'db'), log, clock, isBrief: true });
}

/** LevelDB always writes when it opens a db: if it cannot, a copy is read. */
const UNWRITTEN: ReadonlySet<ErrorCode> = new Set(['db-readonly', 'disk-full']);

async function openCopy(options: ReadDbOptions, reason: CrawlError): Promise<QueryDb> {
  const { snapshotState, errorAboutOriginal } = await import('./state-copy.ts');
  const full = (cause: unknown): CrawlError => {
    const how = `TMPDIR names another folder (${tmpdir()} has no space either)`;
    return new CrawlError('disk-full', `${reason.message}; to read it, a copy is made in a temporary folder: ${how}`, {
      cause,
    });
  };
  let snapshot: TemporaryState;
  try {
    snapshot = snapshotState(options.dir);
  } catch (error) {
    throw isFull(error) ? full(error) : error;
  }
  try {
    const db = await openIn(snapshot.dir, options);
    const close = db.close.bind(db);
    return Object.assign(ofOnePart(db, options.dir), { close: () => close().finally(snapshot.close) });
  } catch (error) {
    snapshot.close();
    throw isFull(error) ? full(error) : errorAboutOriginal(options.dir, snapshot, error);
  }
}

const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['disk-full', 'ENOSPC', 'EDQUOT'].includes(String(error.code));

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openLevelCrawlDb } from '../adapters/leveldb/crawl-db.ts';
import type { LevelCrawlDb } from '../adapters/rows/rows-crawl-db.ts';
import { systemClock } from '../adapters/system/clock.ts';
import type { Config } from '../config/schema.ts';
import { CrawlError } from '../domain/errors.ts';
import { readClusterMark } from '../operations/cluster/cluster-mark.ts';
import { dbQuestions } from '../operations/inspect/db-questions.ts';
import type { DbQuestions } from '../operations/questions.ts';
import type { CrawlDb } from '../ports/crawl-db.ts';
import type { Log } from '../ports/log.ts';

/**
 * The crawl db of a state directory, for a question: opened in a moment, without configuration, plugins and segments.
 * Others who come meanwhile wait. Where there is no crawl db, an empty one answers and nothing is made. Rejects with
 * `db-locked` while a crawl holds it.
 */
export async function openDbQuestions(options: {
  /** State directory. */
  readonly dir: string;
  readonly log: Log;
  /** Asked only where the crawl db lies elsewhere. */
  readonly config: () => Promise<Config>;
}): Promise<DbQuestions & { close(): Promise<void> }> {
  const db = await openDbToLook(options);
  return { ...dbQuestions({ db, clock: systemClock, random: Math.random }), close: () => db.close() };
}

/** The same without the questions. */
export async function openDbToLook(options: {
  readonly dir: string;
  readonly log: Log;
  readonly config: () => Promise<Config>;
}): Promise<CrawlDb> {
  const dir = resolve(options.dir);
  if (readClusterMark(dir) !== null) {
    const { openSharedDb } = await import('../operations/cluster/open-shared-db.ts');
    return openSharedDb({ config: await options.config(), dir, log: options.log, access: 'look' });
  }
  if (!existsSync(join(dir, 'db'))) return (await import('../adapters/memory/crawl-db.ts')).createMemoryCrawlDb();
  try {
    return await openBriefly(dir, options.log);
  } catch (error) {
    if (!(error instanceof CrawlError) || error.code !== 'db-readonly') throw error;
    return openCopy(dir, options.log);
  }
}

const openBriefly = (dir: string, log: Log): Promise<LevelCrawlDb> =>
  openLevelCrawlDb({ dir: join(dir, 'db'), log, clock: systemClock, isBrief: true });

/** LevelDB writes whenever it opens a db: where that is not allowed, a copy is looked at. */
async function openCopy(dir: string, log: Log): Promise<CrawlDb> {
  const { snapshotState, errorAboutOriginal } = await import('../operations/state/state-copy.ts');
  const snapshot = snapshotState(dir);
  try {
    const db = await openBriefly(snapshot.dir, log);
    const close = db.close.bind(db);
    return Object.assign(db, { close: () => close().finally(snapshot.close) });
  } catch (error) {
    snapshot.close();
    throw errorAboutOriginal(dir, snapshot, error);
  }
}

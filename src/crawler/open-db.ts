import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openLevelCrawlDb } from '../adapters/leveldb/crawl-db.ts';
import type { Log } from '../ports/log.ts';
import { dbQuestions } from './db-questions.ts';
import type { DbQuestions } from './questions.ts';
import { systemClock } from './system-clock.ts';

/**
 * The crawl db of a state directory, for a question: opened in a moment, without configuration, plugins and segments. Others who come meanwhile
 * wait. Where there is no crawl db, an empty one answers and nothing is made. Rejects with `db-locked` while a crawl holds it.
 */
export async function openDbQuestions(options: {
  /** State directory. */
  readonly dir: string;
  readonly log: Log;
}): Promise<DbQuestions & { close(): Promise<void> }> {
  const dir = join(resolve(options.dir), 'db');
  const db = existsSync(dir)
    ? await openLevelCrawlDb({ dir, log: options.log, clock: systemClock, isBrief: true })
    : (await import('../adapters/memory/crawl-db.ts')).createMemoryCrawlDb();
  return { ...dbQuestions({ db, clock: systemClock, random: Math.random }), close: () => db.close() };
}

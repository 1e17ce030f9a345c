import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { activityStamp } from '../adapters/leveldb/activity.ts';
import { openLevelCrawlDb } from '../adapters/leveldb/crawl-db.ts';
import { NO_FEED } from '../domain/crawl/change-feed.ts';
import { CrawlError } from '../domain/errors.ts';
import type { Log } from '../ports/log.ts';
import { type ChangesQuery, type ChangeView, changeViews, type FeedView, feedView } from './changes.ts';
import { systemClock } from './system-clock.ts';

/** The change feed alone: opened for a look, at the cost of a few rows, and without the rest of the crawl. */
export interface ChangeSource {
  changes(query: ChangesQuery): AsyncIterable<ChangeView>;
  ends(): Promise<FeedView>;
}

export interface ChangeReaderOptions {
  /** State directory. */
  readonly dir: string;
  readonly log: Log;
}

/**
 * Opens the crawl db of a state directory for as long as `use` runs; others who come meanwhile wait. No crawl db yet: a feed without entries.
 * Rejects with `db-locked` while a crawl holds it.
 */
export async function withChanges<Value>(
  { dir, log }: ChangeReaderOptions,
  use: (source: ChangeSource) => Promise<Value>,
): Promise<Value> {
  const folder = dbFolder(dir);
  if (!existsSync(folder)) return use(NOTHING);
  const db = await openLevelCrawlDb({ dir: folder, log, clock: systemClock, isBrief: true });
  try {
    return await use({ changes: (query) => changeViews(db, query), ends: () => feedView(db) });
  } finally {
    await db.close();
  }
}

const dbFolder = (dir: string): string => join(resolve(dir), 'db');

const NOTHING: ChangeSource = {
  async *changes() {},
  ends: async () => ({ first: null, last: NO_FEED.last, notedAt: null }),
};

/** Entries that were read at once. */
export interface ChangeWindow {
  readonly changes: readonly ChangeView[];
  /** All entries up to this number have been looked at. */
  readonly through: number;
  readonly ends: FeedView;
  /** Whether there is more behind `through`. */
  readonly hasMore: boolean;
  /** Equal to a later one: nobody has written since. Taken under the lock, so that no write falls between look and stamp. */
  readonly stamp: string;
}

/** Entries looked at before the crawl db is given back. */
const WINDOW = 10_000;

/** Reads the next entries behind `after`, and gives the crawl db back. */
export function nextChanges(
  options: ChangeReaderOptions,
  query: Omit<ChangesQuery, 'after' | 'through' | 'limit' | 'newest'>,
  after: number,
): Promise<ChangeWindow> {
  return withChanges(options, async (source) => {
    const ends = await source.ends();
    // Numbers that are trimmed or missing must not hold the window up.
    const from = Math.max(after, (ends.first ?? ends.last + 1) - 1);
    const through = Math.max(after, Math.min(from + WINDOW, ends.last));
    const changes: ChangeView[] = [];
    for await (const change of source.changes({ ...query, after, through })) changes.push(change);
    return { changes, through, ends, hasMore: through < ends.last, stamp: await activityStamp(dbFolder(options.dir)) };
  });
}

/**
 * Yields windows for ever, until the signal comes: what is there, then what is added. The crawl db is opened only when somebody has written to
 * it, so that a crawl which starts meanwhile hardly ever meets the reader. While a crawl holds it, nothing comes.
 */
export async function* followChanges(
  options: ChangeReaderOptions,
  query: Omit<ChangesQuery, 'after' | 'through' | 'limit' | 'newest'>,
  start: number,
  { signal, sleep, onLocked }: FollowOptions,
): AsyncGenerator<ChangeWindow> {
  let after = start;
  let read: string | null = null;
  while (!signal.aborted) {
    if (read === null || (await activityStamp(dbFolder(options.dir))) !== read) {
      try {
        const window = await nextChanges(options, query, after);
        read = window.hasMore ? null : window.stamp;
        after = window.through;
        yield window;
        if (window.hasMore) continue;
      } catch (error) {
        if (!isLocked(error)) throw error;
        onLocked((error as Error).message);
      }
    }
    await sleep(signal);
  }
}

export function isLocked(error: unknown): boolean {
  return error instanceof CrawlError && error.code === 'db-locked';
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** The pause between two looks; ends early when the signal comes. */
  readonly sleep: (signal: AbortSignal) => Promise<void>;
  readonly onLocked: (message: string) => void;
}

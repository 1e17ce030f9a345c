// operations/changes/: the change feed: read, followed, delivered.
import { join, resolve } from 'node:path';
import { activityStamp } from '../../adapters/leveldb/activity.ts';
import { CrawlError } from '../../domain/errors.ts';
import type { CrawlReader } from '../questions.ts';
import type { ChangesQuery, ChangeView, FeedView } from './changes.ts';

/** The change feed, asked here or of the process that holds the crawl db. */
export type ChangeSource = Pick<CrawlReader, 'changes' | 'changeFeed'>;

export interface ChangeReaderOptions {
  /** State directory. */
  readonly dir: string;
  /**
   * Gives the feed for as long as `use` runs. Rejects with `db-locked` or `holder-gone` where nobody can be asked at
   * the moment.
   */
  readonly withFeed: <Value>(use: (source: ChangeSource) => Promise<Value>) => Promise<Value>;
}

/** Entries that were read at once. */
export interface ChangeWindow {
  readonly changes: readonly ChangeView[];
  /** All entries up to this number have been looked at. */
  readonly through: number;
  readonly ends: FeedView;
  /** Whether there is more behind `through`. */
  readonly hasMore: boolean;
  /** Equal to a later one: nobody has written since. Taken when the feed was open already and before it was read. */
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
  return options.withFeed(async (source) => {
    const stamp = await activityStamp(join(resolve(options.dir), 'db'));
    const ends = await source.changeFeed();
    // Numbers that are trimmed or missing must not hold the window up.
    const from = Math.max(after, (ends.first ?? ends.last + 1) - 1);
    const through = Math.max(after, Math.min(from + WINDOW, ends.last));
    const changes: ChangeView[] = [];
    for await (const change of source.changes({ ...query, after, through })) changes.push(change);
    return { changes, through, ends, hasMore: through < ends.last, stamp };
  });
}

/**
 * Yields windows for ever, until the signal comes: what is there, then what is added. The crawl db is opened only when
 * somebody has written to it, so that a crawl which starts meanwhile hardly ever meets the reader. A crawl that holds
 * it is asked.
 */
export async function* followChanges(
  options: ChangeReaderOptions,
  query: Omit<ChangesQuery, 'after' | 'through' | 'limit' | 'newest'>,
  start: number,
  { signal, sleep, onUnavailable }: FollowOptions,
): AsyncGenerator<ChangeWindow> {
  let after = start;
  let read: string | null = null;
  while (!signal.aborted) {
    const stamp = await activityStamp(join(resolve(options.dir), 'db'));
    // Without files of its own a crawl db, which may be in Redis, cannot tell whether it was written to.
    if (read === null || stamp === '' || stamp !== read) {
      try {
        const window = await nextChanges(options, query, after);
        read = window.hasMore ? null : window.stamp;
        after = window.through;
        yield window;
        if (window.hasMore) continue;
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        onUnavailable((error as Error).message);
      }
    }
    await sleep(signal);
  }
}

/** Whether it may be better in a moment. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof CrawlError && (error.code === 'db-locked' || error.code === 'holder-gone');
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** The pause between two looks; ends early when the signal comes. */
  readonly sleep: (signal: AbortSignal) => Promise<void>;
  readonly onUnavailable: (message: string) => void;
}

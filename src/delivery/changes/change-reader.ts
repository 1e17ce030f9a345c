// delivery/changes/: the change feed: read, followed, delivered.

import { join, resolve } from 'node:path';
import { type FeedCursor, isBehind, vectorOf } from '../../core/domain/crawl/change/change-feed.ts';
import { CrawlError, type ErrorCode } from '../../core/domain/errors.ts';
import { activityStamp } from '../../store/leveldb/holder.ts';
import { type ChangesFilter, type ChangesQuery, type ChangeView, endOf, type FeedView } from './changes.ts';

/** The change feed, read in this process or through the process that holds the crawl db. */
export interface ChangeSource {
  changes(query: ChangesQuery): AsyncIterable<ChangeView>;
  changeFeed(): Promise<FeedView>;
}

export interface ChangeReaderOptions {
  /** State directory. */
  readonly dir: string;
  /**
   * Provides the feed while `use` runs. Rejects with `db-locked`, `holder-gone` or `crawl-missing` if it cannot be read
   * at the moment.
   */
  readonly withFeed: <Value>(use: (source: ChangeSource) => Promise<Value>) => Promise<Value>;
}

/** Entries of one read. */
export interface ChangeWindow {
  readonly changes: readonly ChangeView[];
  /** The number up to which all entries have been read. */
  readonly through: FeedCursor;
  readonly ends: FeedView;
  /** Whether there are entries after `through`. */
  readonly hasMore: boolean;
  /** Activity stamp of the crawl db, taken before the read: if a later stamp is equal, nothing was written since. */
  readonly stamp: string;
}

/** Entries read before the crawl db is closed. */
const WINDOW = 10_000;

/** Reads the next entries after `after`, and closes the crawl db. */
export function nextChanges(
  options: ChangeReaderOptions,
  query: ChangesFilter,
  after: FeedCursor,
): Promise<ChangeWindow> {
  return options.withFeed(async (source) => {
    const stamp = await activityStamp(join(resolve(options.dir), 'db'));
    const ends = await source.changeFeed();
    const through = throughOf(ends, after);
    const changes: ChangeView[] = [];
    for await (const change of source.changes({ ...query, after, through })) changes.push(change);
    return { changes, through, ends, hasMore: isBehind(through, endOf(ends)), stamp };
  });
}

/** The cursor before all entries that were noted at this time or later. */
export async function startAt(source: ChangeSource, query: Pick<ChangesQuery, 'notedFrom'>): Promise<FeedCursor> {
  const start = [...endOf(await source.changeFeed())];
  // The first entry of each part; a part without any is read to its end.
  const met = new Set<number>();
  for await (const { seq, partition = 0 } of source.changes(query)) {
    const place = Number(partition);
    if (met.has(place)) continue;
    start[place] = seq - 1;
    if (met.add(place).size === start.length) break;
  }
  return start;
}

/** The end of a window, as one number for each part of the crawl. */
function throughOf({ each }: FeedView, after: FeedCursor): readonly number[] {
  const width = Math.ceil(WINDOW / each.length);
  const starts = vectorOf(after, each);
  return each.map(({ first, last }, i) => {
    const own = starts[i] ?? 0;
    // Skips trimmed numbers, which would leave windows empty.
    return Math.max(own, Math.min(Math.max(own, first - 1) + width, last));
  });
}

/**
 * Yields windows until the signal comes: first existing entries, then new ones. The crawl db is opened only after it
 * was written to, so a crawl that starts meanwhile is hardly ever locked out. A crawl that holds the crawl db answers
 * itself.
 */
export async function* followChanges(
  options: ChangeReaderOptions,
  query: ChangesFilter,
  start: FeedCursor,
  { signal, sleep, onUnavailable }: FollowOptions,
): AsyncGenerator<ChangeWindow> {
  let after: FeedCursor = start;
  let read: string | null = null;
  while (!signal.aborted) {
    const stamp = await activityStamp(join(resolve(options.dir), 'db'));
    // An empty stamp: a crawl db without files, such as a shared one, does not show whether it was written to.
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

const PASSING: ReadonlySet<ErrorCode> = new Set(['db-locked', 'holder-gone', 'crawl-missing']);

/** Whether another attempt in a moment may succeed. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof CrawlError && PASSING.has(error.code);
}

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Pause between two reads; ends early when the signal comes. */
  readonly sleep: (signal: AbortSignal) => Promise<void>;
  readonly onUnavailable: (message: string) => void;
}

// core/ports/: contracts between the steps and the outside; meaning, order and failure are stated on each member.

import type { ChangeRow, FeedCursor, FeedEnds } from '../domain/crawl/change/change-feed.ts';

/** The change feed: numbered entries of page changes, the part of the crawl db that consumers of a crawl follow. */
export interface ChangeFeed {
  /** Entries by `seq`, oldest first. A consistent snapshot. */
  changes(query?: ChangeQuery): AsyncIterable<ChangeRow>;
  /** How far the feed goes: an index read, never a scan. */
  feedEnds(): Promise<FeedEnds>;
}

/** Entries that meet all conditions. */
export interface ChangeQuery {
  /** Only entries behind this `seq`. A cursor of another kind than that of the feed is refused: `usage-invalid`. */
  readonly after?: FeedCursor;
  /** Only entries up to this `seq`. */
  readonly through?: FeedCursor;
  /** Only entries noted at this time or later, ms since the epoch; found by binary search. */
  readonly notedFrom?: number;
  readonly limit?: number;
  /** Newest first. */
  readonly reverse?: boolean;
}

import type { PageChange } from './page-change.ts';

/** One entry of the change feed. */
export interface ChangeRow extends PageChange {
  /**
   * Counts from 1, in the order in which entries were written; never used twice. Trimming and repairs may leave gaps.
   */
  readonly seq: number;
  /** When the crawl db took it, ms since the epoch: never before the entry that came before. */
  readonly notedAt: number;
}

export interface FeedEnds {
  /** Nothing before this `seq` is kept; `last + 1` when nothing is kept at all. */
  readonly first: number;
  /** The newest `seq` ever given; 0 when there was none. */
  readonly last: number;
  /** When it was noted; 0 when there was none. */
  readonly notedAt: number;
}

export const NO_FEED: FeedEnds = Object.freeze({ first: 1, last: 0, notedAt: 0 });

/** What a batch does to the feed, in this order. */
export interface FeedBatch {
  /** Rows of another feed as they are, ascending, behind the newest entry; `last`: how far that feed went at least. */
  readonly restore?: { readonly rows: readonly ChangeRow[]; readonly last?: number };
  /** Entries to be added at the end. A time before the one of the newest entry counts as that one. */
  readonly add?: { readonly notedAt: number; readonly changes: readonly PageChange[] };
  /** Entries up to this `seq` are removed. */
  readonly trimThrough?: number;
}

/**
 * The rows that a batch adds, and the ends of the feed after it. Throws a `TypeError` for restored rows that do not
 * follow the newest entry.
 */
export function extendFeed(ends: FeedEnds, batch: FeedBatch): { readonly rows: ChangeRow[]; readonly ends: FeedEnds } {
  let { first, last, notedAt } = ends;
  const rows: ChangeRow[] = [];
  for (const row of batch.restore?.rows ?? []) {
    if (row.seq <= last || row.notedAt < notedAt) {
      throw new TypeError(`an entry behind ${last} was expected, got ${row.seq}`);
    }
    if (first > last) first = row.seq;
    ({ seq: last, notedAt } = row);
    rows.push(row);
  }
  const restored = batch.restore?.last ?? 0;
  if (restored > last) {
    if (first > last) first = restored + 1;
    last = restored;
  }
  const { add } = batch;
  if (add !== undefined && add.changes.length > 0) {
    notedAt = Math.max(notedAt, Math.ceil(add.notedAt));
    for (const change of add.changes) {
      last++;
      rows.push({ ...change, seq: last, notedAt });
    }
  }
  if (batch.trimThrough !== undefined) first = Math.min(Math.max(first, batch.trimThrough + 1), last + 1);
  return { rows: rows.filter(({ seq }) => seq >= first), ends: { first, last, notedAt } };
}

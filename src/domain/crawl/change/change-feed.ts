import type { PageChange } from './page-change.ts';

/** An entry of the change feed. */
export interface ChangeRow extends PageChange {
  /** Sequence number, from 1 in the order of writing; never reused. Trimming and repairs may leave gaps. */
  readonly seq: number;
  /** Time of writing to the crawl db, ms since the epoch; never before that of the previous entry. */
  readonly notedAt: number;
}

export interface FeedEnds {
  /** The oldest `seq` kept; `last + 1` for an empty feed. */
  readonly first: number;
  /** The newest `seq` ever given; 0 without any. */
  readonly last: number;
  /** Time of the newest entry; 0 without any. */
  readonly notedAt: number;
  /** Of a spread crawl: the ends of each partition, in their order. */
  readonly each?: readonly FeedEnds[];
}

export const NO_FEED: FeedEnds = Object.freeze({ first: 1, last: 0, notedAt: 0 });

/** Changes of a batch to the feed, applied in this order. */
export interface FeedBatch {
  /** Rows of another feed, unchanged and ascending, after the newest entry; `last`: newest `seq` of that feed. */
  readonly restore?: { readonly rows: readonly ChangeRow[]; readonly last?: number };
  /** Entries to append. A time before that of the newest entry is raised to it. */
  readonly add?: { readonly notedAt: number; readonly changes: readonly PageChange[] };
  /** Deletes entries up to this `seq`. */
  readonly trimThrough?: number;
}

/**
 * The rows that a batch adds, and the ends of the feed after it. Throws a `TypeError` for restored rows that are not
 * after the newest entry.
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

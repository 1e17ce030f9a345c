import { CrawlError } from '../../errors.ts';
import { type CrawlDatum, isAnswered, VISIT_RING_SIZE, type Visit } from '../states/datum.ts';
import type { PageChange } from './page-change.ts';

/**
 * How far a change feed has been read: the number of its last entry. In a spread crawl each partition numbers its own
 * changes, so the cursor is a vector of numbers, one of each partition, in their order.
 */
export type FeedCursor = number | readonly number[];

const VECTOR = /^v(\d+)((?:\.[0-9a-z]+)+)$/;

/** A number, or a vector as one word, such as `v4.g.0.a3.9`: how many numbers, then each to the base of 36. */
export function cursorText(cursor: FeedCursor): string {
  const numbers = numbersOf(cursor);
  if (numbers.length === 1) return String(numbers[0]);
  return [`v${numbers.length}`, ...numbers.map((number) => number.toString(36))].join('.');
}

/** The cursor of a text; `null`: it is none. */
export function parseCursor(text: string): FeedCursor | null {
  if (/^\d+$/.test(text)) return Number.isSafeInteger(Number(text)) ? Number(text) : null;
  const [, length, words = ''] = VECTOR.exec(text) ?? [];
  if (length === undefined) return null;
  const numbers = words
    .slice(1)
    .split('.')
    .map((word) => Number.parseInt(word, 36));
  return numbers.length === Number(length) && numbers.every(Number.isSafeInteger) ? numbers : null;
}

/** Whether `end`, a cursor of the same crawl, is further than this one in any partition. */
export function isBehind(cursor: FeedCursor, end: FeedCursor): boolean {
  const read = numbersOf(cursor);
  return numbersOf(end).some((number, i) => number > (read[i] ?? 0));
}

/** The cursor of one change feed. Throws `usage-invalid` for that of several. */
export const numberOf = (cursor: FeedCursor): number => vectorOf(cursor, 1)[0] as number;

/** One of the feeds of a crawl. */
export interface FeedPart {
  /** Index of the feed from which a split has divided this one, which continues its numbers. Absent: none. */
  readonly from?: number;
}

/**
 * The cursor for these feeds, or for this number of feeds; 0 begins all of them. A cursor from before a split has the
 * same position in the new feed as in the divided one. Throws `usage-invalid` for a cursor of another crawl.
 */
export function vectorOf(cursor: FeedCursor, of: number | readonly FeedPart[]): readonly number[] {
  const feeds = typeof of === 'number' ? of : of.length;
  if (cursor === 0) return new Array<number>(feeds).fill(0);
  const own = [...numbersOf(cursor)];
  for (const { from } of typeof of === 'number' ? [] : of.slice(own.length)) {
    if (from !== undefined) own.push(own[from] ?? 0);
  }
  if (own.length === feeds) return own;
  const count = feeds === 1 ? 'whose changes have one number' : `each of whose ${feeds} partitions numbers its changes`;
  throw new CrawlError(
    'usage-invalid',
    `${cursorText(cursor)} is no cursor of this crawl, ${count}: give a time, such as --since 2h, or a cursor that ` +
      '--cursor has written',
  );
}

/** The number of feeds that the cursor covers. */
export const lengthOf = (cursor: FeedCursor): number => numbersOf(cursor).length;

const numbersOf = (cursor: FeedCursor): readonly number[] => (typeof cursor === 'number' ? [cursor] : cursor);

/** Visits that found no readable page. */
const isAway = ({ outcome }: Visit): boolean =>
  outcome === 'gone' || outcome === 'redirect' || outcome === 'parse-failed';

/**
 * Whether a page differs from what it was at a time (ms since the epoch): its content changed, it went away, or it came
 * back unchanged. Counts as changed where its stored visits do not reach back so far.
 */
export function isChangedSince(datum: CrawlDatum, since: number): boolean {
  if (datum.changedAt === null || datum.changedAt >= since) return true;
  const answered = datum.visits.filter(isAnswered);
  const later = answered.findIndex(({ at }) => at >= since);
  if (later < 0) return false;
  if (later === 0) return datum.visits.length === VISIT_RING_SIZE;
  for (let i = later; i < answered.length; i++) {
    if (isAway(answered[i] as Visit) !== isAway(answered[i - 1] as Visit)) return true;
  }
  return false;
}

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
  readonly each?: readonly (FeedEnds & FeedPart)[];
}

export const NO_FEED: FeedEnds = Object.freeze({ first: 1, last: 0, notedAt: 0 });

/** Changes of a batch to the feed, applied in this order. */
export interface FeedBatch {
  /**
   * Rows of another feed, unchanged and ascending, after the newest entry; `first`, `last`: oldest and newest `seq` of
   * that feed.
   */
  readonly restore?: { readonly rows: readonly ChangeRow[]; readonly first?: number; readonly last?: number };
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
  const begun = first > last ? batch.restore?.first : undefined;
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
  if (begun !== undefined && begun <= last) first = Math.min(first, begun);
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

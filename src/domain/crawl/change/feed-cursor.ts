import { CrawlError } from '../../errors.ts';

/**
 * How far a change feed has been read: the number of its last entry. In a spread crawl each partition numbers its own
 * changes, so the cursor is a vector of numbers, one of each partition, in their order.
 */
export type FeedCursor = number | readonly number[];

const VECTOR = /^v(\d+)((?:\.[0-9a-z]+)+)$/;

/** A number, or a vector as one word, such as `v4.g.0.a3.9`: how many numbers, then each to the base of 36. */
export function cursorText(cursor: FeedCursor): string {
  return typeof cursor === 'number'
    ? String(cursor)
    : [`v${cursor.length}`, ...cursor.map((number) => number.toString(36))].join('.');
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
  const [read, last] = [cursor, end].map((each) => (typeof each === 'number' ? [each] : each));
  return (last ?? []).some((number, i) => number > (read?.[i] ?? 0));
}

/** The cursor of a crawl without partitions. Throws `usage-invalid` for that of a spread crawl. */
export function numberOf(cursor: FeedCursor): number {
  if (typeof cursor === 'number') return cursor;
  const what = `${cursorText(cursor)} is a cursor of a crawl in ${cursor.length} partitions`;
  throw new CrawlError('usage-invalid', `${what}; this change feed has one number`);
}

/** The cursor of a crawl in partitions; 0 begins all of them. Throws `usage-invalid` for that of another crawl. */
export function vectorOf(cursor: FeedCursor, partitions: number): readonly number[] {
  if (cursor === 0) return new Array<number>(partitions).fill(0);
  if (typeof cursor !== 'number' && cursor.length === partitions) return cursor;
  throw new CrawlError(
    'usage-invalid',
    `${cursorText(cursor)} is no cursor of this crawl, each of whose ${partitions} partitions numbers its own changes: ` +
      'give a time, such as --since 2h, or a cursor that --cursor has written',
  );
}

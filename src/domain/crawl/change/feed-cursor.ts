import { CrawlError } from '../../errors.ts';

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

/** The cursor of so many feeds; 0 begins all of them. Throws `usage-invalid` for that of another crawl. */
export function vectorOf(cursor: FeedCursor, feeds: number): readonly number[] {
  if (cursor === 0) return new Array<number>(feeds).fill(0);
  const own = numbersOf(cursor);
  if (own.length === feeds) return own;
  const count = feeds === 1 ? 'whose changes have one number' : `each of whose ${feeds} partitions numbers its changes`;
  throw new CrawlError(
    'usage-invalid',
    `${cursorText(cursor)} is no cursor of this crawl, ${count}: give a time, such as --since 2h, or a cursor that ` +
      '--cursor has written',
  );
}

const numbersOf = (cursor: FeedCursor): readonly number[] => (typeof cursor === 'number' ? [cursor] : cursor);

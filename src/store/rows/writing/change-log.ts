import {
  type ChangeRow,
  extendFeed,
  type FeedBatch,
  type FeedEnds,
  NO_FEED,
  numberOf,
} from '../../../core/domain/crawl/change/change-feed.ts';
import type { ChangeQuery } from '../../../core/ports/change-feed.ts';
import {
  allChanges,
  changeKey,
  changeRange,
  decodeChange,
  decodeEnds,
  encodeChange,
  encodeEnds,
  FEED_ENDS_KEY,
} from '../codecs/change-rows.ts';
import { keysOfRange, type Rows, readMany, readRange } from '../rows.ts';
import type { RowSink } from './row-watchers.ts';

/** Keys removed per window of a trim. */
const TRIM_WINDOW = 1_000;

/** Stages the rows of a batch for the change feed. Resolves with the ends of the feed once the batch is written. */
export async function stageFeed(rows: Rows, sink: RowSink, before: FeedEnds, batch: FeedBatch): Promise<FeedEnds> {
  const { rows: added, ends } = extendFeed(before, batch);
  for (const row of added) sink.put(changeKey(row.seq), encodeChange(row));
  if (ends.first > before.first) {
    for await (const keys of keysOfRange(rows, changeRange(before.first, ends.first - 1), TRIM_WINDOW)) {
      for (const key of keys) sink.del(key);
    }
  }
  sink.put(FEED_ENDS_KEY, encodeEnds(ends));
  return ends;
}

export async function readEnds(rows: Rows): Promise<FeedEnds> {
  const [bytes] = await readMany(rows, [FEED_ENDS_KEY]);
  return bytes === undefined ? NO_FEED : decodeEnds(bytes);
}

/** The entries of a query. */
export async function* readChanges(
  rows: Rows,
  ends: FeedEnds,
  { after = 0, through = ends.last, notedFrom, limit, reverse = false }: ChangeQuery,
): AsyncGenerator<ChangeRow, void, undefined> {
  const last = Math.min(numberOf(through), ends.last);
  let first = Math.max(numberOf(after) + 1, ends.first);
  if (notedFrom !== undefined) first = await firstNoted(rows, first, last, notedFrom);
  if (first > last) return;
  for await (const batch of readRange(rows, changeRange(first, last), limit, reverse)) {
    for (const [key, bytes] of batch) yield decodeChange(key, bytes);
  }
}

/** The lowest number from `first` to `last` after which all entries were noted at `at` or later; by bisection. */
async function firstNoted(rows: Rows, first: number, last: number, at: number): Promise<number> {
  let low = first;
  let high = last + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = await anyRow(rows, middle, high - 1);
    // No entry from the middle on: a gap.
    if (row === null || row.notedAt >= at) high = middle;
    else low = row.seq + 1;
  }
  return low;
}

/** The first entry with a number from `from` to `through`. */
async function anyRow(rows: Rows, from: number, through: number): Promise<ChangeRow | null> {
  for await (const [[key, bytes] = []] of readRange(rows, changeRange(from, through), 1)) {
    if (key !== undefined && bytes !== undefined) return decodeChange(key, bytes);
  }
  return null;
}

/** The ends of the feed by its entries; the newest number is never less than `known`. */
export async function endsOfRows(rows: Rows, known: FeedEnds): Promise<FeedEnds> {
  let oldest: ChangeRow | null = null;
  let newest: ChangeRow | null = null;
  for await (const [[key, bytes] = []] of readRange(rows, allChanges(), 1)) {
    if (key !== undefined && bytes !== undefined) oldest = decodeChange(key, bytes);
  }
  for await (const [[key, bytes] = []] of readRange(rows, allChanges(), 1, true)) {
    if (key !== undefined && bytes !== undefined) newest = decodeChange(key, bytes);
  }
  const last = Math.max(known.last, newest?.seq ?? 0);
  return { first: oldest?.seq ?? last + 1, last, notedAt: Math.max(known.notedAt, newest?.notedAt ?? 0) };
}

import {
  type ChangeRow,
  extendFeed,
  type FeedBatch,
  type FeedEnds,
  NO_FEED,
  numberOf,
} from '../../../core/domain/crawl/change/change-feed.ts';
import type { ChangeKind } from '../../../core/domain/crawl/change/page-change.ts';
import { CrawlError } from '../../../core/domain/errors.ts';
import { type KeyRange, prefixRange } from '../../../core/domain/url/canonical/url-key.ts';
import type { ChangeQuery } from '../../../core/ports/change-feed.ts';
import { ROW } from '../codecs/keys.ts';
import { stateNumber, stateOfNumber } from '../codecs/record-codec.ts';
import { keysOfRange, pack, type RowSink, type Rows, readMany, readRange, unpack } from '../rows.ts';

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

/** The lowest number from `first` to `last` such that all later entries were noted at `at` or later; by bisection. */
async function firstNoted(rows: Rows, first: number, last: number, at: number): Promise<number> {
  let low = first;
  let high = last + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = await anyRow(rows, middle, high - 1);
    // There is no entry from the middle on: a gap.
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

/** The ends of the feed according to its entries; the newest number is never less than `known`. */
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

/** Version of the tuples below, their first element. */
const CHANGE_VERSION = 1;

/** Numbers of the kinds on disk. Append only. */
const KINDS = Object.freeze([
  'new',
  'modified',
  'moved',
  'gone',
  'back',
  'duplicate',
  'dropped',
] as const satisfies readonly ChangeKind[]);

const NUMBER_OF_KIND = new Map<ChangeKind, number>(KINDS.map((kind, i) => [kind, i]));

/** Hexadecimal digits of a number in a key: enough for 8,900 years at a thousand changes a second. */
const SEQ_DIGITS = 12;

/** Row with the ends of the feed. */
export const FEED_ENDS_KEY = ROW.change;

export function changeKey(seq: number): string {
  return ROW.change + seq.toString(16).padStart(SEQ_DIGITS, '0');
}

function seqOfKey(key: string): number {
  const digits = key.slice(ROW.change.length);
  if (!/^[0-9a-f]{12}$/.test(digits)) throw new CrawlError('db-corrupt', `"${key}" is no key of the change feed`);
  return Number.parseInt(digits, 16);
}

/** Entries with numbers from `from` to `through`, both inclusive. */
function changeRange(from: number, through: number): KeyRange {
  return { from: changeKey(Math.max(0, from)), to: changeKey(Math.max(0, through + 1)) };
}

/** All entries, including those outside the stored ends. */
export function allChanges(): KeyRange {
  return { from: `${ROW.change}0`, to: prefixRange(ROW.change).to };
}

export function encodeChange(row: ChangeRow): Buffer {
  const { kind, notedAt, at, url, state, status, distance, target, title, blocks = null, contentType = null } = row;
  const number = NUMBER_OF_KIND.get(kind);
  if (number === undefined) throw new TypeError(`a kind of change was expected, got "${String(kind)}"`);
  const facts = [url, stateNumber(state), status, distance, target, title, blocks, contentType];
  const tuple = [CHANGE_VERSION, number, notedAt, at, ...facts];
  let { length } = tuple;
  while (tuple[length - 1] === null) length--;
  tuple.length = length;
  return pack(tuple);
}

export function decodeChange(key: string, bytes: Uint8Array): ChangeRow {
  return decoded(key, bytes, (tuple) => {
    const at = <T>(index: number): T | null => (tuple[index] ?? null) as T | null;
    const kind = KINDS[tuple[1] as number];
    if (kind === undefined) throw new TypeError(`no kind of change has the number ${String(tuple[1])}`);
    const blocks = at<string[]>(10);
    const contentType = at<string>(11);
    return {
      seq: seqOfKey(key),
      notedAt: tuple[2] as number,
      kind,
      url: tuple[4] as string,
      at: tuple[3] as number,
      state: stateOfNumber(tuple[5]),
      status: at(6),
      distance: at(7),
      target: at(8),
      title: at(9),
      ...(blocks === null ? {} : { blocks }),
      ...(contentType === null ? {} : { contentType }),
    };
  });
}

export function encodeEnds({ first, last, notedAt }: FeedEnds): Buffer {
  return pack([CHANGE_VERSION, first, last, notedAt]);
}

export function decodeEnds(bytes: Uint8Array): FeedEnds {
  return decoded(FEED_ENDS_KEY, bytes, ([, first, last, notedAt]) => {
    if (typeof first !== 'number' || typeof last !== 'number' || typeof notedAt !== 'number') {
      throw new TypeError('three numbers were expected');
    }
    return { first, last, notedAt };
  });
}

function decoded<T>(key: string, bytes: Uint8Array, read: (tuple: readonly unknown[]) => T): T {
  try {
    const tuple = unpack(bytes);
    if (tuple[0] !== CHANGE_VERSION) {
      if (typeof tuple[0] !== 'number' || tuple[0] < CHANGE_VERSION) throw new TypeError('no version comes first');
      throw new CrawlError(
        'db-version',
        `row ${key} of the change feed has version ${tuple[0]}; a newer incrawl wrote it`,
      );
    }
    return read(tuple);
  } catch (cause) {
    if (cause instanceof CrawlError) throw cause;
    throw new CrawlError('db-corrupt', `row ${key} of the change feed cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
}

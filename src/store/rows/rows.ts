import { Packr } from 'msgpackr/pack';
import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import type { KeyRange } from '../../core/domain/url/canonical/url-key.ts';
import type { OrderedRows, RowSnapshot } from '../../core/ports/ordered-rows.ts';

export type Rows = OrderedRows;
export type Snapshot = RowSnapshot;

export const snapshotOf = (rows: Rows): Snapshot => rows.snapshot();

/** Keys per call to the storage: enough to hide the cost of the call, few enough not to delay other calls. */
const READ_WINDOW = 1_000;

/** Bytes that an iterator reads ahead. */
const READ_AHEAD_BYTES = 256 * 1024;

/**
 * Values in the order of `keys`, read in sorted order: neighbours share blocks, which makes sorted reads a third
 * cheaper.
 */
export function readMany(rows: Rows, keys: readonly string[], snapshot?: Snapshot): Promise<(Buffer | undefined)[]> {
  const options = snapshot === undefined ? {} : { snapshot };
  return inKeyOrder<Buffer | undefined>(keys, (window) => rows.getMany(window, options));
}

/** As {@link readMany}, without transferring values. */
export function existMany(rows: Rows, keys: readonly string[]): Promise<boolean[]> {
  return inKeyOrder(keys, (window) => rows.hasMany(window));
}

async function inKeyOrder<T>(keys: readonly string[], read: (window: string[]) => Promise<T[]>): Promise<T[]> {
  const order = Array.from(keys, (_, i) => i).sort((a, b) => (keys[a]! < keys[b]! ? -1 : 1));
  const answers = new Array<T>(keys.length);
  for (let start = 0; start < order.length; start += READ_WINDOW) {
    const window = order.slice(start, start + READ_WINDOW);
    const values = await read(window.map((i) => keys[i]!));
    for (let i = 0; i < window.length; i++) answers[window[i]!] = values[i]!;
  }
  return answers;
}

/**
 * The rows of a range as of now, in batches. The iterator is closed however the loop ends.
 * @param limit maximum number of rows
 * @param reverse the last row first
 */
export async function* readRange(
  rows: Rows,
  range: KeyRange,
  limit = Number.POSITIVE_INFINITY,
  reverse = false,
): AsyncGenerator<[string, Buffer][], void, undefined> {
  if (limit <= 0) return;
  const options = { ...bounds(range), limit: Number.isFinite(limit) ? limit : -1, reverse };
  const iterator = rows.iterator(options);
  try {
    for (;;) {
      const batch = await iterator.nextv(READ_WINDOW);
      if (batch.length === 0) return;
      yield batch;
    }
  } finally {
    await iterator.close();
  }
}

/** The keys of a range as of now, in windows; the values are not transferred. */
export async function* keysOfRange(rows: Rows, range: KeyRange, window: number): AsyncGenerator<string[]> {
  const iterator = rows.keys(bounds(range));
  try {
    let keys: string[] = [];
    for (;;) {
      const read = await iterator.nextv(READ_WINDOW);
      for (const key of read) keys.push(key);
      if (keys.length >= window || (read.length === 0 && keys.length > 0)) {
        yield keys;
        keys = [];
      }
      if (read.length === 0) return;
    }
  } finally {
    await iterator.close();
  }
}

/** A cursor over the keys of a range, in key order; must be closed. */
export interface KeyCursor {
  /** The next keys; none at the end. */
  next(count: number): Promise<string[]>;
  /** Moves to the first key at or after `key`. */
  seek(key: string): void;
  close(): Promise<void>;
}

export function openKeys(rows: Rows, { from, to }: KeyRange, snapshot: Snapshot): KeyCursor {
  const iterator = rows.keys({ gte: from, lt: to, snapshot });
  return {
    next: (count) => iterator.nextv(count),
    seek: (key) => iterator.seek(key),
    close: () => iterator.close(),
  };
}

/** Number of rows in a range; the values are not transferred. */
export async function countRange(rows: Rows, range: KeyRange): Promise<number> {
  const iterator = rows.keys(bounds(range));
  let count = 0;
  try {
    for (;;) {
      const { length } = await iterator.nextv(READ_WINDOW);
      if (length === 0) return count;
      count += length;
    }
  } finally {
    await iterator.close();
  }
}

function bounds({ from, to }: KeyRange) {
  return { gte: from, lt: to, highWaterMarkBytes: READ_AHEAD_BYTES };
}

/**
 * An error in the form in which the crawl db reports it. Errors of the storage are already `CrawlError`s, and a
 * `TypeError` is a mistake of the caller: both stay as they are. Any other error is a fault of the crawl db.
 */
export function rowFault(error: unknown): Error {
  if (error instanceof CrawlError || error instanceof TypeError) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new CrawlError('internal', `the crawl db failed: ${text}`, { cause: error });
}

/**
 * The value of a row that says all in its key. It is not empty, as classic-level 3.0 never frees its copy of an empty
 * value: 32 bytes for each row that is written.
 */
export const KEY_ONLY: Buffer = Buffer.of(0);

/** Takes the rows of a batch; implemented by the storage's own batch. */
export interface RowSink {
  put(key: string, value: Buffer): unknown;
  del(key: string): unknown;
}

/** Adds rows to every batch with URLs that are new to the crawl db. */
export interface NewUrlWatcher {
  stage(sink: RowSink, urls: readonly string[]): Promise<void>;
}

/** A record before and after a batch; `null`: there was, or is, none. */
export interface RecordChange {
  readonly before: CrawlDatum | null;
  readonly after: CrawlDatum | null;
}

/** Adds rows to every batch that changes records. */
export interface RecordWatcher {
  /** Resolves with a function to be called once the batch is written. A batch that is not written leaves no trace. */
  stage(sink: RowSink, changes: readonly RecordChange[]): Promise<() => void>;
}

// Without the native add-on for long texts, which no row has: loading it takes longer than a query.
const packr = new Packr({ useRecords: false, encodeUndefinedAsNil: true });

/** MessagePack without shared structures: every row can be decoded on its own, in any thread. */
export function pack(tuple: readonly unknown[]): Buffer {
  return packr.pack(tuple);
}

/** Throws an error for bytes that are not a tuple, and for values of kinds that {@link pack} never writes. */
export function unpack(bytes: Uint8Array): unknown[] {
  const safe = withoutLargeClaims(bytes);
  if (safe !== bytes) packr.unpack(safe);
  const tuple: unknown = packr.unpack(bytes);
  if (!Array.isArray(tuple)) throw new TypeError('the row is not a tuple');
  refuseForeign(tuple);
  return tuple;
}

/** MessagePack has dates, extensions and a byte without a meaning, too. */
function refuseForeign(values: readonly unknown[]): void {
  for (const value of values) {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) continue;
    if (Array.isArray(value)) refuseForeign(value);
    else if (Object.getPrototypeOf(value) === Object.prototype) refuseForeign(Object.values(value));
    else throw new TypeError('a value of the row is of no kind that rows have');
  }
}

/** First byte of an array whose length has 32 bits, and the bytes before its elements. */
const ARRAY_32 = 0xdd;
const ARRAY_32_HEAD = 5;
/** V8 reserves no array of 2^25 elements or more: the highest byte of a length that it does reserve. */
const MOST_RESERVED = 1;

/**
 * The decoder reserves an array of the length that is stated before it reads an element: five damaged bytes would cost
 * 256 MB. In the copy each such header of more elements than there are bytes left states four billion, which V8 does
 * not reserve. Where the copy can be decoded all the same, those bytes were part of a text or a number.
 * @returns the bytes themselves where none states too much
 */
function withoutLargeClaims(bytes: Uint8Array): Uint8Array {
  let safe = bytes;
  for (let at = bytes.indexOf(ARRAY_32); at >= 0; at = bytes.indexOf(ARRAY_32, at + 1)) {
    const left = bytes.length - at - ARRAY_32_HEAD;
    if (left < 0) break;
    const [, a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at, at + ARRAY_32_HEAD);
    if (a > MOST_RESERVED || ((a << 24) | (b << 16) | (c << 8) | d) <= left) continue;
    if (safe === bytes) safe = Uint8Array.from(bytes);
    safe[at + 1] = 0xff;
  }
  return safe;
}

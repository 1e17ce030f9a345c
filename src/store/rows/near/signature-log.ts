import { type Fingerprint, TABLES } from '../../../page/near/fingerprint-tables.ts';
import { type Rows, readRange } from '../rows.ts';
import {
  digestAt,
  ENTRY_BYTES,
  firstBits,
  LOG_ROWS,
  numberOfLogKey,
  placeAt,
  type SignatureEntry,
  urlAt,
  urlRow,
  visitUrls,
  writeEntry,
} from './signature-entries.ts';

/** A signature that a batch has added or removed. */
export interface SignatureChange {
  readonly entry: SignatureEntry;
  readonly isRemoval: boolean;
  /** URL of a page that is new to the tables; `null`: the page has left them. Absent: neither. */
  readonly url?: string | null;
}

const COUNT_BYTES = 4;

/** A row of the log: number of entries, entries, URLs. */
export function encodeLogRow(changes: readonly SignatureChange[]): Buffer {
  const head = Buffer.alloc(COUNT_BYTES + changes.length * ENTRY_BYTES);
  head.writeUInt32BE(changes.length, 0);
  for (const [i, { entry, isRemoval }] of changes.entries()) {
    writeEntry(head, COUNT_BYTES + i * ENTRY_BYTES, entry, isRemoval);
  }
  return Buffer.concat([
    head,
    ...changes.flatMap(({ entry, url }) => (url === undefined ? [] : [urlRow(entry.digest, url)])),
  ]);
}

/** Number of lists of entries in each table, and of URLs, as a power of two. */
const PLACE_BITS = 12;
const NONE = -1;

interface LogRow {
  readonly number: number;
  /** Number of entries up to the end of the row, and bytes of URLs. */
  readonly end: number;
  readonly urlsEnd: number;
}

/**
 * The newest signatures, in memory, by the same 16 bits as in runs; some 110 bytes each with their URLs. Rows are
 * appended; {@link after} makes a new log without the first rows.
 */
export class SignatureLog {
  #entries = Buffer.alloc(64 * ENTRY_BYTES);
  #count = 0;
  #rows: LogRow[] = [];
  /** By table and first bits of the place: the newest entry. By table and entry: the next older one. */
  readonly #heads = new Int32Array(TABLES << PLACE_BITS).fill(NONE);
  #older = new Int32Array(64 * TABLES);
  #urls = Buffer.alloc(4_096);
  #urlBytes = 0;
  #urlCount = 0;
  /** By first bits of the digest: the newest URL. By URL: its place, and the next older one. */
  readonly #urlHeads = new Int32Array(1 << PLACE_BITS).fill(NONE);
  #urlPlaces = new Int32Array(2 * 64);
  #isSound = true;

  static async read(rows: Rows): Promise<SignatureLog> {
    const log = new SignatureLog();
    for await (const batch of readRange(rows, LOG_ROWS)) {
      for (const [key, bytes] of batch) log.add(numberOfLogKey(key), bytes);
    }
    return log;
  }

  get size(): number {
    return this.#count;
  }

  /** `false`: a row could not be read. */
  get isSound(): boolean {
    return this.#isSound;
  }

  /** Number of the last row; 0: the log is empty. */
  get last(): number {
    return this.#rows.at(-1)?.number ?? 0;
  }

  add(number: number, row: Buffer): void {
    const count = row.length < COUNT_BYTES ? 0 : row.readUInt32BE(0);
    const end = COUNT_BYTES + count * ENTRY_BYTES;
    if (row.length < COUNT_BYTES || end > row.length) {
      this.#isSound = false;
      return;
    }
    for (let at = COUNT_BYTES; at < end; at += ENTRY_BYTES) this.#add(row, at);
    this.#addUrls(row.subarray(end));
    this.#rows.push({ number, end: this.#count, urlsEnd: this.#urlBytes });
  }

  #addUrls(urls: Buffer): void {
    const start = this.#urlBytes;
    const length = visitUrls(urls, (at) => {
      const number = this.#urlCount++;
      if (2 * number === this.#urlPlaces.length) this.#urlPlaces = doubled(this.#urlPlaces);
      const head = firstBits(digestAt(urls, at).high, PLACE_BITS);
      this.#urlPlaces[2 * number] = start + at;
      this.#urlPlaces[2 * number + 1] = this.#urlHeads[head]!;
      this.#urlHeads[head] = number;
    });
    this.#urlBytes += length;
    while (this.#urlBytes > this.#urls.length)
      this.#urls = Buffer.concat([this.#urls, Buffer.alloc(this.#urls.length)]);
    urls.copy(this.#urls, start, 0, length);
  }

  /** URL of a digest; `null`: it is not in the log. */
  urlOf(digest: Fingerprint): string | null {
    let i = this.#urlHeads[firstBits(digest.high, PLACE_BITS)]!;
    for (; i !== NONE; i = this.#urlPlaces[2 * i + 1]!) {
      const at = this.#urlPlaces[2 * i]!;
      const { high, low } = digestAt(this.#urls, at);
      const url = high === digest.high && low === digest.low ? urlAt(this.#urls, at) : null;
      if (url !== null) return url;
    }
    return null;
  }

  #add(row: Buffer, at: number): void {
    const number = this.#count++;
    const start = number * ENTRY_BYTES;
    if (start === this.#entries.length) {
      this.#entries = Buffer.concat([this.#entries, Buffer.alloc(start)]);
      this.#older = doubled(this.#older);
    }
    row.copy(this.#entries, start, at, at + ENTRY_BYTES);
    for (let table = 0; table < TABLES; table++) {
      const head = headOf(table, placeAt(row, at, table));
      this.#older[number * TABLES + table] = this.#heads[head]!;
      this.#heads[head] = number;
    }
  }

  /** Visits the entries that may be at a place of a table, newest first; others may be among them. */
  visit(table: number, place: number, visit: (bytes: Buffer, at: number) => void): void {
    for (let i = this.#heads[headOf(table, place)]!; i !== NONE; i = this.#older[i * TABLES + table]!) {
      visit(this.#entries, i * ENTRY_BYTES);
    }
  }

  /** Entries of the rows up to a number, oldest first. */
  entries(through = this.last): Buffer {
    const end = this.#rows.findLast(({ number }) => number <= through)?.end ?? 0;
    return this.#entries.subarray(0, end * ENTRY_BYTES);
  }

  /** URLs of the rows up to a number, oldest first. */
  urls(through = this.last): Buffer {
    return this.#urls.subarray(0, this.#rows.findLast(({ number }) => number <= through)?.urlsEnd ?? 0);
  }

  /** Numbers of the rows up to one. */
  numbers(through: number): number[] {
    return this.#rows.map(({ number }) => number).filter((number) => number <= through);
  }

  /** The rows after a number. */
  after(through: number): SignatureLog {
    const later = new SignatureLog();
    let start = 0;
    let urlsStart = 0;
    for (const { number, end, urlsEnd } of this.#rows) {
      if (number > through) {
        for (let i = start; i < end; i++) later.#add(this.#entries, i * ENTRY_BYTES);
        later.#addUrls(this.#urls.subarray(urlsStart, urlsEnd));
        later.#rows.push({ number, end: later.#count, urlsEnd: later.#urlBytes });
      }
      start = end;
      urlsStart = urlsEnd;
    }
    later.#isSound = this.#isSound;
    return later;
  }
}

const headOf = (table: number, place: number): number => (table << PLACE_BITS) | firstBits(place, PLACE_BITS);

function doubled(items: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * items.length);
  larger.set(items);
  return larger;
}

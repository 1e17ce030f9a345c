import type { RowIterator, RowQuery } from '../../core/ports/ordered-rows.ts';
import { encodeKey } from './key-code.ts';

/** Up to `count` rows of a range of key codes; `to` is exclusive. */
export type ReadPage = (from: Buffer, to: Buffer, count: number) => Promise<readonly (readonly Buffer[])[]>;

/** Rows per page of `all`. */
const PAGE = 1_000;
/** Sorts after the codes of all keys, because the word of the highest byte of UTF-8 is not all ones. */
const END = Buffer.alloc(4, 0xff);
const ZERO = Buffer.from([0]);

/** An iterator over pages that are read on demand, each from the key at which the one before ended. */
export class KeysetRows<Row> implements RowIterator<Row> {
  readonly #read: ReadPage;
  readonly #show: (row: readonly Buffer[]) => Row;
  readonly #release: () => Promise<void>;
  readonly #reverse: boolean;
  #from: Buffer;
  #to: Buffer;
  #left: number;
  #isDone = false;

  constructor(query: RowQuery, read: ReadPage, show: (row: readonly Buffer[]) => Row, release: () => Promise<void>) {
    this.#read = read;
    this.#show = show;
    this.#release = release;
    this.#reverse = query.reverse ?? false;
    this.#from = encodeKey(query.gte ?? '');
    this.#to = query.lt === undefined ? END : encodeKey(query.lt);
    this.#left = query.limit === undefined || query.limit < 0 ? Number.POSITIVE_INFINITY : query.limit;
  }

  async nextv(size: number): Promise<Row[]> {
    const count = Math.min(size, this.#left);
    if (this.#isDone || count <= 0) return [];
    const rows = await this.#read(this.#from, this.#to, count);
    this.#left -= rows.length;
    const end = rows.at(-1)?.[0];
    if (end === undefined || rows.length < count) this.#isDone = true;
    else if (this.#reverse) this.#to = end;
    else this.#from = Buffer.concat([end, ZERO]);
    return rows.map(this.#show);
  }

  async all(): Promise<Row[]> {
    const all: Row[] = [];
    try {
      for (;;) {
        const rows = await this.nextv(PAGE);
        if (rows.length === 0) return all;
        for (const row of rows) all.push(row);
      }
    } finally {
      await this.close();
    }
  }

  seek(key: string): void {
    this.#isDone = false;
    this.#from = encodeKey(key);
  }

  close(): Promise<void> {
    this.#isDone = true;
    return this.#release();
  }
}

import type { RowIterator, RowQuery } from '../../ports/ordered-rows.ts';

/** Up to `count` rows from a place on, in the order asked for; places in the syntax of ZRANGEBYLEX. */
export type ReadPage<Row> = (first: string, last: string, count: number) => Promise<readonly Row[]>;

/** Rows per page of `all`. */
const PAGE = 1_000;

/** An iterator over pages that are read on demand. */
export class PagedRows<Row> implements RowIterator<Row> {
  readonly #read: ReadPage<Row>;
  readonly #keyOf: (row: Row) => string;
  readonly #reverse: boolean;
  readonly #release: () => Promise<void>;
  #first: string;
  #last: string;
  #left: number;
  #isDone = false;

  constructor(query: RowQuery, read: ReadPage<Row>, keyOf: (row: Row) => string, release: () => Promise<void>) {
    this.#read = read;
    this.#keyOf = keyOf;
    this.#release = release;
    this.#reverse = query.reverse ?? false;
    this.#first = query.gte === undefined ? '-' : `[${query.gte}`;
    this.#last = query.lt === undefined ? '+' : `(${query.lt}`;
    this.#left = query.limit === undefined || query.limit < 0 ? Number.POSITIVE_INFINITY : query.limit;
  }

  async nextv(size: number): Promise<Row[]> {
    const count = Math.min(size, this.#left);
    if (this.#isDone || count <= 0) return [];
    const rows = await this.#read(this.#first, this.#last, count);
    const end = rows.at(-1);
    if (end === undefined) {
      this.#isDone = true;
      return [];
    }
    this.#left -= rows.length;
    const passed = `(${this.#keyOf(end)}`;
    if (this.#reverse) this.#last = passed;
    else this.#first = passed;
    return [...rows];
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
    this.#first = `[${key}`;
  }

  close(): Promise<void> {
    this.#isDone = true;
    return this.#release();
  }
}

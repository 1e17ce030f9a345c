/**
 * Rows in the byte order of their UTF-8 keys: the store below a crawl db. The methods are those of `level`,
 * and each rejects with a `CrawlError` (`disk-full`, `db-readonly`, `db-corrupt`, ..) whose `cause` is the store's own
 * error; a `TypeError` is a mistake of the caller.
 */
export interface OrderedRows {
  get(key: string): Promise<Buffer | undefined>;
  /** Values in the order of the keys. */
  getMany(keys: string[], options?: { readonly snapshot?: RowSnapshot }): Promise<(Buffer | undefined)[]>;
  hasMany(keys: string[]): Promise<boolean[]>;
  put(key: string, value: Buffer, options?: { readonly sync?: boolean }): Promise<void>;
  del(key: string): Promise<void>;
  /** A batch; its writes take effect atomically when `write` is called. */
  batch(): RowBatch;
  batch(writes: RowWrite[], options?: { readonly sync?: boolean }): Promise<void>;
  /** Removes the rows of a range, not atomically. */
  clear(range: { readonly gte: string; readonly lt: string }): Promise<void>;
  /** The rows of a range as of now, or of the given snapshot. */
  iterator(range: RowQuery): RowIterator<[string, Buffer]>;
  keys(range: RowQuery): RowIterator<string>;
  snapshot(): RowSnapshot;
  close(): Promise<void>;
}

export type RowWrite =
  | { readonly type: 'put'; readonly key: string; readonly value: Buffer }
  | { readonly type: 'del'; readonly key: string };

export interface RowQuery {
  readonly gte?: string;
  readonly lt?: string;
  readonly reverse?: boolean;
  /** Maximum number of rows; -1: all. */
  readonly limit?: number;
  /** Read-ahead in bytes; a hint. */
  readonly highWaterMarkBytes?: number;
  /** Default: the time of the call. */
  readonly snapshot?: RowSnapshot;
}

export interface RowIterator<Row> {
  /** Up to `size` rows; none at the end. */
  nextv(size: number): Promise<Row[]>;
  /** All remaining rows; closes the iterator. */
  all(): Promise<Row[]>;
  /** Moves to the first key at or after `key`. */
  seek(key: string): void;
  close(): Promise<void>;
}

export interface RowBatch {
  put(key: string, value: Buffer): unknown;
  del(key: string): unknown;
  /** `sync` also waits for the disk. */
  write(options?: { readonly sync?: boolean }): Promise<void>;
  close(): Promise<void>;
}

/** All rows as of the time it was taken. Must be closed. */
export interface RowSnapshot {
  close(): Promise<void>;
}

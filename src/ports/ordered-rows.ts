/**
 * Rows under text keys, in the order of the bytes of their keys in UTF-8: what a crawl db is built on. The methods are
 * those of `level`, so that LevelDB is one of them as it is. Rejections are the store's own errors, or `CrawlError`.
 */
export interface OrderedRows {
  get(key: string): Promise<Buffer | undefined>;
  /** Values in the order of the keys. */
  getMany(keys: string[], options?: { readonly snapshot?: RowSnapshot }): Promise<(Buffer | undefined)[]>;
  hasMany(keys: string[]): Promise<boolean[]>;
  put(key: string, value: Buffer, options?: { readonly sync?: boolean }): Promise<void>;
  del(key: string): Promise<void>;
  /** Writes that take effect as a whole or not at all, once `write` is called. */
  batch(): RowBatch;
  batch(writes: RowWrite[], options?: { readonly sync?: boolean }): Promise<void>;
  /** Removes the rows of a range; not as a whole. */
  clear(range: { readonly gte: string; readonly lt: string }): Promise<void>;
  /** The rows of a range as they are now, whatever is written meanwhile. */
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
  /** Most rows; -1: all. */
  readonly limit?: number;
  /** Bytes to be read ahead; advice only. */
  readonly highWaterMarkBytes?: number;
  /** Default: the time of the call. */
  readonly snapshot?: RowSnapshot;
}

export interface RowIterator<Row> {
  /** Up to so many rows; none at the end. */
  nextv(size: number): Promise<Row[]>;
  /** All that are left; closes the iterator. */
  all(): Promise<Row[]>;
  /** Goes on at the first key that is not before `key`. */
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

/** All rows as they were when it was taken; to be closed. */
export interface RowSnapshot {
  close(): Promise<void>;
}

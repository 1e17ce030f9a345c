import type { Level } from 'level';
import type { OrderedRows, RowBatch, RowIterator, RowQuery, RowSnapshot, RowWrite } from '../../ports/ordered-rows.ts';
import { crawlDbError } from './level-errors.ts';

/** The rows of an open LevelDB. Its errors come as `CrawlError`; see {@link crawlDbError}. */
export class LevelRows implements OrderedRows {
  /** Typed as the port: the snapshots that it is given are its own. */
  readonly #db: OrderedRows;

  constructor(db: Level<string, Buffer>) {
    this.#db = db;
  }

  get(key: string): Promise<Buffer | undefined> {
    return mapped(() => this.#db.get(key));
  }

  getMany(keys: string[], options: { readonly snapshot?: RowSnapshot } = {}): Promise<(Buffer | undefined)[]> {
    return mapped(() => this.#db.getMany(keys, options));
  }

  hasMany(keys: string[]): Promise<boolean[]> {
    return mapped(() => this.#db.hasMany(keys));
  }

  put(key: string, value: Buffer, options: { readonly sync?: boolean } = {}): Promise<void> {
    return mapped(() => this.#db.put(key, value, options));
  }

  del(key: string): Promise<void> {
    return mapped(() => this.#db.del(key));
  }

  batch(): RowBatch;
  batch(writes: RowWrite[], options?: { readonly sync?: boolean }): Promise<void>;
  batch(writes?: RowWrite[], options: { readonly sync?: boolean } = {}): RowBatch | Promise<void> {
    if (writes !== undefined) return mapped(() => this.#db.batch(writes, options));
    const native = opened(() => this.#db.batch());
    return {
      put: (key, value) => native.put(key, value),
      del: (key) => native.del(key),
      write: (settings) => mapped(() => native.write(settings)),
      close: () => native.close(),
    };
  }

  clear(range: { readonly gte: string; readonly lt: string }): Promise<void> {
    return mapped(() => this.#db.clear(range));
  }

  iterator(range: RowQuery): RowIterator<[string, Buffer]> {
    return iterating(opened(() => this.#db.iterator(range)));
  }

  keys(range: RowQuery): RowIterator<string> {
    return iterating(opened(() => this.#db.keys(range)));
  }

  snapshot(): RowSnapshot {
    return opened(() => this.#db.snapshot());
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}

function iterating<Row>(native: RowIterator<Row>): RowIterator<Row> {
  return {
    nextv: (size) => mapped(() => native.nextv(size)),
    all: () => mapped(() => native.all()),
    seek: (key) => native.seek(key),
    close: () => native.close(),
  };
}

/** A closed LevelDB throws at once instead of rejecting. */
function opened<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw crawlDbError(error);
  }
}

async function mapped<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw crawlDbError(error);
  }
}

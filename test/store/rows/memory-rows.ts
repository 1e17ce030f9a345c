import type { OrderedRows, RowBatch, RowWrite } from '../../../src/core/ports/ordered-rows.ts';

/** Rows in memory; reads take a turn of the event loop, so that writes come between. */
export class MemoryRows {
  readonly values = new Map<string, Buffer>();
  /** Sizes of the batches so far, in rows. */
  readonly batches: number[] = [];
  /** Keys that were asked for so far. */
  asked = 0;

  open(): OrderedRows {
    const write = async (writes: readonly RowWrite[]): Promise<void> => {
      this.batches.push(writes.length);
      for (const each of writes) {
        if (each.type === 'put') this.values.set(each.key, each.value);
        else this.values.delete(each.key);
      }
    };
    function batch(): RowBatch;
    function batch(writes: RowWrite[]): Promise<void>;
    function batch(writes?: RowWrite[]): RowBatch | Promise<void> {
      if (writes !== undefined) return write(writes);
      const staged: RowWrite[] = [];
      return {
        put: (key, value) => staged.push({ type: 'put', key, value }),
        del: (key) => staged.push({ type: 'del', key }),
        write: () => write(staged),
        close: async () => {},
      };
    }
    const inRange = ({ gte = '', lt = '\uffff' }): string[] =>
      [...this.values.keys()].filter((key) => key >= gte && key < lt).sort();
    return {
      get: async (key) => this.values.get(key),
      getMany: async (keys) => {
        this.asked += keys.length;
        await new Promise(setImmediate);
        return keys.map((key) => this.values.get(key));
      },
      hasMany: async (keys) => keys.map((key) => this.values.has(key)),
      put: (key, value) => write([{ type: 'put', key, value }]),
      del: (key) => write([{ type: 'del', key }]),
      batch,
      clear: (range) => write(inRange(range).map((key) => ({ type: 'del', key }))),
      iterator: (query) => iterating(inRange(query).map((key): [string, Buffer] => [key, this.values.get(key)!])),
      keys: (query) => iterating(inRange(query)),
      snapshot: () => {
        throw new TypeError('memory rows have no snapshots');
      },
      close: async () => {},
    };
  }
}

function iterating<Row>(rows: Row[]) {
  return {
    nextv: async (size: number) => rows.splice(0, size),
    all: async () => rows.splice(0),
    seek: () => {
      throw new TypeError('memory rows are read in order');
    },
    close: async () => {},
  };
}

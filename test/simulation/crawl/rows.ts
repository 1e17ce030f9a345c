import type {
  OrderedRows,
  RowBatch,
  RowIterator,
  RowQuery,
  RowSnapshot,
  RowWrite,
} from '../../../src/core/ports/ordered-rows.ts';
import { ROW } from '../../../src/store/rows/codecs/keys.ts';
import type { CrashKind } from './disk.ts';
import type { Fate } from './fate.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface RowsDeps {
  readonly fate: Fate;
  readonly clock: VirtualClock;
  readonly random: () => number;
}

/** The rows of one moment. Neither is changed in place while it is shared. */
interface Version {
  readonly keys: readonly string[];
  readonly values: ReadonlyMap<string, Buffer>;
}

/**
 * Ordered rows with the crash semantics of LevelDB's log: a batch is there as a whole or not at all, and a crash of the
 * machine loses the last batches that no sync has followed, never one before a batch that stays. Opening makes durable
 * what an earlier process wrote: it recovers the log into a table, which is synced.
 */
export class SimulatedRows {
  readonly #deps: RowsDeps;
  #keys: readonly string[] = [];
  #values = new Map<string, Buffer>();
  #isShared = false;
  /** Rows as of the last sync, and the batches since then. */
  readonly #synced = new Map<string, Buffer>();
  #unsynced: (readonly RowWrite[])[] = [];
  /** Number of batches before the first of `#unsynced`. */
  #syncedBatches = 0;

  constructor(deps: RowsDeps) {
    this.#deps = deps;
  }

  /** What the next process finds. */
  crash(kind: CrashKind): void {
    if (kind === 'kill') return;
    const kept = Math.floor(this.#deps.random() * (this.#unsynced.length + 1));
    this.#keep(kept);
    this.#unsynced = [];
    this.#values = new Map(this.#synced);
    this.#keys = [...this.#values.keys()].sort();
    this.#isShared = false;
  }

  /** The rows as one process uses them. */
  open(): OrderedRows {
    const { fate } = this.#deps;
    this.#keep(this.#unsynced.length);
    const up = async <T>(read: () => T): Promise<T> => (fate.isDown ? never<T>() : read());
    const write = (writes: readonly RowWrite[], sync: boolean): Promise<void> => this.#write(writes, sync);
    const present = (): Version => ({ keys: this.#keys, values: this.#values });
    const shared = (): Version => {
      this.#isShared = true;
      return present();
    };
    function batch(): RowBatch;
    function batch(writes: RowWrite[], options?: { readonly sync?: boolean }): Promise<void>;
    function batch(writes?: RowWrite[], options: { readonly sync?: boolean } = {}): RowBatch | Promise<void> {
      if (writes !== undefined) return write(writes, options.sync ?? false);
      const staged: RowWrite[] = [];
      return {
        put: (key, value) => staged.push({ type: 'put', key, value: Buffer.from(value) }),
        del: (key) => staged.push({ type: 'del', key }),
        write: (settings = {}) => write(staged, settings.sync ?? false),
        close: async () => {},
      };
    }
    return {
      get: (key) => up(() => this.#values.get(key)),
      getMany: (keys, { snapshot } = {}) =>
        up(() => keys.map((key) => (versionOf(snapshot) ?? present()).values.get(key))),
      hasMany: (keys) => up(() => keys.map((key) => this.#values.has(key))),
      put: (key, value, { sync = false } = {}) => write([{ type: 'put', key, value: Buffer.from(value) }], sync),
      del: (key) => write([{ type: 'del', key }], false),
      batch,
      clear: (range) =>
        write(
          keysIn(present(), range).map((key) => ({ type: 'del', key })),
          false,
        ),
      iterator: (query) => {
        const version = versionOf(query.snapshot) ?? present();
        const rows = keysIn(version, query).map((key): [string, Buffer] => [key, version.values.get(key) as Buffer]);
        return iterating(rows, ([key]) => key, up);
      },
      keys: (query) => iterating(keysIn(versionOf(query.snapshot) ?? present(), query), (key) => key, up),
      snapshot: () => new VersionSnapshot(shared()),
      close: async () => {},
    };
  }

  async #write(writes: readonly RowWrite[], sync: boolean): Promise<void> {
    const { fate, clock, random } = this.#deps;
    if (fate.isDown) return never();
    for (const each of writes) {
      if (each.type === 'put' && each.value.length === 0 && !each.key.startsWith(ROW.meta))
        throw new TypeError(`the value of ${each.key} is empty, which leaks memory: see KEY_ONLY`);
    }
    if (fate.isLast(`batch of ${writes.length} rows${sync ? ', synced' : ''}`)) {
      if (random() < 0.5) this.#take(writes);
      return never();
    }
    const batches = this.#take(writes);
    if (sync || random() < 0.2) await clock.sleep(Math.ceil(random() * (sync ? 20 : 3)));
    if (fate.isDown) return never();
    if (!sync) return;
    this.#keep(Math.max(0, batches - this.#syncedBatches));
  }

  /** The oldest batches that were not synced, so many, are. */
  #keep(batches: number): void {
    for (const each of this.#unsynced.splice(0, batches)) applyTo(this.#synced, each);
    this.#syncedBatches += batches;
  }

  /** Resolves with the number of batches so far. */
  #take(writes: readonly RowWrite[]): number {
    if (this.#isShared) this.#values = new Map(this.#values);
    this.#isShared = false;
    let isSameSet = true;
    for (const { type, key } of writes) if (this.#values.has(key) !== (type === 'put')) isSameSet = false;
    applyTo(this.#values, writes);
    if (!isSameSet) this.#keys = mergedKeys(this.#keys, this.#values, writes);
    this.#unsynced.push(writes);
    return this.#syncedBatches + this.#unsynced.length;
  }
}

class VersionSnapshot implements RowSnapshot {
  readonly version: Version;

  constructor(version: Version) {
    this.version = version;
  }

  async close(): Promise<void> {}
}

const versionOf = (snapshot: RowSnapshot | undefined): Version | undefined =>
  snapshot instanceof VersionSnapshot ? snapshot.version : undefined;

/** What an ended process waits for. */
const never = <T>(): Promise<T> => new Promise<T>(() => {});

function applyTo(values: Map<string, Buffer>, writes: readonly RowWrite[]): void {
  for (const write of writes) {
    if (write.type === 'put') values.set(write.key, write.value);
    else values.delete(write.key);
  }
}

/** The keys after a batch, in order. */
function mergedKeys(
  before: readonly string[],
  values: ReadonlyMap<string, Buffer>,
  writes: readonly RowWrite[],
): readonly string[] {
  const touched = [...new Set(writes.map(({ key }) => key))].sort();
  const merged: string[] = [];
  let at = 0;
  for (const key of touched) {
    while (at < before.length && (before[at] as string) < key) merged.push(before[at++] as string);
    if (before[at] === key) at++;
    if (values.has(key)) merged.push(key);
  }
  for (; at < before.length; at++) merged.push(before[at] as string);
  return merged;
}

/** The first index whose key is not below. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function keysIn({ keys }: Version, { gte, lt, reverse = false, limit = -1 }: RowQuery): string[] {
  const from = gte === undefined ? 0 : lowerBound(keys, gte);
  const to = lt === undefined ? keys.length : lowerBound(keys, lt);
  if (limit >= 0 && !reverse) return keys.slice(from, Math.min(to, from + limit));
  const range = keys.slice(from, to);
  if (reverse) range.reverse();
  return limit >= 0 ? range.slice(0, limit) : range;
}

function iterating<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  up: <T>(read: () => T) => Promise<T>,
): RowIterator<Row> {
  let at = 0;
  const take = (size: number): Row[] => {
    const taken = rows.slice(at, at + size);
    at += taken.length;
    return taken;
  };
  return {
    nextv: (size) => up(() => take(size)),
    all: () => up(() => take(rows.length)),
    seek(key) {
      const found = rows.findIndex((row) => keyOf(row) >= key);
      at = found === -1 ? rows.length : found;
    },
    close: async () => {},
  };
}

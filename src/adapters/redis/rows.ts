import { readingOnly, tokenIsOld } from '../../domain/lease-errors.ts';
import type { StoredRows } from '../../ports/cluster/shared-store.ts';
import type { RowBatch, RowIterator, RowQuery, RowSnapshot, RowWrite } from '../../ports/ordered-rows.ts';
import { connectionFault, type RedisClient } from './connect.ts';
import { hashTag } from './hash-tag.ts';
import { redisError } from './redis-errors.ts';
import { flagsIn, isDone, type PageReply, pageIn, valuesIn } from './replies.ts';
import { PagedRows } from './row-iterator.ts';
import { HAS, PAGE, READ_AT, WRITE } from './row-scripts.ts';
import { lostSnapshot, RedisSnapshot, SNAPSHOT_LIFE_MS } from './row-snapshot.ts';
import { runReplicated } from './run-replicated.ts';
import { runScript } from './run-script.ts';

export interface RedisRowsOptions {
  readonly redis: RedisClient;
  /** Prefix of all keys, in braces: they are on one node of a cluster. */
  readonly name: string;
  /** Token of the write lease; `null`: read-only. */
  readonly token: string | null;
}

type Row = readonly [key: Buffer, value: Buffer];

/** Keys removed per script of `clear`. */
const CLEAR_WINDOW = 1_000;

/**
 * The rows of a crawl db in Redis. A batch is one script, which refuses a writer whose token is not the newest: a
 * writer that was paused beyond its lease changes nothing. Readers see the state after the last batch; iterators and
 * snapshots do not see later ones.
 */
export class RedisRows implements StoredRows {
  readonly #redis: RedisClient;
  readonly #own: string | null;
  readonly #order: string;
  readonly #values: string;
  readonly #token: string;
  readonly #snaps: string;

  constructor({ redis, name, token }: RedisRowsOptions) {
    this.#redis = redis;
    this.#own = token;
    this.#order = `${hashTag(name)}:db:order`;
    this.#values = `${hashTag(name)}:db:values`;
    this.#token = `${hashTag(name)}:db:token`;
    this.#snaps = `${hashTag(name)}:db:snaps`;
  }

  async isEmpty(): Promise<boolean> {
    return (await this.keys({ limit: 1 }).all()).length === 0;
  }

  async get(key: string): Promise<Buffer | undefined> {
    const [value] = await this.getMany([key]);
    return value;
  }

  async getMany(
    keys: string[],
    { snapshot }: { readonly snapshot?: RowSnapshot } = {},
  ): Promise<(Buffer | undefined)[]> {
    if (keys.length === 0) return [];
    const found =
      snapshot === undefined
        ? await this.#redis.hmgetBuffer(this.#values, ...keys).catch((error: unknown) => {
            throw redisError(error, connectionFault(this.#redis));
          })
        : await this.#read(READ_AT, [this.#values, this.#snaps], [await idOf(snapshot), ...keys]);
    if (found === null && snapshot !== undefined) throw lostSnapshot();
    return valuesIn(found, keys.length);
  }

  async hasMany(keys: string[]): Promise<boolean[]> {
    if (keys.length === 0) return [];
    return flagsIn(await this.#read(HAS, [this.#values], keys), keys.length);
  }

  put(key: string, value: Buffer, _options?: { readonly sync?: boolean }): Promise<void> {
    return this.#write(new Map([[key, value]]));
  }

  del(key: string): Promise<void> {
    return this.#write(new Map([[key, null]]));
  }

  batch(): RowBatch;
  batch(writes: RowWrite[]): Promise<void>;
  batch(writes?: RowWrite[]): RowBatch | Promise<void> {
    const staged = new Map<string, Buffer | null>();
    if (writes !== undefined) {
      for (const write of writes) staged.set(write.key, write.type === 'put' ? write.value : null);
      return this.#write(staged);
    }
    return {
      put: (key, value) => staged.set(key, value),
      del: (key) => staged.set(key, null),
      write: () => this.#write(staged),
      close: async () => staged.clear(),
    };
  }

  async clear(range: { readonly gte: string; readonly lt: string }): Promise<void> {
    for (;;) {
      const keys = await this.keys({ ...range, limit: CLEAR_WINDOW }).all();
      if (keys.length === 0) return;
      await this.#write(new Map(keys.map((key) => [key, null])));
    }
  }

  iterator(query: RowQuery): RowIterator<[string, Buffer]> {
    return this.#iterate(
      query,
      true,
      ([key, value]) => [key.toString(), value],
      ([key]) => key,
    );
  }

  keys(query: RowQuery): RowIterator<string> {
    return this.#iterate(
      query,
      false,
      ([key]) => key.toString(),
      (key) => key,
    );
  }

  snapshot(): RowSnapshot {
    const snapshot = new RedisSnapshot(this.#redis, this.#snaps);
    snapshot.take();
    return snapshot;
  }

  /** The connection belongs to the store, and snapshots have their own ends. */
  async close(): Promise<void> {}

  #iterate<Shown>(
    query: RowQuery,
    withValues: boolean,
    show: (row: Row) => Shown,
    keyOf: (shown: Shown) => string,
  ): RowIterator<Shown> {
    const { snapshot: given, reverse = false } = query;
    let own: RedisSnapshot | null = null;
    let isFirst = true;
    const read = async (first: string, last: string, count: number): Promise<Shown[]> => {
      const snapshot = given ?? own ?? new RedisSnapshot(this.#redis, this.#snaps);
      const id = await idOf(snapshot);
      let from = first;
      let to = last;
      for (;;) {
        // Where all rows of the range fit in one page no snapshot is needed, unless the caller has one.
        const isTaking = isFirst && given === undefined;
        if (!isTaking && given === undefined && own === null) return [];
        const args = [from, to, count, Number(reverse), Number(withValues), id, SNAPSHOT_LIFE_MS];
        const reply = await this.#read(PAGE, [this.#order, this.#values, this.#snaps], [...args, Number(isTaking)]);
        isFirst = false;
        const page = mergedPage(pageIn(reply, { first: from, last: to, count, withValues }), count, reverse);
        if (isTaking && page.isKept) {
          own = snapshot as RedisSnapshot;
          own.keep();
        }
        if (page.rows.length > 0 || page.passed === null) return page.rows.slice(0, count).map(show);
        if (reverse) to = `(${page.passed}`;
        else from = `(${page.passed}`;
      }
    };
    return new PagedRows<Shown>(query, read, keyOf, async () => {
      await own?.close();
    });
  }

  async #write(writes: ReadonlyMap<string, Buffer | null>): Promise<void> {
    if (this.#own === null) throw readingOnly();
    if (writes.size === 0) return;
    const puts: (string | Buffer)[] = [];
    const removed: string[] = [];
    for (const [key, value] of writes) {
      if (value === null) removed.push(key);
      else puts.push(key, value);
    }
    const keys = [this.#order, this.#values, this.#token, this.#snaps];
    const args = [this.#own, puts.length / 2, ...puts, ...removed];
    const done = await runReplicated(this.#redis, WRITE, keys, args);
    if (!isDone(done)) throw tokenIsOld();
  }

  #read(script: string, keys: readonly string[], args: readonly (string | number | Buffer)[]): Promise<unknown> {
    return runScript(this.#redis, script, keys, args);
  }
}

const NO_VALUE = Buffer.alloc(0);
/** First byte of the old state of a row that existed. */
const PRESENT = 0x31;

/** A page as of its snapshot. `passed`: the key up to which the range was read; `null`: to its end. */
function mergedPage(
  { isLost, isKept, keys, values, own, was }: PageReply,
  count: number,
  reverse: boolean,
): { readonly rows: Row[]; readonly passed: string | null; readonly isKept: boolean } {
  if (isLost) throw lostSnapshot();
  const order = (a: Buffer, b: Buffer): number => (reverse ? Buffer.compare(b, a) : Buffer.compare(a, b));
  const ends = [keys, own].filter((list) => list.length === count).map((list) => list[count - 1] as Buffer);
  const end = ends.sort(order)[0] ?? null;
  const rows: Row[] = [];
  let at = 0;
  let ownAt = 0;
  while (at < keys.length || ownAt < own.length) {
    const key = keys[at];
    const changed = own[ownAt];
    const isChanged = changed !== undefined && (key === undefined || order(changed, key) <= 0);
    const next = (isChanged ? changed : key) as Buffer;
    if (end !== null && order(next, end) > 0) break;
    if (isChanged) {
      const mark = was[ownAt++] as Buffer;
      if (key !== undefined && order(changed, key) === 0) at++;
      if (mark[0] === PRESENT) rows.push([next, mark.subarray(1)]);
    } else {
      rows.push([next, values[at++] ?? NO_VALUE]);
    }
  }
  return { rows, passed: end === null ? null : end.toString(), isKept };
}

/** The id of a snapshot, once it is taken. */
async function idOf(snapshot: RowSnapshot): Promise<string> {
  if (!(snapshot instanceof RedisSnapshot)) throw new TypeError('a snapshot of these rows was expected');
  await snapshot.ready;
  return snapshot.id;
}

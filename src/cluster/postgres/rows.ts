import { randomUUID } from 'node:crypto';
import { readingOnly, tokenIsOld } from '../../core/domain/errors.ts';
import type { RowBatch, RowIterator, RowQuery, RowSnapshot, RowWrite } from '../../core/ports/ordered-rows.ts';
import type { StoredRows } from '../ports/shared-store.ts';
import { byteaArray } from './bytea-array.ts';
import type { Database } from './database.ts';
import { decodeKey, encodeKey } from './key-code.ts';
import { causeOfNoTable } from './moves.ts';
import type { PgQuery, PgResult } from './pg.ts';
import { KeysetRows } from './row-iterator.ts';
import { PostgresSnapshot } from './row-snapshot.ts';
import { type RowStatements, rowStatements } from './row-statements.ts';
import { knownPart, tableOf } from './schema.ts';

export interface PostgresRowsOptions {
  readonly db: Database;
  readonly name: string;
  /** Token of the write lease; `null`: read-only. */
  readonly token: string | null;
}

/** The table of the rows and the statements on it. */
interface Table {
  readonly part: number;
  readonly statements: RowStatements;
}

type Row = readonly Buffer[];
type Run = (query: PgQuery) => Promise<PgResult>;

/** Keys removed per batch of `clear`. */
const CLEAR_WINDOW = 10_000;

/**
 * The rows of a crawl db in a table of PostgreSQL, under the codes of their keys. A batch is one statement, so one
 * transaction. It refuses a writer whose token is not the newest, so a writer that was paused beyond its lease changes
 * nothing. Readers see the state after the last batch; iterators and snapshots do not see later ones.
 */
export class PostgresRows implements StoredRows {
  readonly #db: Database;
  readonly #name: string;
  readonly #token: string | null;
  #known: Promise<Table | null> | null = null;
  /** The batch under way, and the snapshots being taken, which must not contain it. */
  #before: Promise<unknown> = Promise.resolve();

  constructor({ db, name, token }: PostgresRowsOptions) {
    this.#db = db;
    this.#name = name;
    this.#token = token;
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
    const table = await this.#table();
    if (keys.length === 0 || table === null) return keys.map(() => undefined);
    const { rows } = await this.#runIn(snapshot)({ ...table.statements.get, values: [codesOf(keys)] });
    const found = new Array<Buffer | undefined>(keys.length).fill(undefined);
    for (const [place, value] of rows as readonly [number, Buffer][]) found[place - 1] = value;
    return found;
  }

  async hasMany(keys: string[]): Promise<boolean[]> {
    const table = await this.#table();
    if (keys.length === 0 || table === null) return keys.map(() => false);
    const { rows } = await this.#runIn(undefined)({ ...table.statements.has, values: [codesOf(keys)] });
    const found = new Array<boolean>(keys.length).fill(false);
    for (const [place] of rows as readonly [number][]) found[place - 1] = true;
    return found;
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

  async clear({ gte, lt }: { readonly gte: string; readonly lt: string }): Promise<void> {
    for (;;) {
      const keys = await this.keys({ gte, lt, limit: CLEAR_WINDOW }).all();
      await this.#write(new Map(keys.map((key) => [key, null])));
      if (keys.length < CLEAR_WINDOW) return;
    }
  }

  iterator(query: RowQuery): RowIterator<[string, Buffer]> {
    return this.#iterate(query, true, ([key, value]) => [decodeKey(key as Buffer), value as Buffer]);
  }

  keys(query: RowQuery): RowIterator<string> {
    return this.#iterate(query, false, ([key]) => decodeKey(key as Buffer));
  }

  snapshot(): RowSnapshot {
    const snapshot = new PostgresSnapshot(this.#db);
    const taken = snapshot.ready.catch(() => {});
    this.#before = this.#before.then(() => taken);
    return snapshot;
  }

  /** Does not close connections: they belong to the store. Snapshots are closed by their owners. */
  async close(): Promise<void> {
    await this.#before;
  }

  #iterate<Shown>(query: RowQuery, withValues: boolean, show: (row: readonly Buffer[]) => Shown): RowIterator<Shown> {
    const { snapshot: given, reverse = false, limit = -1 } = query;
    let own: PostgresSnapshot | null = null;
    /** All rows of the range, if they fitted in the first page: they are not read again. */
    let all: readonly Row[] | null = null;
    let left = limit < 0 ? Number.POSITIVE_INFINITY : limit;
    const read = async (from: Buffer, to: Buffer, count: number): Promise<readonly Row[]> => {
      const rows = all === null ? await readOn(from, to, count) : all.filter(isWithin(from, to)).slice(0, count);
      left -= rows.length;
      return rows;
    };
    const readOn = async (from: Buffer, to: Buffer, count: number): Promise<readonly Row[]> => {
      const table = await this.#table();
      if (table === null) {
        all = [];
        return all;
      }
      const statement = table.statements.page(reverse, withValues);
      const page = async (run: Run, size: number): Promise<readonly Row[]> =>
        (await run({ ...statement, values: [from, to, size] })).rows as readonly Row[];
      if (given !== undefined || own !== null) return page(this.#runIn(given ?? own ?? undefined), count);
      // No snapshot is needed if all that is wanted fits in one page. One more row shows whether it does.
      const rows = await page(this.#runIn(undefined), count + 1);
      if (rows.length <= count) all = rows;
      if (rows.length <= count || left <= count) return rows.slice(0, count);
      const snapshot = new PostgresSnapshot(this.#db);
      own = snapshot;
      return page(this.#runIn(snapshot), count);
    };
    return new KeysetRows<Shown>(query, read, show, async () => {
      await own?.close();
    });
  }

  /** Batches are written one after the other, so that after a broken connection the last one is known. */
  #write(writes: ReadonlyMap<string, Buffer | null>): Promise<void> {
    if (this.#token === null) return Promise.reject(readingOnly());
    const written = this.#before.then(() => this.#writeNext(writes, this.#token as string));
    this.#before = written.catch(() => {});
    return written;
  }

  async #writeNext(writes: ReadonlyMap<string, Buffer | null>, token: string): Promise<void> {
    const table = await this.#table();
    if (table === null) throw tokenIsOld();
    if (writes.size === 0) return;
    const keys: string[] = [];
    const values: Buffer[] = [];
    const removed: string[] = [];
    for (const [key, value] of writes) {
      if (value === null) removed.push(key);
      else {
        keys.push(key);
        values.push(value);
      }
    }
    const batch = randomUUID();
    const data = [codesOf(keys), byteaArray(values), codesOf(removed)];
    let isRepeated = false;
    const write = async (): Promise<void> => {
      // The connection may have broken after the commit and before the answer.
      if (isRepeated && (await this.#isWritten(table, batch))) return;
      isRepeated = true;
      const { rows } = await this.#db.once({ ...table.statements.write, values: [table.part, token, batch, ...data] });
      if (rows[0]?.[0] !== true) throw tokenIsOld();
    };
    await this.#db.patiently(write).catch((error: unknown) => causeOfNoTable(this.#db, this.#name, error));
  }

  async #isWritten({ part }: Table, batch: string): Promise<boolean> {
    const { rows } = await this.#db.once({ text: 'SELECT batch FROM incrawl.names WHERE part = $1', values: [part] });
    return rows[0]?.[0] === batch;
  }

  #runIn(snapshot: RowSnapshot | undefined): Run {
    if (snapshot !== undefined && !(snapshot instanceof PostgresSnapshot)) {
      throw new TypeError('a snapshot of these rows was expected');
    }
    const asked = snapshot ?? this.#db;
    return (query) => asked.query(query).catch((error: unknown) => causeOfNoTable(this.#db, this.#name, error));
  }

  async #table(): Promise<Table | null> {
    this.#known ??= this.#find();
    const table = await this.#known.catch((error: unknown) => {
      this.#known = null;
      throw error;
    });
    if (table === null) this.#known = null;
    return table;
  }

  async #find(): Promise<Table | null> {
    const part = await knownPart(this.#db, this.#name);
    return part === null ? null : { part, statements: rowStatements(tableOf(part)) };
  }
}

const codesOf = (keys: readonly string[]): Buffer => byteaArray(keys.map(encodeKey));

const isWithin =
  (from: Buffer, to: Buffer) =>
  ([key]: Row): boolean =>
    key !== undefined && key.compare(from) >= 0 && key.compare(to) < 0;

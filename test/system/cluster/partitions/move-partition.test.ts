import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerStore } from '../../../../src/cluster/ports/shared-store.ts';
import { Database } from '../../../../src/cluster/postgres/database.ts';
import { openPostgresStore } from '../../../../src/cluster/postgres/shared-store.ts';
import { type CrawlStore, openCrawlStore } from '../../../../src/cluster/servers/crawl-store.ts';
import { type MoveSummary, movePartition } from '../../../../src/cluster/servers/move-partition.ts';
import { FIRST_SERVER, ONE_SERVER, serverIn } from '../../../../src/cluster/servers/server-map.ts';
import { WriteLease } from '../../../../src/cluster/workers/write-lease.ts';
import { CrawlError } from '../../../../src/core/domain/errors.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from '../postgres/postgres-server.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;
const LEASE_MS = 200;
const PARTITION = '001';
const DATABASES = ['postgres', 'two', 'three'];

class Death extends Error {}

/** Calls of a process, which ends with one of them: before it has any effect, or after, when nobody hears of it. */
class Life {
  readonly #end: number;
  readonly #isHeard: boolean;
  calls = 0;

  constructor(end: number, isHeard: boolean) {
    this.#end = end;
    this.#isHeard = isHeard;
  }

  async call<Value>(run: () => Promise<Value>): Promise<Value> {
    const at = ++this.calls;
    if (at > this.#end || (at === this.#end && !this.#isHeard)) throw new Death();
    const value = await run();
    if (at === this.#end) throw new Death();
    return value;
  }
}

/** A server, all calls of which are those of a life. */
function mortal(store: ServerStore, life: Life): ServerStore {
  const wrapped = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(of, key) {
        const value = Reflect.get(of, key);
        if (key === 'leases' || key === 'moves') return wrapped(value as object);
        if (typeof value !== 'function' || ['turns', 'close', 'iterator', 'keep'].includes(String(key))) {
          return typeof value === 'function' ? value.bind(of) : value;
        }
        if (key === 'rows') return (...args: unknown[]) => wrapped(value.apply(of, args) as object);
        return (...args: unknown[]) => life.call(() => value.apply(of, args));
      },
    });
  return wrapped(store);
}

describe.skipIf(NO_POSTGRES !== null)(`moving a partition${SKIPPED}`, () => {
  let server: PostgresServer;
  let crawls = 0;
  beforeAll(async () => {
    server = await startPostgres();
    const db = new Database(server.url);
    for (const name of DATABASES.slice(1)) await db.query({ text: `CREATE DATABASE ${name}` });
    await db.close();
  }, 60_000);
  afterAll(() => server?.stop());

  const urlOf = (database: number): string => server.url.replace(/postgres$/, DATABASES[database] as string);
  const opened = (crawl: string, life?: Life): Promise<CrawlStore> =>
    openCrawlStore({ store: server.url, servers: [], name: crawl, leaseMs: LEASE_MS }, (url) => {
      const store = openPostgresStore(url);
      return life === undefined ? store : mortal(store, life);
    });
  const moved = (store: CrawlStore, crawl: string, database: number): Promise<MoveSummary> =>
    movePartition({
      ...{ store, crawl, partition: PARTITION, to: store.named(urlOf(database)), leaseMs: LEASE_MS, waitMs: 10_000 },
      signal: new AbortController().signal,
    });
  const nameIn = (crawl: string): string => `${crawl}:${PARTITION}`;

  /** A new crawl, one partition of which has some rows. */
  async function begun(rows: number): Promise<{ readonly crawl: string; readonly content: Map<string, string> }> {
    const crawl = `moved-${crawls++}`;
    const store = await opened(crawl);
    await store.spread(2);
    const lease = await WriteLease.take({ store, name: nameIn(crawl), leaseMs: LEASE_MS, waitMs: 0 });
    const held = store.rows(nameIn(crawl), lease.token);
    const content = new Map(Array.from({ length: rows }, (_, i) => [`r${i}`, String(i)]));
    await held.batch([...content].map(([key, value]) => ({ type: 'put', key, value: Buffer.from(value) })));
    await store.id(nameIn(crawl), 'its id');
    await held.close();
    await lease.release();
    await store.close();
    return { crawl, content };
  }

  async function contentOf(crawl: string): Promise<Map<string, string>> {
    const store = await opened(crawl);
    expect(await store.id(nameIn(crawl))).toBe('its id');
    const rows = store.rows(nameIn(crawl), null);
    const all = await rows.iterator({}).all();
    await store.close();
    return new Map(all.map(([key, value]) => [key, value.toString()]));
  }

  /** Databases that show the partition to those who ask them, and those that have a table of its rows. */
  async function placesOf(crawl: string): Promise<{ readonly here: number[]; readonly tables: number[] }> {
    const here: number[] = [];
    const tables: number[] = [];
    for (const [database] of DATABASES.entries()) {
      const store = openPostgresStore(urlOf(database));
      if ((await store.moves.whereabouts(nameIn(crawl))) === 'here') here.push(database);
      if ((await store.sizeOf(nameIn(crawl))) > 0) tables.push(database);
      await store.close();
    }
    return { here, tables };
  }

  /** What a worker does: it takes the lease and writes, while another process appends. */
  async function workedOn(store: CrawlStore, crawl: string, content: Map<string, string>, key: string): Promise<void> {
    const lease = await WriteLease.take({ store, name: nameIn(crawl), leaseMs: LEASE_MS, waitMs: 10_000 });
    const rows = store.rows(nameIn(crawl), lease.token);
    await rows.put(key, Buffer.from('written'));
    content.set(key, 'written');
    await rows.close();
    await lease.release();
    await store.append(nameIn(crawl), [{ key: `i${key}`, value: Buffer.from('appended') }]);
    content.set(`i${key}`, 'appended');
  }

  const death = fc.record({
    to: fc.nat(DATABASES.length - 1),
    calls: fc.integer({ min: 1, max: 45 }),
    isHeard: fc.boolean(),
    /** Whether a worker that was there before goes on, and with the map that it has read. */
    works: fc.boolean(),
  });

  it('is whole on exactly one server whenever the process dies, for workers of before and after', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(death, { minLength: 1, maxLength: 4 }), fc.nat(2), async (deaths, last) => {
        const { crawl, content } = await begun(30);
        const worker = await opened(crawl);
        let step = 0;
        for (const { to, calls, isHeard, works } of deaths) {
          const life = new Life(calls, isHeard);
          let mover: CrawlStore | null = null;
          try {
            mover = await opened(crawl, life);
            await moved(mover, crawl, to);
          } catch (error) {
            if (!(error instanceof Death) && (error as CrawlError).code !== 'db-locked') throw error;
          }
          await mover?.close();
          if (works) await workedOn(worker, crawl, content, `w${step++}`);
          expect((await placesOf(crawl)).here.length).toBeLessThanOrEqual(1);
          const fresh = await opened(crawl);
          await workedOn(fresh, crawl, content, `f${step++}`);
          await fresh.close();
          expect((await placesOf(crawl)).here).toHaveLength(1);
          expect(await contentOf(crawl)).toEqual(content);
        }
        const store = await opened(crawl);
        await moved(store, crawl, last);
        const map = await store.readMap();
        expect(store.named(urlOf(last))).toBe(serverIn(map, PARTITION));
        expect(map.moving).toEqual({});
        await store.close();
        await workedOn(worker, crawl, content, 'end');
        await worker.close();
        expect((await placesOf(crawl)).here).toEqual([last]);
        expect(await contentOf(crawl)).toEqual(content);
      }),
      { numRuns: 25 },
    );
  }, 280_000);

  it('removes the old rows, also after a death between the steps', async () => {
    const { crawl, content } = await begun(5);
    let ends = 0;
    for (let calls = 1; ; calls++) {
      const life = new Life(calls, true);
      const target = calls % 2 === 0 ? 2 : 1;
      let mover: CrawlStore | null = null;
      try {
        mover = await opened(crawl, life);
        await moved(mover, crawl, target);
        ends++;
      } catch (error) {
        if (!(error instanceof Death)) throw error;
      }
      await mover?.close();
      const store = await opened(crawl);
      await moved(store, crawl, target);
      await store.close();
      expect((await placesOf(crawl)).here).toEqual([target]);
      if (ends > 1) break;
    }
    const { tables } = await placesOf(crawl);
    expect(tables).toHaveLength(1);
    expect(await contentOf(crawl)).toEqual(content);
  }, 280_000);

  it('does nothing where the partition lies there, and refuses a server that has another crawl', async () => {
    const { crawl, content } = await begun(3);
    const store = await opened(crawl);
    expect(await moved(store, crawl, 0)).toEqual({ from: FIRST_SERVER, outcome: 'present', rows: 0 });
    const other = openPostgresStore(urlOf(1));
    await other.id(crawl, 'another');
    await expect(moved(store, crawl, 1)).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining(`another crawl of the name "${crawl}"`),
    });
    // The server of cluster.store under another URL.
    const to = (url: string): Promise<MoveSummary> =>
      movePartition({
        ...{ store, crawl, partition: PARTITION, to: store.named(url), leaseMs: LEASE_MS, waitMs: 0 },
        signal: new AbortController().signal,
      });
    const again = to(urlOf(0).replace('127.0.0.1', 'localhost'));
    await expect(again).rejects.toMatchObject({ message: expect.stringContaining('under another URL') });
    await expect(to('postgres://127.0.0.1:1/x')).rejects.toMatchObject({ code: 'postgres-unreachable' });
    expect(await store.readMap()).toEqual({ ...ONE_SERVER, partitions: 2 });
    expect((await placesOf(crawl)).here).toEqual([0]);
    expect(await contentOf(crawl)).toEqual(content);
    await other.close();
    await store.close();
  }, 60_000);

  it('waits for the process that holds the partition, and says so', async () => {
    const { crawl } = await begun(3);
    const store = await opened(crawl);
    const held = await WriteLease.take({ store, name: nameIn(crawl), leaseMs: 60_000, waitMs: 0 });
    let waits = 0;
    const move = { store, crawl, partition: PARTITION, to: urlOf(1), leaseMs: LEASE_MS };
    const signal = new AbortController().signal;
    await expect(movePartition({ ...move, signal, waitMs: 0 })).rejects.toBeInstanceOf(CrawlError);
    const done = movePartition({
      ...{ ...move, signal, waitMs: 20_000 },
      onWait: ({ message }) => {
        expect(message).toContain(`process ${process.pid}`);
        waits++;
        void held.release();
      },
    });
    expect(await done).toEqual({ from: FIRST_SERVER, outcome: 'moved', rows: 3 });
    expect(waits).toBe(1);
    await store.close();
  }, 60_000);
});

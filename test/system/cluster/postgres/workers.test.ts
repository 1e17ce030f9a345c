import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SharedStore } from '../../../../src/cluster/ports/shared-store.ts';
import { openPostgresStore } from '../../../../src/cluster/postgres/shared-store.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from './postgres-server.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;

describe.skipIf(NO_POSTGRES !== null)(`what workers tell others, in PostgreSQL${SKIPPED}`, () => {
  let server: PostgresServer;
  let store: SharedStore;
  beforeAll(async () => {
    server = await startPostgres();
    store = openPostgresStore(server.url);
  }, 60_000);
  afterAll(async () => {
    await store?.close();
    await server?.stop();
  });

  const namesOf = (crawl: string, partitions: number): string[] =>
    Array.from({ length: partitions }, (_, i) => `${crawl}:${String(i).padStart(3, '0')}`);
  const reportOf = (visits: number) => ({
    ...{ host: 'alpha', pid: 7, visits, visitsPerSecond: 2.5, bytesReceived: 900, rounds: 1, inFlight: 3, waiting: 4 },
    underWay: [{ partition: 1, stage: 'fetch', urls: 10, done: visits }],
  });

  it('nobody has made tables, or a crawl of this name', async () => {
    expect(await store.workers('nowhere')).toBeNull();
    await store.id('made', 'an-id');
    expect(await store.workers('nowhere')).toBeNull();
    expect(await store.workers('made')).toMatchObject({ workers: [], partitions: [{ name: 'made', holder: null }] });
  });

  it('partitions, those that hold them and what they have left; no other crawl, whatever its name', async () => {
    for (const other of ['crawl', 'crawl:0001', 'crawl:x', 'crawl:shared', 'crawl2', 'craw_'])
      await store.id(other, other);
    const turns = store.turns(namesOf('crawl', 4), 10_000);
    await turns.want([0, 1, 2]);
    await store.leases.take('crawl:001', '{"host":"alpha"}', 10_000);
    for (const turn of await turns.take(4)) {
      const resting = { hosts: 2, urls: 30, next: 'a.example' };
      if (turn.partition === 0) await turns.end(turn, { laterMs: 60_000, resting });
      else await turns.fail(turn, 'db-corrupt: a row');
    }
    const { at, partitions, workers } = (await store.workers('crawl')) ?? { at: 0, partitions: [], workers: [] };
    expect(workers).toEqual([]);
    expect(partitions.map(({ name }) => name)).toEqual(['crawl:000', 'crawl:001', 'crawl:002']);
    const [first, second, third] = partitions;
    expect(first).toMatchObject({
      holder: null,
      until: null,
      fault: null,
      resting: { hosts: 2, urls: 30, next: 'a.example' },
    });
    expect((first?.wantedAt ?? 0) - at).toBeGreaterThan(30_000);
    expect(second).toMatchObject({ holder: '{"host":"alpha"}', failures: 0, resting: null });
    expect((second?.until ?? 0) - at).toBeGreaterThan(0);
    expect(third).toMatchObject({ failures: 1, fault: 'db-corrupt: a row', resting: null });
    // What it had left is told no more once its turn has ended otherwise.
    await turns.want([0]);
    const [again] = await turns.take(1);
    if (again !== undefined) await turns.end(again, 'done');
    expect((await store.workers('crawl'))?.partitions[0]).toMatchObject({ wantedAt: null, resting: null });
    await turns.close();
  });

  it('that a turn cannot be played, and that the server takes no writes, which it cannot note', async () => {
    const turns = store.turns(namesOf('refused', 2), 10_000);
    await turns.want([0, 1]);
    for (const turn of await turns.take(2)) {
      await turns.end(turn, { laterMs: 60_000, ...(turn.partition === 0 && { fault: 'disk-full: no space' }) });
    }
    const faults = async () => (await store.workers('refused'))?.partitions.map(({ fault }) => fault);
    expect(await faults()).toEqual(['disk-full: no space', null]);
    await turns.close();
    await server.refuseWrites(true);
    try {
      await expect.poll(faults).toEqual(Array(2).fill('db-readonly: PostgreSQL takes no writes'));
    } finally {
      await server.refuseWrites(false);
    }
    await expect.poll(faults).toEqual(['disk-full: no space', null]);
  });

  it('workers with their last report; one that ends is gone, one that died or had a fault is told', async () => {
    const names = namesOf('told', 2);
    const [one, other, dead] = [0, 1, 2].map(() => store.turns(names, 1_000));
    if (one === undefined || other === undefined || dead === undefined) throw new TypeError('three were opened');
    await one.want([0]);
    let visits = 1;
    one.tell(() => reportOf(visits));
    await one.state();
    await other.state();
    await dead.state();
    const seen = async () => (await store.workers('told'))?.workers ?? [];
    expect(await seen()).toMatchObject([
      { id: one.worker, isAlive: true, fault: null, report: reportOf(1) },
      { id: other.worker, isAlive: true, report: null },
      { id: dead.worker, isAlive: true, report: null },
    ]);
    visits = 2;
    await expect
      .poll(async () => {
        await one.state();
        return (await seen())[0]?.report?.visits;
      })
      .toBe(2);
    const [first] = await seen();
    expect(first?.heardAt).toBeGreaterThan(first?.since ?? Number.NaN);
    await other.close('disk-full: no space left on /data');
    await expect.poll(async () => (await seen())[2]?.isAlive, { timeout: 10_000 }).toBe(false);
    expect(await seen()).toMatchObject([
      {},
      { isAlive: false, fault: 'disk-full: no space left on /data' },
      { isAlive: false, fault: null },
    ]);
    expect((await one.state()).workers).toBe(1);
    await one.close();
    expect((await seen()).map(({ id }) => id)).toEqual([other.worker, dead.worker]);
    await dead.close();
  }, 30_000);
});

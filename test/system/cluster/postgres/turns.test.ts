import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TURN_PAUSES_MS, type Turns } from '../../../../src/cluster/ports/turns.ts';
import { Database } from '../../../../src/cluster/postgres/database.ts';
import { openPostgresStore } from '../../../../src/cluster/postgres/shared-store.ts';
import { turnsContract } from '../../../contracts/cluster/turns.contract.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from './postgres-server.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;
const PARTITIONS = 16;

describe.skipIf(NO_POSTGRES !== null)(`turns in PostgreSQL${SKIPPED}`, () => {
  let server: PostgresServer;
  let count = 0;
  beforeAll(async () => {
    server = await startPostgres([]);
  }, 60_000);
  afterAll(() => server?.stop());

  const namesOf = (crawl: string): string[] => Array.from({ length: PARTITIONS }, (_, i) => `${crawl}:${i}`);
  const open = async (crawl = `turns-${count}`, leaseMs = 10_000): Promise<Turns> => {
    const store = openPostgresStore(server.url);
    const turns = store.turns(namesOf(crawl), leaseMs);
    return { ...bound(turns), close: () => turns.close().finally(() => store.close()) };
  };

  turnsContract('PostgreSQL', {
    open: () => open(),
    reset: () => {
      count++;
    },
  });

  it('crawls of one database have their own', async () => {
    const names = ['a:b', 'a b', 'x'.repeat(100), `${'x'.repeat(99)}y`];
    const all = await Promise.all(names.map((name) => open(name)));
    await all[0]?.want([0]);
    await all[2]?.want([0, 1]);
    expect(await Promise.all(all.map(async (each) => (await each.state()).open))).toEqual([1, 0, 2, 0]);
    expect(await all[1]?.take(16)).toEqual([]);
    expect(await all[2]?.take(16)).toHaveLength(2);
    for (const each of all) await each.close();
  });

  it('a partition that is held is kept from others, until its lease ends', async () => {
    const turns = await open('held', 10_000);
    const store = openPostgresStore(server.url);
    await store.leases.take('held:1', 'another', 1_000);
    await turns.want([1]);
    expect(await turns.take(1)).toEqual([]);
    const { nextMs } = await turns.state();
    expect(nextMs).toBeGreaterThan(0);
    expect(nextMs).toBeLessThanOrEqual(1_000);
    while ((await turns.take(1)).length === 0) await turns.wait(50, new AbortController().signal);
    await turns.close();
    await store.close();
  });

  it('the turn of a worker that died before it held the partition is taken by another one', async () => {
    const [one, other] = [await open('died', 1_000), await open('died', 1_000)];
    await one.want([7]);
    expect(await one.take(1)).toHaveLength(1);
    expect(await other.take(1)).toEqual([]);
    expect((await other.state()).nextMs).toBeLessThanOrEqual(1_000);
    let taken: readonly unknown[] = [];
    while (taken.length === 0) {
      await other.wait(50, new AbortController().signal);
      taken = await other.take(1);
    }
    expect(taken).toEqual([{ partition: 7, wanted: 1 }]);
    await one.close();
    await other.close();
  });

  it('the pauses of one that fails grow, whoever tries it; what is wanted meanwhile is not lost', async () => {
    const db = new Database(server.url);
    const over = (): Promise<unknown> =>
      db.query({
        text: `UPDATE incrawl.leases SET wanted = now() FROM incrawl.names
          WHERE names.part = leases.part AND name = 'growing:3'`,
      });
    await (await open('growing')).want([3]);
    for (const pauseMs of [...TURN_PAUSES_MS, TURN_PAUSES_MS.at(-1) as number]) {
      const turns = await open('growing');
      await over();
      const [turn] = await turns.take(16);
      expect(turn).toMatchObject({ partition: 3 });
      if (turn !== undefined) await turns.fail(turn, 'internal: no');
      const { nextMs } = await turns.state();
      expect(nextMs).toBeGreaterThan(pauseMs / 2);
      expect(nextMs).toBeLessThanOrEqual(pauseMs);
      await turns.close();
    }
    const turns = await open('growing');
    await over();
    expect(await turns.state()).toMatchObject({ open: 1, nextMs: 0, failed: [{ partition: 3 }] });
    const [turn] = await turns.take(16);
    await turns.want([3]);
    if (turn !== undefined) await turns.end(turn, 'done');
    expect(await turns.state()).toMatchObject({ open: 1, nextMs: 0, failed: [] });
    await turns.close();
    await db.close();
  });

  it('goes on, and is heard again, when the server was killed and is back', async () => {
    const [one, other] = [await open('killed'), await open('killed')];
    const end = new AbortController();
    await one.want([0, 1]);
    await one.wait(200, end.signal);
    const [turn] = await one.take(1);
    await server.kill();
    const asked = one.state();
    await server.again();
    expect((await asked).open).toBe(2);
    if (turn !== undefined) await one.end(turn, 'done');
    expect((await other.state()).open).toBe(1);
    let isWoken = false;
    const waited = (async () => {
      await one.wait(100, end.signal);
      await one.wait(60_000, end.signal);
      isWoken = true;
    })();
    while (!isWoken) {
      await other.want([2]);
      await other.wait(20, end.signal);
    }
    await waited;
    await one.close();
    await other.close();
  }, 60_000);

  it('counts the workers that show signs of life, and wakes the others when one comes or goes', async () => {
    const [one, other] = [await open('workers', 1_000), await open('workers', 1_000)];
    const end = new AbortController();
    expect((await one.state()).workers).toBe(1);
    await one.wait(200, end.signal);
    const woken = one.wait(60_000, end.signal);
    expect((await other.state()).workers).toBe(2);
    await woken;
    expect((await one.state()).workers).toBe(2);
    const left = one.wait(60_000, end.signal);
    await other.close();
    await left;
    expect((await one.state()).workers).toBe(1);
    // One that died is counted for a lease.
    const dead = await open('workers', 1_000);
    await dead.state();
    expect((await one.state()).workers).toBe(2);
    while ((await one.state()).workers > 1) await one.wait(50, end.signal);
    await dead.close();
    await one.close();
  }, 30_000);
});

/** The methods of an object of a class, as functions. */
function bound(turns: Turns): Turns {
  return {
    worker: turns.worker,
    tell: (report) => turns.tell(report),
    want: (partitions) => turns.want(partitions),
    take: (limit) => turns.take(limit),
    end: (turn, result) => turns.end(turn, result),
    fail: (turn, reason) => turns.fail(turn, reason),
    state: () => turns.state(),
    forgetFailed: () => turns.forgetFailed(),
    wait: (ms, signal) => turns.wait(ms, signal),
    close: (fault) => turns.close(fault),
  };
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Turns } from '../../../../src/cluster/ports/turns.ts';
import { type CrawlStore, openCrawlStore } from '../../../../src/cluster/servers/crawl-store.ts';
import { turnsContract } from '../../../contracts/cluster/turns.contract.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from '../postgres/postgres-server.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;
const PARTITIONS = 16;
const LEASE_MS = 10_000;

describe.skipIf(NO_POSTGRES !== null)(`turns on two servers${SKIPPED}`, () => {
  let first: PostgresServer;
  let second: PostgresServer;
  let count = 0;
  beforeAll(async () => {
    [first, second] = await Promise.all([startPostgres(), startPostgres()]);
  }, 60_000);
  afterAll(async () => {
    await first?.stop();
    await second?.stop();
  });

  const opened = async (name: string): Promise<{ readonly turns: Turns; readonly store: CrawlStore }> => {
    const store = await openCrawlStore({ store: first.url, servers: [second.url], name, leaseMs: LEASE_MS });
    await store.spread(PARTITIONS);
    const names = Array.from({ length: PARTITIONS }, (_, i) => `${name}:${String(i).padStart(3, '0')}`);
    return { turns: store.turns(names, LEASE_MS), store };
  };
  const closed = ({ turns, store }: { readonly turns: Turns; readonly store: CrawlStore }): Promise<void> =>
    turns.close().finally(() => store.close());

  turnsContract('PostgreSQL on two servers', {
    async open() {
      const both = await opened(`turns-${count}`);
      const { turns } = both;
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
        close: () => closed(both),
      };
    },
    reset() {
      count++;
    },
  });

  it('a worker is one on all servers, and the partitions of all are shown', async () => {
    const name = 'shown';
    const { turns, store } = await opened(name);
    const report = { host: 'alpha', pid: 7, visits: 1, visitsPerSecond: 0, bytesReceived: 0, rounds: 0 };
    turns.tell(() => ({ ...report, inFlight: 0, waiting: 0, underWay: [] }));
    await turns.want([0, 1, 2, 3]);
    await turns.state();
    const { workers = [], partitions = [] } = (await store.workers(name)) ?? {};
    expect(workers).toMatchObject([{ id: turns.worker, isAlive: true, report }]);
    expect(partitions.map((each) => each.name)).toEqual([0, 1, 2, 3].map((number) => `${name}:00${number}`));
    await turns.close('disk-full: no space');
    expect((await store.workers(name))?.workers).toMatchObject([{ isAlive: false, fault: 'disk-full: no space' }]);
    await store.close();
  });

  it('those of one go on while the other does not answer, whose partitions stay open until it is back', async () => {
    const both = await opened('away');
    const { turns } = both;
    const end = new AbortController();
    await turns.want([0, 1, 2]);
    await second.kill();
    // The first look waits for it.
    const [turn] = await turns.take(1);
    expect(turn?.partition).not.toBe(1);
    if (turn !== undefined) await turns.end(turn, 'done');
    // Of its eight partitions it is not known whose turn is wanted.
    expect(await turns.state()).toMatchObject({ open: 1 + PARTITIONS / 2, failed: [] });
    const [other] = await turns.take(16);
    if (other !== undefined) await turns.end(other, 'done');
    expect([turn?.partition, other?.partition].sort()).toEqual([0, 2]);
    expect(await turns.state()).toMatchObject({ open: PARTITIONS / 2, nextMs: expect.any(Number) });
    await second.again();
    while ((await turns.state()).open !== 1) await turns.wait(50, end.signal);
    expect(await turns.take(16)).toEqual([{ partition: 1, wanted: 1 }]);
    await closed(both);
  }, 120_000);
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openJobEngine } from '../../../../src/operations/cluster/job-engine.ts';
import type { JobEngine } from '../../../../src/ports/job-engine.ts';
import { SILENT } from '../../../adapters/leveldb/temporary-db.ts';
import { jobEngineContract } from '../../../contracts/job-engine.contract.ts';
import { NO_JOBS } from './jobs-here.ts';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

const SKIPPED = NO_JOBS === null ? '' : ` (skipped: ${NO_JOBS})`;

describe.skipIf(NO_JOBS !== null)(`jobs in PostgreSQL${SKIPPED}`, () => {
  let server: PostgresServer;
  let count = 0;
  beforeAll(async () => {
    server = await startPostgres([]);
  }, 60_000);
  afterAll(() => server?.stop());

  const open = (name = `jobs-${count}`, leaseMs = 10_000): Promise<JobEngine> =>
    openJobEngine({ url: server.url, name, leaseMs, log: SILENT });

  jobEngineContract('BullMQ', {
    open: () => open(),
    reset: () => {
      count++;
    },
    isShared: true,
  });

  it('crawls of one database have their own, whatever their names', async () => {
    const names = ['a:b', 'a b', 'a%3Ab', 'x'.repeat(100), `${'x'.repeat(99)}y`];
    const engines = await Promise.all(names.map((name) => open(name)));
    await engines[0]?.put({ id: 'turn-000', partition: 0 });
    await engines[3]?.put({ id: 'turn-000', partition: 0 });
    expect(await Promise.all(engines.map(async (each) => (await each.state()).open))).toEqual([1, 0, 0, 1, 0]);
    const taken: number[] = [];
    const stop = new AbortController();
    const working = engines.map((each, i) =>
      each.work(
        async () => {
          taken.push(i);
          return 'done';
        },
        { atOnce: 1, signal: stop.signal },
      ),
    );
    while (taken.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    stop.abort();
    await Promise.all(working);
    expect(taken.sort()).toEqual([0, 3]);
    await Promise.all(engines.map((each) => each.close()));
  }, 60_000);

  it('jobs go on, each to its end, when the server is killed and comes back', async () => {
    const [one, other] = [await open('killed', 1_000), await open('killed', 1_000)];
    const jobs = Array.from({ length: 31 }, (_, i) => ({ id: `turn-${i + 100}`, partition: i + 100 }));
    for (const job of jobs) await one.put(job);
    const done = new Set<string>();
    const stop = new AbortController();
    const working = [one, other].map((each) =>
      each.work(
        async ({ id }) => {
          await new Promise((resolve) => setTimeout(resolve, 100));
          done.add(id);
          return 'done';
        },
        { atOnce: 2, signal: stop.signal },
      ),
    );
    for (const before of [3, 12]) {
      while (done.size < before) await new Promise((resolve) => setTimeout(resolve, 10));
      await server.kill();
      await server.again();
    }
    while ((await other.state()).open > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    stop.abort();
    await Promise.all(working);
    expect([...done].sort()).toEqual(jobs.map(({ id }) => id).sort());
    expect((await one.state()).failed).toEqual([]);
    await Promise.all([one.close(), other.close()]);
  }, 120_000);
});

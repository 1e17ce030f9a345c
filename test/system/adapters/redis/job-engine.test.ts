import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadBullMq } from '../../../../src/adapters/bullmq/bullmq.ts';
import { connectRedis } from '../../../../src/adapters/redis/connect.ts';
import { openJobEngine } from '../../../../src/operations/cluster/job-engine.ts';
import { type LoadPackage, loadPackage } from '../../../../src/packages/load-package.ts';
import type { JobEnd, JobEngine } from '../../../../src/ports/job-engine.ts';
import { SILENT } from '../../../adapters/leveldb/temporary-db.ts';
import { jobEngineContract } from '../../../contracts/job-engine.contract.ts';
import { NO_BULLMQ } from './bullmq-here.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

describe('BullMQ without its package', () => {
  it('names the command that installs it and what it needs', () => {
    const missing: LoadPackage = (id, what) => loadPackage(id, what, { own: '/', project: '/', folder: null });
    const load = (): unknown => loadBullMq(missing);
    expect(load).toThrow(expect.objectContaining({ code: 'package-missing' }));
    expect(load).toThrow('incrawl packages install bullmq ioredis');
  });
});

describe.skipIf(NO_BULLMQ !== null)(`jobs in Redis${NO_BULLMQ === null ? '' : ` (skipped: ${NO_BULLMQ})`}`, () => {
  let server: RedisServer;
  let count = 0;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  const open = async (name = `jobs-${count}`, leaseMs = 10_000): Promise<JobEngine> =>
    openJobEngine({ url: server.url, name, leaseMs, log: SILENT });

  jobEngineContract('BullMQ', {
    open: () => open(),
    reset: () => {
      count++;
    },
    isShared: true,
  });

  it('a worker whose clock is ahead delays no other: jobs that it returns, or failed at, are taken at once, and those that failed for good are removed', async () => {
    const [ahead, other] = [await open('ahead'), await open('ahead')];
    const start = { id: 'turn-000', partition: 0 } as const;
    const untilClosed = async (engine: JobEngine, perform: () => Promise<JobEnd>, isOver: () => Promise<boolean>) => {
      const stop = new AbortController();
      const working = engine.work(perform, { atOnce: 1, signal: stop.signal });
      while (!(await isOver())) await new Promise((resolve) => setTimeout(resolve, 10));
      stop.abort();
      await working;
    };
    const isOver = async (): Promise<boolean> => (await other.state()).open === 0;
    const now = Date.now.bind(Date);
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 600_000);
    let taken = 0;
    try {
      await ahead.put(start);
      await untilClosed(
        ahead,
        async () => ({ laterMs: ++taken }),
        async () => taken > 1,
      );
    } finally {
      clock.mockRestore();
    }
    await untilClosed(other, async () => 'done', isOver);

    await ahead.put(start);
    const again = vi.spyOn(Date, 'now').mockImplementation(() => now() + 600_000);
    let tries = 0;
    try {
      await untilClosed(
        ahead,
        () => Promise.reject(new Error(`disk-full: no space left, ${++tries}`)),
        async () => tries > 0,
      );
    } finally {
      again.mockRestore();
    }
    await untilClosed(other, async () => 'done', isOver);
    expect((await other.state()).failed).toEqual([]);

    await ahead.put(start);
    clock.mockImplementation(() => now() + 600_000);
    try {
      await untilClosed(ahead, () => Promise.reject(new Error('disk-full: no space left')), isOver);
    } finally {
      clock.mockRestore();
    }
    expect((await other.state()).failed).toHaveLength(1);
    await other.forgetEnded();
    expect((await other.state()).failed).toEqual([]);
    await Promise.all([ahead.close(), other.close()]);
  }, 20_000);

  it('all keys of a crawl carry its hash tag', async () => {
    const engine = await open('tagged');
    for (const partition of [1, 2]) await engine.put({ id: `turn-${partition}`, partition });
    const redis = await connectRedis(server.url);
    const keys = await redis.keys('*tagged*');
    expect(keys.length).toBeGreaterThan(3);
    expect(keys.filter((key) => !key.startsWith('{tagged}:jobs:'))).toEqual([]);
    redis.disconnect();
    await engine.close();
  });

  it('jobs that 0.1.0 has left are done: what they were to do is found in the crawl db', async () => {
    const engine = await open('older');
    const { loadBullMq } = await import('../../../../src/adapters/bullmq/bullmq.ts');
    const { redisJobServer } = await import('../../../../src/adapters/redis/job-server.ts');
    const place = await redisJobServer(server.url, 'older');
    const queue = new (loadBullMq().Queue)<unknown>(place.queue, place.connection);
    const options = { attempts: 3, removeOnComplete: { count: 9 }, removeOnFail: { count: 9 } };
    await queue.add('generate', { kind: 'generate', segments: [] }, { jobId: 'generate', ...options });
    await queue.add('turn', { kind: 'turn', segments: ['003'] }, { jobId: 'turn-003', ...options });
    await engine.put({ id: 'turn-004', partition: 4 });
    const seen: number[] = [];
    const stop = new AbortController();
    const perform = async ({ partition }: { readonly partition: number }) => {
      seen.push(partition);
      return 'done' as const;
    };
    const working = engine.work(perform, { atOnce: 1, signal: stop.signal });
    while ((await engine.state()).open > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    stop.abort();
    await working;
    expect(seen).toEqual([4]);
    expect((await engine.state()).failed).toEqual([]);
    await queue.close();
    await place.close();
    await engine.close();
  });
});

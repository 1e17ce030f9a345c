import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BloomPlan, planBloom, planGrowingBloom } from '../../../../src/core/domain/url/bloom/bloom-leaf.ts';
import { digestUrls } from '../../../../src/core/domain/url/hash/url-digest.ts';
import { type LoadPackage, loadPackage } from '../../../../src/core/packages/find-package.ts';
import { connectRedis } from '../../../../src/published/redis/connect.ts';
import { RedisSeenFilter } from '../../../../src/published/redis/seen-filter.ts';
import { SWITCH } from '../../../../src/published/redis/seen-tree.ts';
import { seenFilterContract } from '../../../contracts/seen-filter.contract.ts';
import { md5Digests, numbered } from '../../../core/domain/url/bloom/md5-digests.ts';
import { createMemorySeenFilter } from '../../../memory/seen-filter.ts';
import { NO_REDIS, type RedisServer, startRedis } from './redis-server.ts';

const EXAMPLE = planBloom({ urls: 40, bitsPerLeaf: 64, falsePositiveRate: 0.1 });

describe('Redis without its package', () => {
  it('names the command that installs it', async () => {
    const missing: LoadPackage = (id, what) => loadPackage(id, what, { own: '/', project: '/', folder: null });
    await expect(connectRedis('redis://127.0.0.1:1', missing)).rejects.toMatchObject({
      code: 'package-missing',
      message: expect.stringContaining('incrawl packages install ioredis'),
    });
  });
});

describe.skipIf(NO_REDIS !== null)(`leaves in Redis${NO_REDIS === null ? '' : ` (skipped: ${NO_REDIS})`}`, () => {
  let server: RedisServer;
  let names = 0;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  const open = async (plan: BloomPlan, name = `test-${names++}`, options: { hash?: string; lockMs?: number } = {}) =>
    new RedisSeenFilter({ redis: await connectRedis(server.url), name, plan, ...options });

  seenFilterContract('redis', (plan) => open(plan), { urls: 6_000 });

  it('holds the same bits as the filter in memory', async () => {
    const redis = await connectRedis(server.url);
    const filter = new RedisSeenFilter({ redis, name: 'same', plan: EXAMPLE, hash: 'md5' });
    const memory = createMemorySeenFilter(EXAMPLE, 'md5');
    for (const each of [filter, memory]) await each.add(md5Digests(numbered(0, 60)));
    const { kind: _, ...inRedis } = await filter.stats();
    const { kind: __, ...inMemory } = await memory.stats();
    expect(inRedis).toEqual(inMemory);
    const stored = JSON.parse((await redis.hget('{same}:tree', 'shape')) ?? '') as unknown[];
    const ids = stored.flat(9) as number[];
    for (const [i, leaf] of [...memory.tree.leaves()].entries()) {
      const bits = new Uint8Array(8);
      bits.set((await redis.getBuffer(`{same}:bits:${ids[i]}`)) ?? []);
      expect(bits).toEqual(leaf.bits);
    }
    await filter.close();
  });

  it('several workers add at once: nothing is lost, no leaf is split twice', async () => {
    const plan = planGrowingBloom({ urls: 500, bitsPerLeaf: 8_192, falsePositiveRate: 0.01 });
    const workers = await Promise.all([0, 1, 2].map(() => open(plan, 'shared')));
    await Promise.all(
      workers.map(async (worker, own) => {
        for (let at = 0; at < 1_500; at += 100) {
          await worker.add(digestUrls(numbered(10_000 * own + at, 10_000 * own + at + 100)));
        }
      }),
    );
    const all = digestUrls([0, 1, 2].flatMap((own) => numbered(10_000 * own, 10_000 * own + 1_500)));
    for (const worker of workers) expect((await worker.probe(all)).every((each) => each === 1)).toBe(true);
    const { urls, splits, leaves, rootLeaves } = await (workers[0] as RedisSeenFilter).stats();
    expect(urls).toBe(4_500);
    expect(leaves).toHaveLength(rootLeaves + splits);
    await Promise.all(workers.map((worker) => worker.close()));
  });

  it('a worker that dies before the switch leaves the old leaf valid, and the next one splits it', async () => {
    const redis = await connectRedis(server.url);
    const filter = new RedisSeenFilter({ redis, name: 'dies', plan: EXAMPLE, hash: 'md5' });
    await filter.add(md5Digests(numbered(0, 31)));
    // As the dead worker left it: the lock, and half of the new leaves.
    await redis.set('{dies}:lock:2', 'dead', 'PX', 150);
    await redis.set('{dies}:bits:4', Buffer.alloc(8), 'PX', 60_000);
    const other = await open(EXAMPLE, 'dies', { hash: 'md5' });
    expect((await other.probe(md5Digests(numbered(0, 31)))).every((each) => each === 1)).toBe(true);
    await other.add(md5Digests(numbered(31, 60)));
    expect((await other.probe(md5Digests(numbered(0, 60)))).every((each) => each === 1)).toBe(true);
    expect((await filter.stats()).splits).toBe(2);
    await Promise.all([filter.close(), other.close()]);
  });

  it('a worker whose lock was taken from it cannot switch', async () => {
    const redis = await connectRedis(server.url);
    const filter = new RedisSeenFilter({ redis, name: 'late', plan: EXAMPLE, hash: 'md5', lockMs: 1 });
    const rival = await open(EXAMPLE, 'late', { hash: 'md5', lockMs: 1 });
    await Promise.all([filter.add(md5Digests(numbered(0, 60))), rival.add(md5Digests(numbered(0, 60)))]);
    expect((await filter.probe(md5Digests(numbered(0, 60)))).every((each) => each === 1)).toBe(true);
    const { leaves, splits } = await rival.stats();
    expect(leaves).toHaveLength(4 + splits);
    await Promise.all([filter.close(), rival.close()]);
  });

  it('refuses a filter of another hash or size', async () => {
    const filter = await open(EXAMPLE, 'kept', { hash: 'md5' });
    await filter.add(md5Digests(numbered(0, 5)));
    for (const [plan, hash, message] of [
      [EXAMPLE, 'other', 'has digests by md5'],
      [planBloom({ urls: 40, bitsPerLeaf: 128, falsePositiveRate: 0.1 }), 'md5', 'was made for m = 64, f = 0.1'],
    ] as const) {
      const other = await open(plan, 'kept', { hash });
      await expect(other.probe(md5Digests(['x']))).rejects.toThrow(message);
      await other.close();
    }
    await filter.close();
  });

  it('one that another crawl of its name has cleared and filled denies nothing that was put in: it is an error', async () => {
    const filter = await open(EXAMPLE, 'cleared');
    await filter.add(md5Digests(numbered(0, 20)));
    const other = await open(EXAMPLE, 'cleared');
    await other.mark();
    await other.clear();
    await other.add(md5Digests(numbered(100, 130)));
    await expect(filter.probe(md5Digests(numbered(0, 20)))).rejects.toThrow('has lost');
    await expect(filter.add(md5Digests(numbered(20, 21)))).rejects.toThrow('has lost');
    expect((await other.stats()).urls).toBe(30);
    await Promise.all([filter.close(), other.close()]);
  });

  it('is refused on a server that may evict bits', async () => {
    const redis = await connectRedis(server.url);
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lfu');
    const filter = await open(EXAMPLE);
    try {
      await expect(filter.add(md5Digests(numbered(0, 5)))).rejects.toThrow('must be noeviction');
      await redis.config('SET', 'maxmemory-policy', 'volatile-lru');
      await filter.add(md5Digests(numbered(0, 5)));
    } finally {
      await redis.config('SET', 'maxmemory-policy', 'noeviction');
    }
    await filter.close();
    redis.disconnect();
  });

  it('new leaves that have expired before the switch are made again', async () => {
    const redis = await connectRedis(server.url);
    const filter = new RedisSeenFilter({ redis, name: 'expired', plan: EXAMPLE, hash: 'md5' });
    await filter.add(md5Digests(numbered(0, 31)));
    const run = redis.eval.bind(redis) as (...args: unknown[]) => Promise<unknown>;
    let isFirst = true;
    redis.eval = (async (...args: unknown[]) => {
      if (isFirst && args[0] === SWITCH) {
        isFirst = false;
        await redis.del('{expired}:bits:4');
      }
      return run(...args);
    }) as typeof redis.eval;
    await filter.add(md5Digests(numbered(31, 60)));
    expect(isFirst).toBe(false);
    expect((await filter.probe(md5Digests(numbered(0, 60)))).every((each) => each === 1)).toBe(true);
    await filter.close();
  });

  it('a server that goes away is an error, and one that comes back empty too', async () => {
    const own = await startRedis();
    const redis = await connectRedis(own.url);
    const filter = new RedisSeenFilter({ redis, name: 'gone', plan: EXAMPLE, hash: 'md5' });
    await filter.add(md5Digests(numbered(0, 20)));
    await own.stop();
    await expect(filter.probe(md5Digests(numbered(0, 20)))).rejects.toThrow();
    await expect(filter.add(md5Digests(numbered(20, 21)))).rejects.toThrow();
    const again = await startRedis(Number(new URL(own.url).port));
    for (;;) {
      const error = await filter.probe(md5Digests(numbered(0, 20))).catch(String);
      if (String(error).includes('has lost')) break;
      expect(typeof error).toBe('string');
    }
    await filter.close();
    await again.stop();
  });
});

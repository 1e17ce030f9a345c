import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectRedis } from '../../../../src/adapters/redis/connect.ts';
import { crawlDbId } from '../../../../src/adapters/redis/crawl-db-id.ts';
import { newDatum } from '../../../../src/domain/crawl/states/datum.ts';
import { CrawlError } from '../../../../src/domain/errors.ts';
import { openJobEngine } from '../../../../src/operations/cluster/job-engine.ts';
import { SILENT } from '../../../adapters/leveldb/temporary-db.ts';
import { openInStore } from '../../../adapters/open-store.ts';
import { contentOf } from '../../../contracts/crawl-db-exam.ts';
import { NO_BULLMQ } from './bullmq-here.ts';
import { NO_REDIS, type RedisServer, startRedis, startRedisCluster } from './redis-server.ts';

/** Their slots lie on different nodes. */
const NAMES = ['crawl-a', 'crawl-b', 'crawl-c', 'crawl-d'];

describe.skipIf(NO_REDIS !== null)(`a Redis Cluster${NO_REDIS === null ? '' : ` (skipped: ${NO_REDIS})`}`, () => {
  let server: Omit<RedisServer, 'pid'>;
  beforeAll(async () => {
    server = await startRedisCluster();
  }, 30_000);
  afterAll(() => server.stop());

  it('spreads crawl dbs over its nodes, each whole on one', async () => {
    for (const name of NAMES) {
      const db = await openInStore(server.url, name);
      const urls = Array.from({ length: 1_200 }, (_, i) => `https://${name}.example/${i}`);
      await db.write({
        puts: urls.map((url) => ({ datum: newDatum({ url, now: 0, intervalMs: 1_000 }), previous: null })),
      });
      expect((await contentOf(db)).records).toHaveLength(1_200);
      await db.close();
    }
    const sizes = await Promise.all(
      server.url.split(',').map(async (url) => {
        const node = await connectRedis(url);
        const keys = await node.keys('*:db:values');
        node.disconnect();
        return keys.length;
      }),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(NAMES.length);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
  });

  it('differs from a single server, and one of its nodes from the whole', async () => {
    const urls = [server.url.split(',')[0] as string, server.url.split(',')[1] as string];
    const reported = await Promise.all(
      urls.map(async (url) => {
        const redis = await connectRedis(url);
        const refusal = await crawlDbId(redis, 'crawl-a', 'a').catch((error: unknown) => error);
        redis.disconnect();
        return refusal;
      }),
    );
    expect(reported.filter((each) => each instanceof CrawlError)).toMatchObject([
      { code: 'config-invalid', message: expect.stringContaining('name several of its nodes') },
    ]);
    const alone = await startRedis();
    const redis = await connectRedis(`${alone.url},${alone.url}`);
    await expect(crawlDbId(redis, 'alone')).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining('are nodes of one Redis Cluster'),
    });
    redis.disconnect();
    await alone.stop();
  }, 30_000);

  it.skipIf(NO_BULLMQ !== null)(
    `has the jobs of a crawl on the node of its crawl db${NO_BULLMQ === null ? '' : ` (skipped: ${NO_BULLMQ})`}`,
    async () => {
      for (const name of NAMES) {
        const engine = await openJobEngine({ url: server.url, name, leaseMs: 5_000, log: SILENT });
        for (const partition of [1, 2, 3]) await engine.put({ id: `turn-${partition}`, partition });
        const done: string[] = [];
        const stop = new AbortController();
        await engine.work(
          async ({ id }) => {
            done.push(id);
            if (done.length === 3) stop.abort();
            return 'done';
          },
          { atOnce: 2, signal: stop.signal },
        );
        expect(done.sort()).toEqual(['turn-1', 'turn-2', 'turn-3']);
        await engine.close();
      }
    },
    20_000,
  );

  it.skipIf(NO_BULLMQ !== null)(
    'that is down as jobs are first asked for, as in a failover, is waited for',
    async () => {
      const nodes = await Promise.all(server.url.split(',').map((url) => connectRedis(url)));
      for (const node of nodes) await node.call('CLUSTER', 'DELSLOTS', 0);
      for (const node of nodes)
        await vi.waitUntil(async () => String(await node.cluster('INFO')).includes('state:fail'));
      const engine = await openJobEngine({ url: server.url, name: 'down', leaseMs: 10_000, log: SILENT });
      const state = engine.state();
      await pause(500);
      await nodes[0]?.call('CLUSTER', 'ADDSLOTS', 0);
      expect(await state).toEqual({ open: 0, failed: [] });
      await engine.close();
      for (const node of nodes) node.disconnect();
    },
    30_000,
  );

  it('that was away for longer than anybody waits is found again by the same client', async () => {
    const redis = await connectRedis(server.url);
    expect(await crawlDbId(redis, 'away', 'first')).toBe('first');
    await server.kill();
    await expect(crawlDbId(redis, 'away')).rejects.toMatchObject({ code: 'redis-unreachable' });
    await server.again();
    // Its nodes keep who has which slots, and nothing else.
    expect(await crawlDbId(redis, 'away', 'second')).toBe('second');
    redis.disconnect();
  }, 30_000);
});

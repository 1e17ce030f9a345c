import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/config/load.ts';
import { openCrawler } from '../../src/crawler/open-crawler.ts';
import { openWorker } from '../../src/crawler/open-worker.ts';
import { openSharedDb } from '../../src/operations/cluster/open-shared-db.ts';
import { partitionDir } from '../../src/operations/cluster/partitions/open-partition.ts';
import { partitionName } from '../../src/operations/cluster/partitions/shared-partitions.ts';
import type { CrawlDb } from '../../src/ports/crawl-db.ts';
import { NO_BULLMQ } from '../adapters/redis/bullmq-here.ts';
import { type RedisServer, startRedis } from '../adapters/redis/redis-server.ts';
import { shortestPause, startHosts, type WatchedHosts } from '../cli/cluster/watched-hosts.ts';
import { workDir } from '../cli/support/binary.ts';

const DELAY_MS = 40;
const PARTITIONS = 4;
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

describe.skipIf(NO_BULLMQ !== null)(`a spread crawl${NO_BULLMQ === null ? '' : ` (skipped: ${NO_BULLMQ})`}`, () => {
  let server: RedisServer;
  let hosts: WatchedHosts;
  beforeAll(async () => {
    server = await startRedis();
    hosts = await startHosts(6, 20);
  });
  afterAll(async () => {
    await hosts.close();
    await server.stop();
  });

  const network = ['http.allowAddresses=127.0.0.1', `fetch.delay=${DELAY_MS}ms`];
  const cluster = (name: string, partitions = PARTITIONS) =>
    defaultConfig([
      ...network,
      `cluster.redis=${server.url}`,
      `cluster.name=${name}`,
      `cluster.partitions=${partitions}`,
      'cluster.lease=2s',
    ]);
  const seeds = () => [{ name: 'seeds', lines: hosts.origins.map((origin) => `${origin}/`) }];

  async function pagesOf(db: CrawlDb): Promise<Map<string, unknown>> {
    const pages = new Map<string, unknown>();
    for await (const { url, state, httpStatus, title, signature } of db.scan()) {
      pages.set(url, { state, httpStatus, title, signature, links: [...(await db.links(url))].sort() });
    }
    return pages;
  }

  it('of two workers ends as one on one crawl db does; each partition is a crawl of its own', async () => {
    const dir = workDir();
    const config = cluster('spread');
    const workers = await Promise.all([1, 2].map(() => openWorker({ config, dir, log })));
    const ends = await Promise.all(workers.map((worker, i) => worker.work(i === 0 ? { seeds: seeds() } : {})));
    for (const worker of workers) await worker.close();
    expect(ends.map(({ stoppedBy }) => stoppedBy)).toEqual(['nothing-due', 'nothing-due']);
    expect(shortestPause(hosts.asked)).toBeGreaterThanOrEqual(DELAY_MS - 1);
    const spread = new Map<string, unknown>();
    const used = new Set<number>();
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const own = defaultConfig([`cluster.redis=${server.url}`, `cluster.name=${partitionName('spread', partition)}`]);
      const db = await openSharedDb({ config: own, dir: partitionDir(dir, partition), log, access: 'look' });
      for (const [url, page] of await pagesOf(db)) {
        spread.set(url, page);
        used.add(partition);
      }
      await db.close();
    }
    expect(used.size).toBeGreaterThan(1);
    const whole = await openCrawler({ config: defaultConfig(network), dir: workDir(), log });
    await whole.crawl({ seeds: seeds() });
    const pages = new Map<string, unknown>();
    for await (const { url } of whole.records()) pages.set(url, null);
    await whole.close();
    expect([...spread.keys()].sort()).toEqual([...pages.keys()].sort());
  }, 120_000);

  it('is refused by commands that know one crawl db, and with another number of partitions', async () => {
    const dir = workDir();
    const worker = await openWorker({ config: cluster('fixed', 2), dir, log });
    await worker.work();
    await worker.close();
    await expect(openSharedDb({ config: cluster('fixed', 2), dir, log, access: 'look' })).rejects.toMatchObject({
      code: 'usage-invalid',
      message: expect.stringContaining('-D cluster.name=fixed:000'),
    });
    const other = await openWorker({ config: cluster('fixed', 4), dir, log });
    await expect(other.work()).rejects.toMatchObject({ code: 'config-invalid' });
    await other.close();
  }, 60_000);
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultConfig } from '../../../src/config/load.ts';
import { openCrawler } from '../../../src/crawler/open-crawler.ts';
import { openReader } from '../../../src/crawler/open-reader.ts';
import { openWorker } from '../../../src/crawler/open-worker.ts';
import { openSharedDb } from '../../../src/operations/cluster/open-shared-db.ts';
import { partitionDir } from '../../../src/operations/cluster/partitions/partition-dir.ts';
import { partitionName } from '../../../src/operations/cluster/partitions/shared-partitions.ts';
import { exportSpread } from '../../../src/operations/cluster/partitions/spread-export.ts';
import type { CrawlDb } from '../../../src/ports/crawl-db.ts';
import { listOf } from '../../contracts/crawl-db-exam.ts';
import { workDir } from '../../support/work-dir.ts';
import { NO_BULLMQ } from '../adapters/redis/bullmq-here.ts';
import { type RedisServer, startRedis } from '../adapters/redis/redis-server.ts';
import { shortestPause, startHosts, type WatchedHosts } from '../cli/cluster/watched-hosts.ts';

interface Page {
  readonly state: string;
  readonly [field: string]: unknown;
}

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

  async function pagesOf(db: CrawlDb): Promise<Map<string, Page>> {
    const pages = new Map<string, Page>();
    for await (const { url, state, httpStatus, title, signature } of db.scan()) {
      pages.set(url, { state, httpStatus, title, signature, links: [...((await db.linksOf([url]))[0] ?? [])].sort() });
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
    const spread = new Map<string, Page>();
    let noted = 0;
    const used = new Set<number>();
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const own = defaultConfig([`cluster.redis=${server.url}`, `cluster.name=${partitionName('spread', partition)}`]);
      const db = await openSharedDb({ config: own, dir: partitionDir(dir, partition), log, access: 'look' });
      for (const [url, page] of await pagesOf(db)) {
        spread.set(url, page);
        used.add(partition);
      }
      noted += (await db.feedEnds()).last;
      await db.close();
    }
    expect(used.size).toBeGreaterThan(1);
    const whole = await openCrawler({ config: defaultConfig(network), dir: workDir(), log });
    await whole.crawl({ seeds: seeds() });
    const listing = await listOf(whole.records());
    const pages = listing.map(({ url }) => url);
    const [stats, hostRows] = [await whole.stats(), await listOf(whole.hosts())];
    await whole.close();
    expect([...spread.keys()].sort()).toEqual([...pages].sort());

    const reader = openReader({ dir, log, configured: async () => ({ config, baseDir: '.' }) });
    expect((await listOf(reader.records())).map(({ url }) => url)).toEqual(pages);
    const { urls, byStatus, byDepth } = await reader.stats();
    expect({ urls, byDepth }).toEqual({ urls: stats.urls, byDepth: stats.byDepth });
    const byState: Record<string, number> = {};
    for (const { state } of spread.values()) byState[state] = (byState[state] ?? 0) + 1;
    expect(byStatus).toEqual(byState);
    expect((await listOf(reader.hosts())).map(({ host }) => host)).toEqual(hostRows.map(({ host }) => host));
    const some = pages.at(-1) ?? '';
    expect(await reader.record(some)).toMatchObject({ url: some, state: spread.get(some)?.state });
    expect(await reader.explain(some)).toMatchObject({ url: some });
    const changes = await listOf(reader.changes());
    expect(changes).toHaveLength(noted);
    expect(changes.map(({ notedAt }) => notedAt)).toEqual(changes.map(({ notedAt }) => notedAt).sort());
    expect((await reader.changeFeed()).each).toHaveLength(PARTITIONS);
    expect((await listOf(reader.inlinks(some))).length).toBeGreaterThan(0);
    await reader.close();

    const copy = await openCrawler({ config: defaultConfig(network), dir: workDir(), log });
    const { records } = await copy.importDb(exportSpread({ config, dir, log }), 'whole');
    expect(records).toBe(pages.length);
    expect((await listOf(copy.records())).map(({ url }) => url)).toEqual(pages);
    await copy.close();
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

import { resolve } from 'node:path';
import { loadBullMq } from '../adapters/bullmq/bullmq.ts';
import { systemClock } from '../adapters/system/clock.ts';
import { CrawlError } from '../domain/errors.ts';
import { connectStore } from '../operations/cluster/connect-store.ts';
import { openJobEngine } from '../operations/cluster/job-engine.ts';
import { requireSharedDb } from '../operations/cluster/open-shared-db.ts';
import { createSharedLanes } from '../operations/cluster/shared-lanes.ts';
import { crawlDbServer, jobsServer } from '../operations/cluster/store-urls.ts';
import { type Worker, worker } from '../operations/cluster/worker.ts';
import type { Store } from '../operations/deps.ts';
import { openStore } from '../operations/state/open-store.ts';
import { keptCache } from '../operations/state/seen-urls.ts';
import { makeStateFolder } from '../operations/state/state-folder.ts';
import { openSpreadWorker } from './open-spread-worker.ts';
import type { CrawlerOptions } from './types.ts';
import { wire } from './wiring.ts';

/**
 * Opens a worker of a shared crawl. Rejects with `CrawlError`: `config-invalid` without a server, `package-missing`,
 * `plugin-broken`, an error of the store.
 */
export async function openWorker(options: CrawlerOptions): Promise<Worker> {
  const { config, log, clock = systemClock, random = Math.random, baseDir = process.cwd(), env } = options;
  const dir = resolve(options.dir);
  const { name, leaseMs } = config.cluster;
  const server = crawlDbServer(config.cluster);
  const jobs = jobsServer(config.cluster);
  if (server === null || jobs === null) throw noServer();
  if (config.cluster.partitions > 1) return openSpreadWorker(options, server, jobs);
  loadBullMq();
  await makeStateFolder(dir);
  const { close, ...own } = await wire({ config, dir, baseDir, log, clock, random, env });
  const store = await connectStore(server.url);
  const { lanes } = own.web;
  const shared = createSharedLanes({
    hosts: store.hosts(name),
    lanes,
    clock,
    leaseMs,
    defaultDelayMs: config.fetch.delayMs,
  });
  const wiring = { ...own, web: { ...own.web, lanes: shared } };
  const engine = await openJobEngine({ url: jobs.url, name, leaseMs, log });
  const cacheOf = keptCache(config);
  return worker({
    wiring,
    engine,
    async requireCrawlDb() {
      await requireSharedDb({ store, dir, name, key: server.key });
    },
    async withStore<Value>(
      access: 'write' | 'look',
      signal: AbortSignal | undefined,
      use: (store: Store) => Promise<Value>,
    ): Promise<Value> {
      const store = await openStore(wiring, { access, signal, cacheOf });
      try {
        const value = await use(store);
        if (access === 'write') await store.saveSeenStats();
        return value;
      } finally {
        await store.db.close();
      }
    },
    async close() {
      await shared.close();
      await engine.close();
      await store.close();
      await close();
    },
  });
}

function noServer(): CrawlError {
  const how = 'such as -D cluster.store=postgres://127.0.0.1/crawl; "incrawl crawl" needs none';
  return new CrawlError(
    'config-invalid',
    `workers share a crawl through a server: cluster.store or cluster.redis must name the server, ${how}`,
  );
}

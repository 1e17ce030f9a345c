import { resolve } from 'node:path';
import { loadBullMq } from '../adapters/redis/bullmq.ts';
import { connectRedis } from '../adapters/redis/connect.ts';
import { createBullJobEngine } from '../adapters/redis/job-engine.ts';
import { createSharedLanes } from '../adapters/redis/shared-lanes.ts';
import { cpuMs, systemClock } from '../adapters/system/clock.ts';
import { CrawlError } from '../domain/errors.ts';
import { requireSharedDb } from '../operations/cluster/open-shared-db.ts';
import { sumOfProgress } from '../operations/cluster/part-progress.ts';
import { type WorkOptions, type WorkSummary, workOff } from '../operations/cluster/work-off.ts';
import type { CrawlDeps, Store } from '../operations/deps.ts';
import { crawlSteps } from '../operations/loop/crawl-steps.ts';
import { roundKeeper } from '../operations/loop/round-log.ts';
import { discoverSitemaps } from '../operations/loop/sitemaps.ts';
import { unappliedSegments } from '../operations/loop/unfinished.ts';
import { openStore } from '../operations/state/open-store.ts';
import { makeFolder } from '../plugin-host/make-folder.ts';
import { countFetched } from '../steps/outcome-counts.ts';
import { type RoundJobsDeps, type RoundSteps, roundJobs } from '../steps/round-jobs.ts';
import type { CrawlProgress } from '../steps/summaries.ts';
import type { CrawlerOptions } from './types.ts';
import { type Wiring, wire } from './wiring.ts';

/** One of the processes that crawl together. */
export interface Worker {
  /**
   * Takes jobs until nothing is due or the signal comes. Rejects with the `CrawlError` that ended the crawl for all.
   */
  work(options?: WorkOptions): Promise<WorkSummary>;
  close(): Promise<void>;
}

/**
 * Joins the crawl whose crawl db is in Redis. Rejects with `CrawlError`: `config-invalid` without a server or its
 * packages, `plugin-broken`, `redis-unreachable`.
 */
export async function openWorker(options: CrawlerOptions): Promise<Worker> {
  const { config, log } = options;
  const dir = resolve(options.dir);
  const clock = options.clock ?? systemClock;
  const { redis: url, name, leaseMs } = config.cluster;
  if (url === '') throw noServer();
  const bullmq = await loadBullMq();
  await makeFolder(dir);
  const own = await wire({ config, dir, baseDir: options.baseDir ?? process.cwd(), log, clock });
  const redis = await connectRedis(url);
  const { lanes } = own;
  const shared = createSharedLanes({ redis, name, lanes, clock, leaseMs, defaultDelayMs: config.fetch.delayMs });
  const wiring: Wiring = { ...own, lanes: shared };
  const engine = createBullJobEngine({ bullmq, redis: await connectRedis(url, 'endless'), name, leaseMs, log });
  const random = options.random ?? Math.random;

  const depsOf = (store: Store | null): CrawlDeps => ({
    dir,
    wiring,
    random,
    parts: config.cluster.parts,
    store: () => {
      if (store === null) throw new TypeError('a worker has the crawl db for one job at a time');
      return store;
    },
  });
  const withStore = async <Value>(
    access: 'write' | 'look',
    signal: AbortSignal | undefined,
    use: (store: Store) => Promise<Value>,
  ): Promise<Value> => {
    const store = await openStore(wiring, { dir, access, signal });
    try {
      return await use(store);
    } finally {
      await store.db.close();
    }
  };
  const partsUnderWay = new Map<string, CrawlProgress>();
  const jobsDeps = (onProgress: WorkOptions['onProgress']): RoundJobsDeps => ({
    engine,
    now: () => clock.now(),
    cpuMs,
    withSteps: (use, signal) => withStore('write', signal, (store) => use(roundSteps(depsOf(store), store, signal))),
    async fetchAndParse(segment, signal) {
      const reported = (progress: CrawlProgress): void => {
        partsUnderWay.set(segment, progress);
        onProgress?.(sumOfProgress([...partsUnderWay.values()]));
      };
      try {
        return (await crawlSteps(depsOf(null)).fetch({ segment, parse: true, signal, onProgress: reported })).left;
      } finally {
        partsUnderWay.delete(segment);
      }
    },
  });

  return {
    async work({ seeds = [], ...work } = {}) {
      // Whoever may not crawl the hosts of this crawl learns that before it takes a job.
      await withStore(seeds.length > 0 ? 'write' : 'look', work.signal, (store) =>
        crawlSteps(depsOf(store)).prepare(seeds),
      );
      const requireCrawlDb = async (): Promise<void> => {
        await requireSharedDb(redis, dir, name);
      };
      return workOff({ engine, clock, atOnce: config.cluster.partsAtOnce, requireCrawlDb }, work, (onRound) =>
        roundJobs(jobsDeps(work.onProgress), onRound),
      );
    },
    async close() {
      await shared.close();
      await engine.close();
      redis.disconnect();
      await wiring.close();
    },
  };
}

function roundSteps(deps: CrawlDeps, store: Store, signal: AbortSignal): RoundSteps {
  const { wiring, dir } = deps;
  const steps = crawlSteps(deps);
  return {
    unfinished: () => unappliedSegments(store.db),
    async generate() {
      await discoverSitemaps(wiring, store, signal);
      const { segments = [] } = await steps.generate();
      return segments;
    },
    updatedb: (segment) => steps.updatedb({ segment }),
    async fetched(id, counts) {
      const segment = await wiring.segments.open(id, 'read');
      try {
        await countFetched(segment, counts);
        return segment.info;
      } finally {
        await segment.close();
      }
    },
    async keep(round) {
      const kept = roundKeeper(dir, store.db, wiring.clock, wiring.log);
      kept.keep(round);
      await kept.done();
    },
  };
}

function noServer(): CrawlError {
  const how = 'such as -D cluster.redis=redis://127.0.0.1:6379; "incrawl crawl" needs none';
  return new CrawlError(
    'config-invalid',
    `workers share a crawl through Redis: cluster.redis must name the server, ${how}`,
  );
}

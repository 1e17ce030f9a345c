import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openLevelCrawlDb } from '../adapters/leveldb/crawl-db.ts';
import { admissionGates } from '../plugin-host/url-chain.ts';
import { UrlAdmission } from '../steps/admission.ts';
import { SEED_HOSTS_KEY } from '../steps/inject.ts';
import { QueryVariants } from '../steps/query-variants.ts';
import { crawlAnswers } from './crawl-answers.ts';
import type { CrawlRoom, Store } from './crawl-room.ts';
import { crawlSteps } from './crawl-steps.ts';
import { crawlUpkeep } from './crawl-upkeep.ts';
import { nearPlan } from './near.ts';
import { recover } from './recover.ts';
import { configuredFilter, openSeenUrls } from './seen.ts';
import { systemClock } from './system-clock.ts';
import type { Crawler, CrawlerOptions } from './types.ts';
import { type Wiring, wire } from './wiring.ts';

/**
 * Opens a crawl on its state directory. Rejects with `CrawlError`: `db-locked` when another process holds it, `config-invalid` or
 * `plugin-broken` when it cannot be started as configured.
 */
export async function openCrawler(options: CrawlerOptions): Promise<Crawler> {
  const clock = options.clock ?? systemClock;
  const dir = resolve(options.dir);
  const baseDir = options.baseDir ?? process.cwd();
  const isReading = options.access === 'read' || options.snapshotDir !== undefined;
  if (!isReading) await mkdir(dir, { recursive: true });
  const wiring = await wire({ config: options.config, dir, baseDir, log: options.log, clock });
  if (options.access === 'read') return opened(dir, wiring, null, options.random ?? Math.random);
  try {
    const { cacheBytes, writeBufferBytes } = options.config.db;
    const filter = await configuredFilter(options.config);
    const near = nearPlan(options.config);
    const db = await openLevelCrawlDb({
      dir: join(options.snapshotDir ?? dir, 'db'),
      log: options.log,
      clock,
      cacheBytes,
      writeBufferBytes,
      ...(filter === undefined ? {} : { seenFilter: filter }),
      ...(near === null ? {} : { near }),
    });
    const seen = openSeenUrls(options.config, db, options.log);
    if (!isReading) await recover(db, wiring.segments, options.log);
    const seedHosts = new Set<string>(JSON.parse((await db.meta(SEED_HOSTS_KEY)) ?? '[]') as string[]);
    const variants = new QueryVariants(db, options.config.outlinks.maxVariantsPerPath);
    const admission = new UrlAdmission(db, admissionGates(wiring.plugins, options.log));
    const store = { db, seen, seedHosts, variants, admission };
    return opened(dir, wiring, store, options.random ?? Math.random);
  } catch (error) {
    await wiring.close();
    throw error;
  }
}

function opened(dir: string, wiring: Wiring, store: Store | null, random: () => number): Crawler {
  const room: CrawlRoom = {
    dir,
    wiring,
    random,
    store: () => {
      if (store === null) throw new TypeError('this crawl is open for its segments only');
      return store;
    },
  };
  return {
    ...crawlSteps(room),
    ...crawlAnswers(room),
    ...crawlUpkeep(room),
    close: async () => {
      await wiring.close();
      await store?.db.close();
    },
  };
}

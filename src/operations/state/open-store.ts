import { join } from 'node:path';
import { openLevelCrawlDb } from '../../adapters/leveldb/crawl-db.ts';
import type { LevelCrawlDb } from '../../adapters/rows/rows-crawl-db.ts';
import type { Wiring } from '../../crawler/wiring.ts';
import { admissionGates } from '../../plugin-host/url-chain.ts';
import { SEED_HOSTS_KEY } from '../../steps/inject.ts';
import { UrlAdmission } from '../../steps/update/admission.ts';
import { QueryVariants } from '../../steps/update/query-variants.ts';
import { recover } from '../care/recover.ts';
import { readClusterMark } from '../cluster/cluster-mark.ts';
import { nearPlan } from '../dedup/dedup-settings.ts';
import type { Store } from '../deps.ts';
import { configuredFilter, openSeenUrls } from './seen-urls.ts';

export interface StoreOptions {
  /** State directory, absolute. */
  readonly dir: string;
  /** `look`: nothing is written, and another process may write meanwhile where the crawl db allows that. */
  readonly access: 'write' | 'look';
  readonly signal?: AbortSignal | undefined;
  /** As in `CrawlerOptions`. */
  readonly snapshotDir?: string;
}

/**
 * Opens the crawl db where the configuration says it lies, and puts right what a crash has left. Rejects as the openers
 * of crawl dbs do.
 */
export async function openStore(wiring: Wiring, options: StoreOptions): Promise<Store> {
  const { config, log, plugins } = wiring;
  const { dir, access, snapshotDir } = options;
  const isShared = snapshotDir === undefined && isInRedis(wiring, dir);
  const db = isShared ? await openShared(wiring, options) : await openOwn(wiring, snapshotDir ?? dir);
  try {
    const seen = openSeenUrls(config, db, log);
    const isLooking = snapshotDir !== undefined || (isShared && access === 'look');
    if (!isLooking) await recover(db, wiring.segments, log);
    const seedHosts = new Set<string>(JSON.parse((await db.meta(SEED_HOSTS_KEY)) ?? '[]') as string[]);
    const variants = new QueryVariants(db, config.outlinks.maxVariantsPerPath);
    const admission = new UrlAdmission(db, admissionGates(plugins, log));
    return { db, seen, seedHosts, variants, admission };
  } catch (error) {
    await db.close();
    throw error;
  }
}

function isInRedis({ config }: Pick<Wiring, 'config'>, dir: string): boolean {
  return config.cluster.redis !== '' || readClusterMark(dir) !== null;
}

async function openShared({ config, log }: Wiring, options: StoreOptions): Promise<LevelCrawlDb> {
  const { openSharedDb } = await import('../cluster/open-shared-db.ts');
  return openSharedDb({ config, log, ...options });
}

async function openOwn({ config, log, clock }: Wiring, dir: string): Promise<LevelCrawlDb> {
  const { cacheBytes, writeBufferBytes } = config.db;
  const filter = await configuredFilter(config);
  const near = nearPlan(config);
  return openLevelCrawlDb({
    dir: join(dir, 'db'),
    log,
    clock,
    cacheBytes,
    writeBufferBytes,
    ...(filter === undefined ? {} : { seenFilter: filter }),
    ...(near === null ? {} : { near }),
  });
}

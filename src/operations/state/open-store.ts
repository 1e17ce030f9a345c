import { join } from 'node:path';
import type { Config } from '../../core/config/schema.ts';
import { admissionGates, sharingGate } from '../../core/plugin-host/url-chain.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { Log } from '../../core/ports/log.ts';
import { NO_SEEN_STATS } from '../../core/ports/seen-filter.ts';
import type { SegmentStore } from '../../core/ports/segment-store.ts';
import { SEED_HOSTS_KEY } from '../../core/steps/inject.ts';
import { UrlAdmission } from '../../core/steps/update/admission.ts';
import { LinkFamilies, QueryVariants } from '../../core/steps/update/link-treatment.ts';
import { InlinkLevels } from '../../core/steps/update/links/inlink-levels.ts';
import { LinkForwarding, type LinkForwardingDeps } from '../../core/steps/update/links/link-forwarding.ts';
import { openLevelCrawlDb } from '../../store/leveldb/open-rows.ts';
import type { RowsCrawlDb } from '../../store/rows/rows-crawl-db.ts';
import type { CrawlDeps, Store } from '../deps.ts';
import { nearPlan } from '../loop/step-settings.ts';
import { domainOf } from '../system/domain-of.ts';
import { readClusterMark } from './cluster-mark.ts';
import { type CacheOf, configuredFilter, openSeenUrls, rememberSeen } from './seen-urls.ts';

export type StoreDeps = Pick<CrawlDeps, 'dir' | 'config' | 'runtime' | 'plugins' | 'segments'>;

export interface StoreOptions {
  /** `look`: nothing is written; another process may write a shared crawl db meanwhile. */
  readonly access: 'write' | 'look';
  readonly signal?: AbortSignal | undefined;
  /** As in `CrawlerOptions`. */
  readonly snapshotDir?: string | undefined;
  /** Default: a cache of hot URLs that lives as long as the store. */
  readonly cacheOf?: CacheOf;
}

/**
 * Opens the configured crawl db, in the state directory or a shared store, and recovers from a crash. Rejects as the
 * openers of crawl dbs do.
 */
export async function openStore(
  deps: StoreDeps,
  { access, signal, snapshotDir, cacheOf }: StoreOptions,
): Promise<Store> {
  const { dir, config } = deps;
  const { clock, log } = deps.runtime;
  const isShared = snapshotDir === undefined && isInStore(config, dir);
  const db: RowsCrawlDb = isShared
    ? await (await import('../../cluster/workers/open-shared-db.ts')).openSharedDb({
        config,
        dir,
        log,
        access,
        signal,
      })
    : await openOwnDb({ config, dir: snapshotDir ?? dir, log, clock });
  const isReading = snapshotDir !== undefined || (isShared && access === 'look');
  return storeOn(db, deps, isReading, cacheOf === undefined ? {} : { cacheOf });
}

/** The place of a crawl db in a crawl of several partitions. */
export type PartitionPlace = Pick<LinkForwardingDeps, 'partition' | 'placeOf' | 'recent'>;

/**
 * The store of an open crawl db; closes the crawl db if that fails.
 * @param isWhole nothing needs recovery: the crawl db is only read, or was closed in order
 */
export async function storeOn(
  db: RowsCrawlDb,
  { config, plugins, segments, runtime: { clock, log } }: Omit<StoreDeps, 'dir'>,
  isWhole: boolean,
  { cacheOf, place }: Pick<StoreOptions, 'cacheOf'> & { readonly place?: PartitionPlace } = {},
): Promise<Store> {
  try {
    const seen = openSeenUrls(config, db, log, await cacheOf?.(db));
    const forwarding = place === undefined ? null : new LinkForwarding({ ...place, rows: db.forwarding });
    if (!isWhole) await recover(db, segments, log);
    const seedHosts = new Set<string>(JSON.parse((await db.meta(SEED_HOSTS_KEY)) ?? '[]') as string[]);
    const variants = new QueryVariants(db, config.outlinks.maxVariantsPerPath);
    const admission = new UrlAdmission(
      db,
      admissionGates(plugins.loaded, log),
      sharingGate(plugins.loaded, log, () => clock.now()),
      forwarding,
    );
    const families = new LinkFamilies({ db, domainOf, treatment: config.linkclusters.noise });
    const { inlinkFactors } = plugins.loaded.scoring ?? {};
    const inlinks = inlinkFactors && new InlinkLevels(inlinkFactors);
    let saved = NO_SEEN_STATS;
    const saveSeenStats = async (): Promise<void> => {
      saved = await rememberSeen(db, seen, saved);
    };
    return { db, seen, seedHosts, variants, admission, families, inlinks, saveSeenStats };
  } catch (error) {
    await db.close();
    throw error;
  }
}

/** Whether the crawl db of a state directory is in a shared store, by configuration or by its mark. */
export function isInStore({ cluster }: Pick<Config, 'cluster'>, dir: string): boolean {
  return cluster.store !== '' || readClusterMark(dir) !== null;
}

interface OwnDbOptions {
  readonly config: Config;
  /** The folder that holds `db`: a state directory, or a copy of one. */
  readonly dir: string;
  readonly log: Log;
  readonly clock: Clock;
}

/** Opens the crawl db in a directory, with filter and tables of signatures as configured. */
export async function openOwnDb({ config, dir, log, clock }: OwnDbOptions): Promise<RowsCrawlDb> {
  const filter = await configuredFilter(config);
  const near = nearPlan(config);
  return openLevelCrawlDb({
    dir: join(dir, 'db'),
    log,
    clock,
    cacheBytes: config.db.cacheBytes,
    ...(filter === undefined ? {} : { seenFilter: filter }),
    ...(near === null ? {} : { near }),
  });
}

/**
 * Recovers from a crash of generate, before anything else is done. A fetch list without a row in the crawl db was never
 * leased, so it is removed. If a row's segment is no longer on disk (the folder was deleted), its leased URLs are
 * returned. A finished segment without its `segment.json` is damaged: it is left as it is.
 */
export async function recover(db: CrawlDb, segments: SegmentStore, log: Log): Promise<void> {
  const rows = await db.segments();
  const known = new Set(rows.map((row) => row.id));
  const applied = new Set(rows.filter(({ state }) => state === 'updated').map(({ id }) => id));
  const incomplete = new Set(await segments.listIncomplete());
  const complete = (await segments.ids()).filter((id) => !incomplete.has(id));
  const damaged: string[] = [];
  for (const id of incomplete) {
    if (applied.has(id)) {
      log.warn('a segment with stored pages has no segment.json; "incrawl state repair" moves it to quarantine', {
        segment: id,
      });
      damaged.push(id);
      continue;
    }
    log.info('removing an unfinished segment', { segment: id });
    await segments.remove(id);
  }
  // The marks of all segments are read only where one is unknown: there may be years of them.
  const isAnyUnknown = complete.some((id) => !known.has(id));
  for (const segment of isAnyUnknown ? await segments.list() : []) {
    if (known.has(segment.id) || segment.state !== 'generated') continue;
    log.info('removing a fetch list whose URLs were never leased', { segment: segment.id });
    await segments.remove(segment.id);
  }
  const present = new Set([...complete, ...damaged]);
  for (const row of rows) {
    if (present.has(row.id)) continue;
    const urls: string[] = [];
    for await (const lease of db.scanLeases(row.id)) urls.push(lease.url);
    if (row.state !== 'updated') {
      log.warn('a segment is missing from disk; its URLs are due again', { segment: row.id, urls: urls.length });
    }
    await db.write({ release: { segment: row.id, urls }, removeSegments: [row.id] }, { durable: true });
  }
}

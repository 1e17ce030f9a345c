import { join } from 'node:path';
import { openCrawlDbOn } from '../../../adapters/rows/open-crawl-db.ts';
import { domainOf } from '../../../adapters/system/domain-of.ts';
import { senderOf } from '../../../domain/crawl/discovery/forwarded-link.ts';
import { partitionAmong } from '../../../domain/url/hash/partition.ts';
import type { CrawlDb } from '../../../ports/crawl-db.ts';
import type { SegmentStore } from '../../../ports/segment-store.ts';
import { SEED_HOSTS_KEY } from '../../../steps/inject.ts';
import type { RecentUrls } from '../../../steps/update/links/link-forwarding.ts';
import { nearPlan } from '../../dedup/dedup-settings.ts';
import type { CrawlDeps } from '../../deps.ts';
import { keepRests } from '../../loop/host-rests.ts';
import { storeOn } from '../../state/open-store.ts';
import { configuredFilter } from '../../state/seen-urls.ts';
import { heldLanes } from './held-lanes.ts';
import type { PartitionStores } from './partition-stores.ts';

/** A partition as a crawl of its own, while this process holds it. */
export interface OpenPartition {
  readonly deps: CrawlDeps;
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
  close(): Promise<void>;
}

export interface PartitionDeps {
  readonly wiring: Omit<CrawlDeps, 'store' | 'segments'>;
  readonly stores: PartitionStores;
  /** The segments of a partition, in a folder of its own. */
  segmentsIn(dir: string): SegmentStore;
  /** URLs that a partition has forwarded lately, as far as this process knows. */
  recentOf(partition: number): RecentUrls;
}

/** Folder of a partition in the state directory of the crawl. */
export const partitionDir = (dir: string, partition: number): string => join(dir, 'partitions', senderOf(partition));

/** Fact of the crawl db of a partition: a process holds it, or has ended without giving it back. */
const HELD_KEY = 'heldByProcess';

/** Opens a partition. Rejects with `db-locked` while another worker holds it, and as `openCrawlDbOn` does. */
export async function openPartition(
  { wiring, stores, segmentsIn, recentOf }: PartitionDeps,
  partition: number,
  signal: AbortSignal,
): Promise<OpenPartition> {
  const { config } = wiring;
  const { clock, log } = wiring.runtime;
  const hold = await stores.hold(partition, signal);
  try {
    const dir = partitionDir(wiring.dir, partition);
    const ended = new AbortController();
    const lost = AbortSignal.any([hold.lost, ended.signal]);
    const isOwn = (host: string): boolean => partitionAmong(domainOf(host), stores.partitions) === partition;
    const lanes = heldLanes(wiring.web.lanes, isOwn, hold, () => ended.abort());
    const own = { ...wiring, dir, web: { ...wiring.web, lanes }, segments: segmentsIn(dir) };
    const filter = await configuredFilter(config);
    const near = nearPlan(config);
    const features = { ...(filter !== undefined && { seenFilter: filter }), ...(near !== null && { near }) };
    const db = await openCrawlDbOn(hold.rows, { name: `partition ${senderOf(partition)}`, log, ...features });
    const place = { partition, partitions: stores.partitions, recent: recentOf(partition) };
    const store = await storeOn(db, own, false, { place });
    await restAfterCrash(db, own, isOwn);
    await db.write({ meta: { [HELD_KEY]: String(clock.now()) } });
    const saveRests = await keepRests(db, own);
    return {
      deps: { ...own, store: () => store },
      lost,
      async close() {
        try {
          // An end without these two writes is an end by a crash.
          if (hold.isHeld()) {
            await saveRests();
            await db.write({ meta: { [HELD_KEY]: '' } }).catch(() => {});
          }
        } finally {
          await db.close().catch(() => {});
          await hold.release();
        }
      },
    };
  } catch (error) {
    await hold.release();
    throw error;
  }
}

/**
 * After a holder that did not give the partition back, it is not known when a host was asked for the last time: hosts
 * of the rounds under way, and of seeds, whose sitemaps may have been read, rest for the longest delay.
 */
async function restAfterCrash(
  db: Pick<CrawlDb, 'meta' | 'segments'>,
  { config, runtime, web, segments }: Pick<CrawlDeps, 'config' | 'runtime' | 'web' | 'segments'>,
  isOwn: (host: string) => boolean,
): Promise<void> {
  if (((await db.meta(HELD_KEY)) ?? '') === '') return;
  const unapplied = new Set((await db.segments()).filter(({ state }) => state === 'generated').map(({ id }) => id));
  const until = runtime.clock.now() + Math.max(config.fetch.delayMs, config.fetch.maxCrawlDelayMs);
  for (const { id, hosts } of await segments.list()) {
    if (unapplied.has(id)) for (const host of Object.keys(hosts)) web.lanes.pauseUntil(host, until);
  }
  const seedHosts = JSON.parse((await db.meta(SEED_HOSTS_KEY)) ?? '[]') as string[];
  for (const host of seedHosts.filter(isOwn)) web.lanes.pauseUntil(host, until);
}

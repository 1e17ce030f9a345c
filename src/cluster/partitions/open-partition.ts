import { senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import type { DepthCache } from '../../core/domain/url/cache/depth-cache.ts';
import type { SegmentStore } from '../../core/ports/segment-store.ts';
import { hostTurnFacts, openHostTurns } from '../../core/steps/facts/host-rest.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import { takeOverRests } from '../../operations/loop/host-rests.ts';
import { nearPlan } from '../../operations/loop/step-settings.ts';
import { storeOn } from '../../operations/state/open-store.ts';
import { type CacheOf, configuredFilter } from '../../operations/state/seen-urls.ts';
import { openCrawlDbOn } from '../../store/rows/open-crawl-db.ts';
import { heldLanes, heldProtocol } from './held-lanes.ts';
import type { PartitionStores } from './partition-stores.ts';

/** A partition as a crawl of its own, while this process holds it. */
export interface OpenPartition {
  readonly deps: CrawlDeps;
  /** Fencing token of its lease. */
  readonly token: number;
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
  close(): Promise<void>;
}

export interface PartitionDeps {
  readonly wiring: Omit<CrawlDeps, 'store' | 'segments'>;
  readonly stores: PartitionStores;
  /**
   * The segments of a partition, in a folder of its own.
   * @param token fencing token of the lease on it
   */
  segmentsIn(dir: string, token: number): SegmentStore;
  /** What this process remembers of a partition from one turn to the next. */
  memoryOf(partition: number): PartitionMemory;
  /**
   * False: the notes about its hosts, and about which process requested them last, stay for the next worker. Default:
   * true.
   */
  readonly asksHosts?: boolean;
}

/** Number of recently forwarded URLs that are remembered per partition, as a power of two. */
export const RECENT_URLS_BITS = 15;

export interface PartitionMemory {
  /** Id of the process. */
  readonly holder: string;
  /** URLs that the partition has forwarded recently. */
  readonly recent: DepthCache;
  readonly cacheOf: CacheOf;
  /**
   * Whether its last turn ended in order: then nothing needs recovery, unless another process has held it since.
   */
  endedWell: boolean;
}

/** Fact of the crawl db of a partition: a process holds it, or has ended without giving it back. */
export const HELD_KEY = 'heldByProcess';
/** Fact of the crawl db of a partition: the process that gave it back last. */
const LAST_HOLDER_KEY = 'lastHolder';

const longestDelayMs = ({ fetch }: CrawlDeps['config']): number => Math.max(fetch.delayMs, fetch.maxCrawlDelayMs);

/** Opens a partition. Rejects with `db-locked` while another worker holds it, and as `openCrawlDbOn` does. */
export async function openPartition(
  { wiring, stores, segmentsIn, memoryOf, asksHosts = true }: PartitionDeps,
  partition: number,
  signal: AbortSignal,
): Promise<OpenPartition> {
  const { config } = wiring;
  const { clock, log } = wiring.runtime;
  const hold = await stores.hold(partition, signal);
  try {
    const dir = stores.dirOf(partition);
    const ended = new AbortController();
    const lost = AbortSignal.any([hold.lost, ended.signal]);
    const isOwn = (host: string): boolean => stores.placeOf(host) === partition;
    const rest = { until: Number.NEGATIVE_INFINITY };
    const onLost = (): void => ended.abort();
    const lanes = heldLanes(wiring.web.lanes, { isOwn, hold, clock, rest, onLost });
    const held = heldProtocol({ hold, onLost });
    const protocols = new Map([...wiring.web.protocols].map(([scheme, each]) => [scheme, held(each)]));
    const web = { ...wiring.web, lanes, protocols, robots: wiring.web.robots.through(held) };
    const own = { ...wiring, dir, web, segments: segmentsIn(dir, hold.token) };
    const filter = await configuredFilter(config);
    const near = nearPlan(config);
    const features = { ...(filter !== undefined && { seenFilter: filter }), ...(near !== null && { near }) };
    const db = await openCrawlDbOn(hold.rows, { name: `partition ${senderOf(partition)}`, log, ...features });
    const memory = memoryOf(partition);
    const { holder, recent, cacheOf } = memory;
    const isSpread = stores.partitions > 1;
    const place = { partition, placeOf: stores.placeOf, recent };
    const isCrashed = ((await db.meta(HELD_KEY)) ?? '') !== '';
    const isLastHolder = (await db.meta(LAST_HOLDER_KEY)) === holder;
    const isWhole = memory.endedWell && isLastHolder && !isCrashed;
    memory.endedWell = false;
    const store = await storeOn(db, own, isWhole, { cacheOf, ...(isSpread && { place }) });
    await hold.begun();
    if (isCrashed) rest.until = clock.now() + longestDelayMs(config);
    // Either way the next worker recovers what this process leaves unfinished.
    await db.write({ meta: asksHosts ? { [HELD_KEY]: String(clock.now()) } : { [LAST_HOLDER_KEY]: holder } });
    // If this process was the last holder, it remembers which hosts it has requested.
    if (asksHosts && !isLastHolder) await takeOverRests(db, own, longestDelayMs(config));
    return {
      deps: { ...own, store: () => store },
      token: hold.token,
      lost,
      async close() {
        try {
          // A partition that ends without this write has crashed.
          if (asksHosts && hold.isHeld()) {
            const now = clock.now();
            const rests = hostTurnFacts(await openHostTurns(db, now), lanes.resting(), now);
            await db.write({ meta: { ...rests, [LAST_HOLDER_KEY]: holder, [HELD_KEY]: '' } }).catch(() => {});
          }
        } finally {
          await own.segments.letGo?.().catch(() => {});
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

import { connectRedis } from '../../adapters/redis/connect.ts';
import { RedisSeenFilter } from '../../adapters/redis/seen-filter.ts';
import type { LevelCrawlDb } from '../../adapters/rows/rows-crawl-db.ts';
import { createSeenUrls } from '../../adapters/rows/seen/seen-urls.ts';
import type { Config } from '../../config/schema.ts';
import { type BloomPlan, planGrowingBloom } from '../../domain/url/bloom/bloom-sizing.ts';
import { HotUrls } from '../../domain/url/cache/hot-urls.ts';
import { WeightedUrls } from '../../domain/url/cache/weighted-urls.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import type { Log } from '../../ports/log.ts';
import type { SeenFilter, SeenFilterStats, SharedSeenFilter } from '../../ports/seen-filter.ts';
import { NO_SEEN_STATS, type SeenUrls, type SeenUrlsStats } from '../../ports/seen-urls.ts';

/** What `incrawl readdb --seen` tells. */
export interface SeenView {
  readonly trust: 'exact' | 'bloom';
  readonly cache: { readonly kind: 'lru' | 'weighted'; readonly urls: number };
  /** Questions of all crawls since the crawl db was made. */
  readonly asked: SeenUrlsStats;
  /** Shares of the questions; `null` before the first. */
  readonly cacheHitRate: number | null;
  readonly readRate: number | null;
  /**
   * Share of unknown URLs that the filter took for perhaps seen, as the crawl db told afterwards; purged URLs are among
   * them.
   */
  readonly measuredFalsePositiveRate: number | null;
  /** Share of new pages that is lost for good: none, unless the filter is trusted. */
  readonly mayLose: number;
  readonly filter: SeenFilterStats | null;
}

/** The filter as configured; `undefined` when it is off. */
export async function configuredFilter({ seen }: Config): Promise<BloomPlan | SharedSeenFilter | undefined> {
  if (seen.filter === 'off') return undefined;
  const { expectedUrls, leafBits, falsePositives } = seen;
  const plan = planGrowingBloom({ urls: expectedUrls, bitsPerLeaf: leafBits, falsePositiveRate: falsePositives });
  if (seen.filter === 'memory') return plan;
  return new RedisSeenFilter({ redis: await connectRedis(seen.redis), name: seen.redisName, plan });
}

export function openSeenUrls({ seen }: Config, db: LevelCrawlDb, log: Log): SeenUrls {
  const { cacheSize, trust } = seen;
  return createSeenUrls({
    hasMany: (urls) => db.hasMany(urls),
    cache: seen.cache === 'lru' ? new HotUrls(cacheSize) : new WeightedUrls(cacheSize),
    trust,
    log,
    ...(db.seenFilter === null ? {} : { filter: db.seenFilter }),
  });
}

const STATS_KEY = 'seenStats';

/** Keeps the counts of this process for `readdb --seen`; the answer goes on from there. */
export async function rememberSeen(db: CrawlDb, seen: SeenUrls, kept: SeenUrlsStats): Promise<SeenUrlsStats> {
  const now = seen.stats();
  if (now.probes === kept.probes) return kept;
  const stored = await storedStats(db);
  const sum = (key: keyof SeenUrlsStats): number => stored[key] + now[key] - kept[key];
  const keys = Object.keys(NO_SEEN_STATS) as (keyof SeenUrlsStats)[];
  await db.write({ meta: { [STATS_KEY]: JSON.stringify(Object.fromEntries(keys.map((key) => [key, sum(key)]))) } });
  return now;
}

async function storedStats(db: CrawlDb): Promise<SeenUrlsStats> {
  return { ...NO_SEEN_STATS, ...(JSON.parse((await db.meta(STATS_KEY)) ?? '{}') as Partial<SeenUrlsStats>) };
}

export async function seenView({ seen }: Config, db: CrawlDb, filter: SeenFilter | null): Promise<SeenView> {
  const asked = await storedStats(db);
  const stats = filter === null ? null : await filter.stats();
  const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
  return {
    trust: seen.trust,
    cache: { kind: seen.cache, urls: seen.cacheSize },
    asked,
    cacheHitRate: share(asked.cacheHits, asked.probes),
    readRate: share(asked.reads, asked.probes),
    measuredFalsePositiveRate: share(asked.falsePositives, asked.falsePositives + asked.filterNew),
    mayLose: seen.trust === 'bloom' && stats !== null ? stats.estimatedFalsePositiveRate : 0,
    filter: stats,
  };
}

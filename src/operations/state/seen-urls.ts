import { randomInt } from 'node:crypto';
import type { Config } from '../../core/config/schema.ts';
import { type BloomPlan, planGrowingBloom } from '../../core/domain/url/bloom/bloom-leaf.ts';
import { type UrlCache, WeightedUrls } from '../../core/domain/url/cache/weighted-urls.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { Log } from '../../core/ports/log.ts';
import {
  NO_SEEN_STATS,
  PURGED_KEY,
  type SeenUrls,
  type SeenUrlsStats,
  type SharedSeenFilter,
} from '../../core/ports/seen-filter.ts';
import type { RowsCrawlDb } from '../../store/rows/rows-crawl-db.ts';
import { createSeenUrls } from '../../store/rows/seen/seen-urls.ts';

/** The configured filter; `undefined` if it is off. */
export async function configuredFilter({ seen }: Config): Promise<BloomPlan | SharedSeenFilter | undefined> {
  if (seen.filter === 'off') return undefined;
  const { expectedUrls, leafBits, falsePositives } = seen;
  const plan = planGrowingBloom({ urls: expectedUrls, bitsPerLeaf: leafBits, falsePositiveRate: falsePositives });
  if (seen.filter === 'memory') return plan;
  const [{ connectRedis }, { RedisSeenFilter }] = await Promise.all([
    import('../../published/redis/connect.ts'),
    import('../../published/redis/seen-filter.ts'),
  ]);
  return new RedisSeenFilter({ redis: await connectRedis(seen.redis), name: seen.redisName, plan });
}

const newCache = ({ seen }: Pick<Config, 'seen'>): UrlCache => new WeightedUrls(seen.cacheSize);

/** Returns the cache of hot URLs for an opening of the crawl db. */
export type CacheOf = (db: Pick<CrawlDb, 'meta'>) => Promise<UrlCache>;

/**
 * One cache for all openings of a crawl db by a process that does not hold it in between. The cache is emptied if other
 * processes have deleted URLs since, because they do not say which.
 */
export function keptCache(config: Pick<Config, 'seen'>): CacheOf {
  let cache = newCache(config);
  let known: string | undefined;
  return async (db) => {
    const purged = await db.meta(PURGED_KEY);
    if (purged !== known) cache = newCache(config);
    known = purged;
    return cache;
  };
}

/** @param cache default: one of its own */
export function openSeenUrls(config: Config, db: RowsCrawlDb, log: Log, cache = newCache(config)): SeenUrls {
  const { trust } = config.seen;
  return createSeenUrls({
    hasMany: (urls) => db.hasMany(urls),
    cache,
    trust,
    seed: randomInt(2 ** 32),
    log,
    ...(db.seenFilter === null ? {} : { filter: db.seenFilter }),
  });
}

/** Fact of a crawl db: counts of look-ups, as JSON. */
export const SEEN_STATS_KEY = 'seenStats';

/** Adds the counts of this process since `kept` to those of `readdb --seen`; resolves with the new `kept`. */
export async function rememberSeen(db: CrawlDb, seen: SeenUrls, kept: SeenUrlsStats): Promise<SeenUrlsStats> {
  const now = seen.stats();
  if (now.probes === kept.probes) return kept;
  const stored = await storedStats(db);
  const sum = (key: keyof SeenUrlsStats): number => stored[key] + now[key] - kept[key];
  const keys = Object.keys(NO_SEEN_STATS) as (keyof SeenUrlsStats)[];
  await db.write({
    meta: { [SEEN_STATS_KEY]: JSON.stringify(Object.fromEntries(keys.map((key) => [key, sum(key)]))) },
  });
  return now;
}

export async function storedStats(db: Pick<CrawlDb, 'meta'>): Promise<SeenUrlsStats> {
  return { ...NO_SEEN_STATS, ...(JSON.parse((await db.meta(SEEN_STATS_KEY)) ?? '{}') as Partial<SeenUrlsStats>) };
}

import type { CrawlDb, StateCounts } from '../ports/crawl-db.ts';
import { seconds } from './views.ts';

export interface DbStats {
  readonly urls: number;
  readonly byStatus: StateCounts;
  /** URLs that generate would look at now. */
  readonly due: number;
  /** Of those, the ones that have been waiting for more than a day. */
  readonly overdue: number;
  /** URLs in a segment that is not applied yet. */
  readonly leased: number;
  readonly hosts: number;
  /** Revisit intervals in seconds, of all URLs that have a next visit; `null` without any. */
  readonly interval: { readonly min: number; readonly p50: number; readonly p95: number; readonly max: number } | null;
}

const DAY = 86_400_000;

/** Counts come from counters; quantiles of the intervals from one pass over the due index, which holds no records. */
export async function statsOf(db: CrawlDb, now: number): Promise<DbStats> {
  const counters = await db.counters();
  const intervals = new Float64Array(counters.urls);
  let count = 0;
  for await (const entry of db.due({ until: Number.MAX_SAFE_INTEGER })) {
    if (count < intervals.length) intervals[count++] = entry.intervalMs;
  }
  const sorted = intervals.subarray(0, count).sort();
  const quantile = (share: number): number => seconds(sorted[Math.floor(share * (count - 1))] ?? 0);
  return {
    urls: counters.urls,
    byStatus: counters.byState,
    due: await db.countDue(now),
    overdue: await db.countDue(now - DAY),
    leased: counters.leased,
    hosts: counters.hosts,
    interval: count === 0 ? null : { min: quantile(0), p50: quantile(0.5), p95: quantile(0.95), max: quantile(1) },
  };
}

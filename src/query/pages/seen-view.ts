import type { Config } from '../../core/config/schema.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { SeenFilter, SeenFilterStats, SeenUrlsStats } from '../../core/ports/seen-filter.ts';
import { storedStats } from '../../operations/state/seen-urls.ts';

/** The answer of `incrawl readdb --seen`. */
export interface SeenView {
  readonly trust: 'exact' | 'bloom';
  readonly cache: { readonly kind: 'lru' | 'weighted'; readonly urls: number };
  /** Look-ups of all crawls since the crawl db was created. */
  readonly asked: SeenUrlsStats;
  /** Shares of the look-ups; `null` before the first. */
  readonly cacheHitRate: number | null;
  readonly readRate: number | null;
  /**
   * Share of unknown URLs that the filter reported as possibly seen, as the crawl db later showed; includes purged
   * URLs.
   */
  readonly measuredFalsePositiveRate: number | null;
  /** Expected share of new pages that is lost: 0 unless `seen.trust` is `bloom`. */
  readonly mayLose: number;
  /** Where writing processes keep the filter: in memory with its rows in the crawl db, in Redis, or nowhere. */
  readonly filterIn: 'memory' | 'redis' | 'off';
  /** `null`: it is off, or the crawl db is shared and only its writer has it open. */
  readonly filter: SeenFilterStats | null;
}

export async function seenView({ seen }: Config, db: CrawlDb, filter: SeenFilter | null): Promise<SeenView> {
  const asked = await storedStats(db);
  const stats = filter === null ? null : await filter.stats();
  const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
  return {
    trust: seen.trust,
    cache: { kind: 'weighted', urls: seen.cacheSize },
    asked,
    cacheHitRate: share(asked.cacheHits, asked.probes),
    readRate: share(asked.reads, asked.probes),
    measuredFalsePositiveRate: share(asked.falsePositives, asked.falsePositives + asked.filterNew),
    mayLose: seen.trust === 'bloom' && stats !== null ? stats.estimatedFalsePositiveRate : 0,
    filterIn: seen.filter,
    filter: stats,
  };
}

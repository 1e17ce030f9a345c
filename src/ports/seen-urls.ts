/**
 * Whether URLs are new. Called for every outlink of every page, so in batches. A URL that was added and not removed is
 * never reported new, nor an unknown one seen: approximate answers are confirmed by the crawl db, unless the operator
 * trusts the filter (`seen.trust: bloom`).
 */
export interface SeenUrls {
  /** `true` where the URL is known, in the order asked. URLs must be canonical; duplicates are allowed. */
  probe(urls: readonly string[]): Promise<boolean[]>;
  /** To be called after the crawl db has these URLs. */
  add(urls: readonly string[]): void;
  /** To be called after the crawl db has deleted these URLs (a purge). */
  remove(urls: readonly string[]): void;
  stats(): SeenUrlsStats;
}

/**
 * Fact of a crawl db: when URLs were last deleted from it, ms since the epoch. Known URLs that a process remembers from
 * before are void once another process has deleted some.
 */
export const PURGED_KEY = 'purgedAt';

export interface SeenUrlsStats {
  readonly probes: number;
  /** Found in the cache of hot URLs. */
  readonly cacheHits: number;
  /** New by the filter: not looked up in the crawl db. */
  readonly filterNew: number;
  /** Perhaps seen by the filter, and reported as seen without a lookup (`seen.trust: bloom`). */
  readonly trusted: number;
  /** Keys looked up in the crawl db. */
  readonly reads: number;
  /** Perhaps seen by the filter, but unknown to the crawl db. */
  readonly falsePositives: number;
  /** Batches that the filter failed to answer; the crawl db answered. */
  readonly filterFaults: number;
}

export const NO_SEEN_STATS: SeenUrlsStats = Object.freeze({
  probes: 0,
  cacheHits: 0,
  filterNew: 0,
  trusted: 0,
  reads: 0,
  falsePositives: 0,
  filterFaults: 0,
});

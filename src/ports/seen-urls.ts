/**
 * "Is this URL new?" Asked for every outlink of every page, so it is asked in batches. Never answers "new" for a URL
 * that was added and not removed, and never "seen" for one that the crawl db does not know: whatever is fast and
 * inexact inside is confirmed before it answers, unless the operator said otherwise (`seen.trust: bloom`).
 */
export interface SeenUrls {
  /** In the order asked: `true` where the URL is known. URLs must be canonical; doubles are allowed. */
  probe(urls: readonly string[]): Promise<boolean[]>;
  /** Told after the crawl db has these URLs. */
  add(urls: readonly string[]): void;
  /** Told after the crawl db has lost these URLs (a purge). */
  remove(urls: readonly string[]): void;
  stats(): SeenUrlsStats;
}

export interface SeenUrlsStats {
  readonly probes: number;
  /** Answered by the cache of hot URLs. */
  readonly cacheHits: number;
  /** Surely new by the filter: keys that were not looked up. */
  readonly filterNew: number;
  /** Perhaps seen by the filter, and taken for seen without a look (`seen.trust: bloom`). */
  readonly trusted: number;
  /** Keys looked up in the crawl db. */
  readonly reads: number;
  /** Perhaps seen by the filter, and not known to the crawl db. */
  readonly falsePositives: number;
  /** Batches that the filter could not answer; the crawl db did. */
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

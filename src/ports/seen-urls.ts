/**
 * "Is this URL new?" Asked for every outlink of every page, so it is asked in batches.
 * Never answers "new" for a URL that was added and not removed, and never "seen" for one that the crawl db does not know:
 * whatever is fast and inexact inside is confirmed before it answers.
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
  /** Keys looked up in the crawl db. */
  readonly reads: number;
}

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
  /** Found in the cache of hot URLs, or among the digests of known ones. */
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

/** A set of URLs, of any size: first all additions, then the questions. */
export interface LinkedUrls {
  /** A returned promise must be awaited before the next call. */
  add(url: string): Promise<void> | undefined;
  /**
   * Whether the URL was added; of 10^12 that were not, about one is taken for one that was. URLs in rising order of
   * their keys are nearly all answered at once; in another order each may cost a read.
   */
  has(url: string): boolean | Promise<boolean>;
  /** Frees memory and disk space. */
  close(): Promise<void>;
}

/**
 * Opens an empty set.
 * @param bounds rising URL keys that cut the key space into parts, one of which is in memory at a time
 */
export type OpenLinkedUrls = (bounds: readonly string[]) => Promise<LinkedUrls>;

/**
 * An approximate set of URL digests in front of the crawl db: false positives are possible, false negatives are not.
 * Digests are packed, four words each (`digestUrls`).
 */
export interface SeenFilter {
  /**
   * 1 where perhaps added, 0 where surely not, in the order asked. Finds what any process added before the call.
   * Rejects when the filter cannot answer; the crawl db can.
   */
  probe(digests: Uint32Array): Promise<Uint8Array>;
  /**
   * Adds digests; duplicates are allowed. Resolves when all of them are durable; after a rejection some may be missing.
   */
  add(digests: Uint32Array): Promise<void>;
  stats(): Promise<SeenFilterStats>;
  /** Releases its resources. */
  close(): Promise<void>;
}

/** A filter outside the crawl db, which may have lost digests since it was last used. */
export interface SharedSeenFilter extends SeenFilter {
  /**
   * Identity of the filter and the number of digests added. Another epoch or a smaller number means that digests were
   * lost.
   */
  mark(): Promise<{ readonly epoch: string; readonly adds: number }>;
  /** Empties the filter; calls of its other users fail. */
  clear(): Promise<void>;
}

export interface SeenFilterStats {
  /** Where the bits are stored. */
  readonly kind: 'memory' | 'leveldb' | 'redis';
  /** Name of the digest hash. */
  readonly hash: string;
  /** f, m, k, u and c of the filter's plan. */
  readonly falsePositiveRate: number;
  readonly bitsPerLeaf: number;
  readonly hashes: number;
  readonly capacity: number;
  readonly rootLeaves: number;
  /** Layers below the first. */
  readonly depth: number;
  /** Since the filter was created: leaves split, and leaves rebuilt with more bits. */
  readonly splits: number;
  readonly growths: number;
  /** Digests added. */
  readonly urls: number;
  /** Of all leaves together. */
  readonly bits: number;
  /** Estimated share of unknown URLs reported as seen, from the fill of the leaves. */
  readonly estimatedFalsePositiveRate: number;
  readonly leaves: readonly SeenLeafStats[];
}

interface SeenLeafStats {
  /** Slot of the root, then one digit per layer: `3/0/1`. */
  readonly place: string;
  readonly bits: number;
  readonly urls: number;
  readonly capacity: number;
  /** Share of set bits. */
  readonly fill: number;
}

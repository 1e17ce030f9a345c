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

export interface SeenLeafStats {
  /** Slot of the root, then one digit per layer: `3/0/1`. */
  readonly place: string;
  readonly bits: number;
  readonly urls: number;
  readonly capacity: number;
  /** Share of set bits. */
  readonly fill: number;
}

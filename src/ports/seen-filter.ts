/**
 * A set of URL digests that may say "perhaps" of what it does not hold, and never "no" of what it does: the accelerator
 * in front of the crawl db. Digests are packed, four words each (`digestUrls`).
 */
export interface SeenFilter {
  /**
   * 1 where perhaps added, 0 where surely not, in the order asked. Rejects when the filter cannot answer; the crawl db
   * can. What was added before the call is found, by whatever process it was added.
   */
  probe(digests: Uint32Array): Promise<Uint8Array>;
  /** Doubles are allowed. Resolves when all digests will be found for good; after a rejection some may be missing. */
  add(digests: Uint32Array): Promise<void>;
  stats(): Promise<SeenFilterStats>;
  /** Gives back what it holds open. */
  close(): Promise<void>;
}

/** A filter that lives outside of the crawl db, and may have forgotten something when it is met again. */
export interface SharedSeenFilter extends SeenFilter {
  /**
   * Which filter it is, and how many digests it was given. One that answers with another epoch or with less has lost
   * some.
   */
  mark(): Promise<{ readonly epoch: string; readonly adds: number }>;
  /** Empties it; whoever still uses it gets an error. */
  clear(): Promise<void>;
}

export interface SeenFilterStats {
  /** Where the bits live. */
  readonly kind: 'memory' | 'leveldb' | 'redis';
  /** Name of the hash that makes the digests. */
  readonly hash: string;
  /** f, m, k, u and c of the filter's plan. */
  readonly falsePositiveRate: number;
  readonly bitsPerLeaf: number;
  readonly hashes: number;
  readonly capacity: number;
  readonly rootLeaves: number;
  /** Layers below the first. */
  readonly depth: number;
  /** Since the filter was made: leaves divided, and leaves rebuilt with more bits. */
  readonly splits: number;
  readonly growths: number;
  /** Digests put in. */
  readonly urls: number;
  /** Of all leaves together. */
  readonly bits: number;
  /** Share of unknown URLs that will be taken for known ones, by the bits that are set. */
  readonly estimatedFalsePositiveRate: number;
  readonly leaves: readonly SeenLeafStats[];
}

export interface SeenLeafStats {
  /** Slot of the root, then one digit per layer: `3/0/1`. */
  readonly place: string;
  readonly bits: number;
  readonly urls: number;
  readonly capacity: number;
  /** Share of bits that are set. */
  readonly fill: number;
}

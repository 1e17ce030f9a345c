/** A set of URLs, of any size: first all additions, then the questions. */
export interface LinkedUrls {
  /** A returned promise must be awaited before the next call. */
  add(url: string): Promise<void> | undefined;
  /**
   * Whether the URL was added; of 10^12 that were not, about one is taken for one that was. URLs in rising order of
   * their keys are answered at once but for a few; in another order each may cost a read.
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

import type { Preference } from '../domain/crawl/states/duplicate.ts';

export interface NearGroupingOptions {
  /** Largest distance of a page to its representative, 0 to 3 bits. */
  readonly distance: number;
  /** As in `CopyRule`. */
  readonly minOverlap: number;
  /**
   * Order of preference for representatives: the first criterion that differs decides; among equals the page added
   * first.
   */
  readonly prefer: readonly Preference[];
  /** Only incoming pages are representatives, ahead of all others (a new batch against the library). */
  readonly isBatch: boolean;
}

/**
 * Groups near duplicates by signature. In the order of preference, each page repeats the nearest representative within
 * the distance, of several equally near the preferred one; a page without one becomes a representative. A page that
 * repeats another has no repeats. Pages of different scopes are not compared, nor texts of very different lengths
 * (`isAlikeInLength`). Unless `minOverlap` is 0, the texts of near pages decide, as during a crawl: `isCopiedText`,
 * `mayRepeatStart`.
 */
export interface NearGrouping {
  /** Adds a page; pages are numbered from 0 in this order. A returned promise must be awaited before the next call. */
  add(page: GroupedPage): Promise<void> | undefined;
  /** Called once, after all pages. */
  group(): Promise<NearGroups>;
  /** Frees memory and disk space. May be called at any time, more than once. */
  close(): Promise<void>;
}

export interface GroupedPage {
  readonly url: string;
  /** 16 hex digits. */
  readonly signature: string;
  readonly scope: string;
  /** Length of the signed text, characters, below 2^31; 0: unknown, which is like 0 alone. */
  readonly textChars: number;
  /** As in a record. */
  readonly sketch: string | null;
  /** It repeats no other page (`isHub`). */
  readonly isHub: boolean;
  readonly score: number;
  /** Ms since the epoch. */
  readonly discoveredAt: number;
  readonly isIncoming: boolean;
}

export interface NearGroups {
  /** Representatives with at least one repeat. */
  readonly groups: number;
  /** By page number; may be read once. */
  readonly repeats: AsyncIterable<Repeat>;
}

export interface Repeat {
  /** Number of the page that repeats another. */
  readonly number: number;
  /** URL of its representative. */
  readonly of: string;
  /** Bits. */
  readonly distance: number;
}

import type { Preference } from '../domain/crawl/states/duplicate.ts';

export interface NearGroupingOptions {
  /** Largest distance of a page to its representative, 0 to 3 bits. */
  readonly distance: number;
  /** Who represents: the first criterion that tells two pages apart decides; among equals the one added first. */
  readonly prefer: readonly Preference[];
  /** Only incoming pages represent, and go before all others (a new batch against the library). */
  readonly isBatch: boolean;
}

/**
 * Groups pages by their signatures. In the order of preference, each page repeats the nearest representative within the
 * distance, of several equally near the one that is preferred; a page without one becomes a representative. Nobody
 * repeats a page that repeats another. Pages of different scopes never meet, nor do those of which one has a text much
 * shorter than the other's (`isAlikeInLength`).
 */
export interface NearGrouping {
  /**
   * Pages get numbers from 0 in the order in which they are added. A promise that is returned wants to be awaited
   * before the next page.
   */
  add(page: GroupedPage): Promise<void> | undefined;
  /** To be asked once, when all pages have been added. */
  group(): Promise<NearGroups>;
  /** Frees what is held in memory and on disk. May be called at any time, more than once. */
  close(): Promise<void>;
}

export interface GroupedPage {
  readonly url: string;
  /** 16 hex digits. */
  readonly signature: string;
  readonly scope: string;
  /** Length of the text that was signed, below 2^31; 0: not known, which is like 0 alone. */
  readonly textChars: number;
  readonly score: number;
  /** Ms since the epoch. */
  readonly discoveredAt: number;
  readonly isIncoming: boolean;
}

export interface NearGroups {
  /** Representatives that are repeated. */
  readonly groups: number;
  /** In the order of their numbers; to be read once. */
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

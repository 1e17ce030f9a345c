import type { Preference, SignedText } from '../domain/crawl/states/duplicate.ts';

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

/**
 * Index of page signatures for near-duplicate queries: four tables, each keyed by 16 of the 64 bits (Manku et al.,
 * Detecting near-duplicates for web crawling, 2007). Derived from the records and written in the same batches. Pages
 * without a stored copy and pages with little text are left out.
 */
export interface FingerprintTables {
  /** Only pages of the same scope are compared. */
  readonly scope: 'host' | 'domain' | 'all';
  /** Least text of an indexed page, characters. */
  readonly minChars: number;
  /** Near pages of each query, in the order asked. */
  near(questions: readonly NearQuestion[]): Promise<NearAnswer[]>;
  /** Pages marked as duplicates of a page, in key order. */
  duplicatesOf(url: string, limit?: number): AsyncIterable<string>;
}

export interface NearQuestion extends SignedText {
  /** Gives the scope. The page itself is never in the answer. */
  readonly url: string;
  /** Largest distance, 0 to 3 bits: up to there, four tables miss no pair. */
  readonly distance: number;
}

export interface NearAnswer {
  /** Nearest first; at equal distance by URL. */
  readonly pages: readonly NearFound[];
  /** `false`: a bucket is full, and a page that was left out of it may be near. */
  readonly complete: boolean;
}

export interface NearFound {
  readonly url: string;
  readonly distance: number;
  readonly textChars: number;
  /** Marked as a duplicate; otherwise it may be a representative. */
  readonly isDuplicate: boolean;
}

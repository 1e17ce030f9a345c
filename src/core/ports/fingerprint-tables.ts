import type { SignedText } from '../domain/crawl/states/duplicate.ts';

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
  /** `false`: a bucket is full and pages were left out of it, of which one may be near. */
  readonly complete: boolean;
}

export interface NearFound {
  readonly url: string;
  readonly distance: number;
  readonly textChars: number;
  /** Marked as a duplicate; otherwise it may be a representative. */
  readonly isDuplicate: boolean;
}

import type { SignedText } from '../domain/crawl/states/duplicate.ts';

/**
 * The signatures of a crawl db's pages, found again by those near them: four tables, each by 16 of the 64 bits (SEEDS
 * S3, Manku et al. 2007). Derived from the records and moved with them, in the same batch. Pages without a copy, and
 * those with little text, are not in it.
 */
export interface FingerprintTables {
  /** What may repeat what; questions are answered within it. */
  readonly scope: 'host' | 'domain' | 'all';
  /** Pages with less text than this, characters, are left out. */
  readonly minChars: number;
  /** Answers in the order asked. */
  near(questions: readonly NearQuestion[]): Promise<NearAnswer[]>;
  /** Pages marked as duplicates of a page, in key order. */
  duplicatesOf(url: string, limit?: number): AsyncIterable<string>;
}

export interface NearQuestion extends SignedText {
  /** Tells the scope; the page itself is never in the answer. */
  readonly url: string;
  /** Largest distance, 0 to 3 bits: with four tables no pair is missed up to there. */
  readonly distance: number;
}

export interface NearAnswer {
  /** The nearest first; among equals in the order of their URLs. */
  readonly pages: readonly NearFound[];
  /** `false`: a bucket is so full that pages were left out of it, and one of them may be near. */
  readonly complete: boolean;
}

export interface NearFound {
  readonly url: string;
  readonly distance: number;
  readonly textChars: number;
  /** Marked as a duplicate; otherwise it may represent others. */
  readonly isDuplicate: boolean;
}

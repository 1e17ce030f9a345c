/** What a page says about itself, as far as its record in the crawl db keeps it; the rest is in the parse output. */
export interface StatedFacts {
  /** At most {@link MAX_RECORD_AUTHORS}. */
  readonly authors: readonly string[];
  /** Milliseconds since the epoch, whole seconds. */
  readonly publishedAt: number | null;
  readonly modifiedAt: number | null;
  /** Language tag (BCP 47), declared or guessed. */
  readonly lang: string | null;
}

export const MAX_RECORD_AUTHORS = 8;
const MAX_NAME = 100;
const MAX_TAG = 35;

const wholeSeconds = (at: number | null): number | null => (at === null ? null : 1_000 * Math.floor(at / 1_000));

/** The facts within their bounds; `null` for a page that states none. */
export function statedFacts({ authors, publishedAt, modifiedAt, lang }: StatedFacts): StatedFacts | null {
  if (authors.length === 0 && publishedAt === null && modifiedAt === null && lang === null) return null;
  return {
    authors: authors.slice(0, MAX_RECORD_AUTHORS).map((name) => name.slice(0, MAX_NAME)),
    publishedAt: wholeSeconds(publishedAt),
    modifiedAt: wholeSeconds(modifiedAt),
    lang: lang === null ? null : lang.slice(0, MAX_TAG),
  };
}

import type { CrawlDatum } from '../states/datum.ts';

/** Metadata key of a seed with a crawl depth of its own, and of the pages first found on the way from it. */
export const SEED_LAYERS_KEY = 'seed.depth';

/** The crawl depth of the seed from which a page was first found, as layers; `null`: it has none of its own. */
export function seedLayersOf({ metadata }: Pick<CrawlDatum, 'metadata'>): number | null {
  const layers = metadata[SEED_LAYERS_KEY];
  return typeof layers === 'number' ? layers : null;
}

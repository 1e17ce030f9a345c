import type { CrawlDatum } from '../states/datum.ts';

/**
 * Redirects in a row by which a URL was found, from the metadata of its record. One that has been a page since begins a
 * new chain.
 */
export function redirectsTo({ digest, metadata }: Pick<CrawlDatum, 'digest' | 'metadata'>): number {
  return digest === null && typeof metadata.redirects === 'number' ? metadata.redirects : 0;
}

/** Whether a redirect of this URL would be one more than is followed. */
export const endsChain = (page: Pick<CrawlDatum, 'digest' | 'metadata'>, maxRedirects: number): boolean =>
  redirectsTo(page) >= maxRedirects;

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

/**
 * Links from a seed to the target of a redirect. A redirect counts as a link, unless it leads to the same address under
 * another scheme, or with or without `www.`: that is the same page by another name.
 */
export const depthAfter = (depth: number, from: string, to: string): number =>
  depth + (isSameAddress(new URL(from), new URL(to)) ? 0 : 1);

function isSameAddress(from: URL, to: URL): boolean {
  if (from.pathname !== to.pathname || from.search !== to.search) return false;
  const isSamePort = from.port === to.port || from.protocol !== to.protocol;
  return isSamePort && withoutWww(from.hostname) === withoutWww(to.hostname);
}

const withoutWww = (hostname: string): string => hostname.replace(/^www\./, '');

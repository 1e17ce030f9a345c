import type { Outlink } from 'incrawl/plugin';

const FEED_TYPE = /^(?:application\/(?:rss|atom|rdf|feed)\+(?:xml|json)|(?:text|application)\/xml)\s*(?:;|$)/i;
const PAGE_TYPE = /^(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;

/** The outlink of a `link` element or a `Link` header field, if its target is a document to crawl. */
export function readLinkElement(
  attributes: Readonly<Record<string, string>>,
  found: (rel: Outlink['rel'], lang: string | undefined) => void,
): void {
  const relations = attributes.rel;
  if (relations === undefined) return;
  const tokens = relations.toLowerCase().split(/\s+/);
  if (tokens.includes('canonical')) found('canonical', undefined);
  else if (tokens.includes('alternate') && !tokens.includes('stylesheet')) readAlternate(attributes, found);
  else if (tokens.includes('sitemap')) found('sitemap', undefined);
  else if (tokens.includes('next') || tokens.includes('prev') || tokens.includes('amphtml')) found('link', undefined);
}

function readAlternate(
  attributes: Readonly<Record<string, string>>,
  found: (rel: Outlink['rel'], lang: string | undefined) => void,
): void {
  const type = attributes.type?.trim() ?? '';
  const lang = attributes.hreflang?.trim() || undefined;
  if (FEED_TYPE.test(type)) found('feed', lang);
  // Apps (`android-app://`) and special formats (oEmbed, JSON) are not pages.
  else if (type === '' || PAGE_TYPE.test(type)) found('alternate', lang);
}

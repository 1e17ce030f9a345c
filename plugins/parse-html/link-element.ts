import { variantOfMedia } from 'incrawl/bundled';
import type { Outlink } from 'incrawl/plugin';

const FEED_TYPE = /^(?:application\/(?:rss|atom|rdf|feed)\+(?:xml|json)|(?:text|application)\/xml)\s*(?:;|$)/i;
const PAGE_TYPE = /^(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;

/** What a `link` element or a `Link` header field says about its target. */
export interface LinkMeaning {
  readonly rel: Outlink['rel'];
  readonly lang?: string | undefined;
  readonly variant?: Outlink['variant'];
  readonly series?: 'next' | 'prev';
}

const AMP: LinkMeaning = { rel: 'alternate', variant: 'amp' };

/** The meaning of a `link` element or a `Link` header field; `null`: its target is not a document to crawl. */
export function linkMeaning(attributes: Readonly<Record<string, string>>): LinkMeaning | null {
  const relations = attributes.rel;
  if (relations === undefined) return null;
  const tokens = relations.toLowerCase().split(/\s+/);
  if (tokens.includes('canonical')) return { rel: 'canonical' };
  if (tokens.includes('alternate') && !tokens.includes('stylesheet')) return alternate(attributes);
  if (tokens.includes('sitemap')) return { rel: 'sitemap' };
  if (tokens.includes('next')) return { rel: 'link', series: 'next' };
  if (tokens.includes('prev')) return { rel: 'link', series: 'prev' };
  return tokens.includes('amphtml') ? AMP : null;
}

function alternate(attributes: Readonly<Record<string, string>>): LinkMeaning | null {
  const type = attributes.type?.trim() ?? '';
  const lang = attributes.hreflang?.trim() || undefined;
  if (FEED_TYPE.test(type)) return { rel: 'feed', lang };
  // Apps (`android-app://`) and special formats (oEmbed, JSON) are not pages.
  if (type !== '' && !PAGE_TYPE.test(type)) return null;
  const variant = lang === undefined ? (variantOfMedia(attributes.media ?? '') ?? undefined) : undefined;
  return { rel: 'alternate', lang, variant };
}

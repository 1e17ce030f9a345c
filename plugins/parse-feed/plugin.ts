import { cutText, definePlugin, type Outlink, type Page, robotsDirectives } from 'incrawl/plugin';
import { z } from 'zod';
import { decodeXml, gunzip } from './decode-xml.ts';
import type { Feed } from './feed-reader.ts';
import type { SitemapEntries } from './sitemap-reader.ts';
import { DEFAULT_LIMITS, readXmlDocument } from './xml-document.ts';
import type { XmlFault } from './xml-reader.ts';

export { parseFeedDate } from './feed-date.ts';
export { parseSitemap, type Sitemap, type SitemapOptions } from './sitemap.ts';
export type { SitemapReference, SitemapUrl } from './sitemap-reader.ts';

const optionsSchema = z.strictObject({
  agent: z
    .string()
    .regex(/^[\w-]+$/, 'expected a product token: letters, digits, - and _')
    .optional()
    .describe('Product token matched in X-Robots-Tag. Default: agent.name.'),
  maxUrls: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(DEFAULT_LIMITS.maxUrls)
    .describe('Most entries read of a sitemap or feed.'),
  maxBytes: z.int().min(1024).default(52_428_800).describe('Largest size of a gzip file after decompression, bytes.'),
  maxDepth: z.int().min(4).max(1000).default(DEFAULT_LIMITS.maxDepth).describe('Deepest nesting of elements.'),
});

type Options = z.infer<typeof optionsSchema>;

export default definePlugin({
  name: 'parse-feed',
  api: 1,
  options: optionsSchema,
  setup: (host, options) => ({
    types: [
      'application/rss+xml',
      'application/atom+xml',
      'application/feed+xml',
      'application/rdf+xml',
      'application/xml',
      'text/xml',
      'application/gzip',
      'application/x-gzip',
    ],
    content: 'feed1',
    parse: (page) => parsePage(page, (options.agent ?? host.agent).toLowerCase(), options),
  }),
});

/** Fills the result; the DOM stays unset, since the file is read as a stream. */
function parsePage(page: Page, agent: string, { maxUrls, maxBytes, maxDepth }: Options): void {
  const { noindex, nofollow } = robotsDirectives([], page.headers['x-robots-tag'], agent);
  page.result.noindex = noindex;
  page.result.nofollow = nofollow;
  const isZipped = page.contentType.endsWith('gzip');
  const unzipped = isZipped ? gunzip(page.body, maxBytes) : null;
  const text = unzipped === null ? page.content : decodeXml(unzipped.bytes);
  const document = readXmlDocument(text, page.url, { ...DEFAULT_LIMITS, maxUrls, maxDepth });
  const isSitemap = document.kind === 'urlset' || document.kind === 'sitemapindex';
  if (isZipped && !isSitemap && document.kind !== 'feed')
    throw new Error('expected a sitemap or feed in the gzip file');
  if (isSitemap) fillFromSitemap(page, document);
  else if (document.kind === 'feed') fillFromFeed(page, document.feed);
  else page.result.text = document.text;
  page.result.metadata['parse-feed.kind'] = document.kind;
  const faults = [...(unzipped?.fault ? [{ message: unzipped.fault }] : []), ...document.faults];
  if (faults.length > 0) page.result.metadata['parse-feed.errors'] = describeFaults(faults);
}

function describeFaults(faults: readonly XmlFault[]): string {
  const [first] = faults;
  return `${faults.length}, first in line ${first?.line ?? 1}: ${first?.message ?? ''}`.slice(0, 200);
}

function fillFromSitemap({ result }: Page, { urls, sitemaps }: SitemapEntries): void {
  for (const { loc, lastmod } of [...sitemaps, ...urls]) result.outlinks.push(outlink(loc, '', 'sitemap', lastmod));
  // The locations are the text, so that a grown sitemap has a near signature, a replaced one a distant signature.
  result.text = result.outlinks.map(({ url }) => url).join('\n');
  const seen = new Set(result.outlinks.map(({ url }) => url));
  for (const { lang, url } of urls.flatMap(({ alternates }) => alternates)) {
    if (!seen.has(url)) result.outlinks.push({ ...outlink(url, '', 'alternate', null), lang });
    seen.add(url);
  }
}

function fillFromFeed({ result }: Page, feed: Feed): void {
  result.title = feed.title;
  result.description = feed.description;
  result.lang = feed.lang;
  result.text = feed.entries.map(({ title, text }) => (text === '' ? title : `${title}\n${text}`)).join('\n\n');
  const seen = new Set<string>();
  for (const { url, title, modifiedAt } of feed.entries) {
    if (url === null || seen.has(url)) continue;
    seen.add(url);
    const link = outlink(url, title, 'feed', null);
    result.outlinks.push(modifiedAt === null ? link : { ...link, lastModifiedAt: modifiedAt });
  }
  for (const url of feed.links) if (!seen.has(url)) result.outlinks.push(outlink(url, '', 'link', null));
}

function outlink(url: string, anchor: string, rel: Outlink['rel'], lastmod: string | null): Outlink {
  const link = { url, anchor: cutText(anchor, 256), rel, nofollow: false };
  return lastmod === null ? link : { ...link, lastModifiedAt: Date.parse(lastmod) };
}

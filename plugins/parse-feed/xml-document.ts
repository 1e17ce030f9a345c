import { createEmptyFeed, createFeedVisitor, type Feed } from './feed-reader.ts';
import { foldWhiteSpace } from './html-text.ts';
import { createSitemapVisitor, type SitemapEntries } from './sitemap-reader.ts';
import { type ReportFault, readXml, type XmlElement, type XmlFault, type XmlVisitor } from './xml-reader.ts';

export interface DocumentLimits {
  /** Entries of a sitemap or feed. */
  readonly maxUrls: number;
  readonly maxDepth: number;
  /** Characters of text that are kept if the XML is neither. */
  readonly maxText: number;
}

export const DEFAULT_LIMITS: DocumentLimits = { maxUrls: 50_000, maxDepth: 64, maxText: 1_000_000 };

export type DocumentKind = 'urlset' | 'sitemapindex' | 'feed' | 'xml' | 'none';

/** Result of reading an XML file; only the part of its `kind` is filled. */
export interface XmlDocument extends SitemapEntries {
  readonly kind: DocumentKind;
  readonly feed: Feed;
  readonly text: string;
  readonly faults: XmlFault[];
}

const FEED_ROOTS: ReadonlySet<string> = new Set(['rss', 'rdf', 'feed']);
const MAX_CAPTURE = 100_000;

/** Reads a sitemap, a feed, or the text of any other XML. `url` is that of the file; links are resolved against it. */
export function readXmlDocument(text: string, url: string | undefined, limits: DocumentLimits): XmlDocument {
  const entries: SitemapEntries = { urls: [], sitemaps: [] };
  const feed = createEmptyFeed();
  const words: string[] = [];
  let kind: DocumentKind = 'none';

  const choose = (root: XmlElement, report: ReportFault): XmlVisitor => {
    if (root.name === 'urlset' || root.name === 'sitemapindex') {
      kind = root.name;
      const options = { maxUrls: limits.maxUrls, ...(url === undefined ? {} : { url }) };
      return createSitemapVisitor(root, entries, options, report);
    }
    if (FEED_ROOTS.has(root.name)) {
      kind = 'feed';
      return createFeedVisitor(root, feed, { maxEntries: limits.maxUrls, url: url ?? 'http://unknown.invalid/' });
    }
    kind = 'xml';
    return createTextVisitor(words, limits.maxText);
  };

  const faults = readXml(text, choose, { maxDepth: limits.maxDepth, maxCapture: MAX_CAPTURE });
  return { kind, ...entries, feed, text: foldWhiteSpace(words.join(' ')), faults };
}

function createTextVisitor(words: string[], maxText: number): XmlVisitor {
  let length = 0;
  return {
    open: () => (length < maxText ? 'enter' : 'stop'),
    close: () => {},
    text(text) {
      if (length < maxText) words.push(text.slice(0, maxText - length));
      length += text.length;
    },
  };
}

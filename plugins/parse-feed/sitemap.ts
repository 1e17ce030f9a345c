import { decodeXml, gunzip, isGzip } from './decode-xml.ts';
import { readLocation, type SitemapReference, type SitemapUrl } from './sitemap-reader.ts';
import { DEFAULT_LIMITS, readXmlDocument } from './xml-document.ts';
import type { XmlFault } from './xml-reader.ts';

export interface Sitemap {
  /** `feed`: RSS or Atom, which search engines accept as sitemaps. `none`: neither. */
  readonly kind: 'urlset' | 'sitemapindex' | 'feed' | 'text' | 'none';
  readonly urls: readonly SitemapUrl[];
  readonly sitemaps: readonly SitemapReference[];
  /** Faults of ignored entries, with the line (from 1) where it is known. */
  readonly errors: readonly XmlFault[];
}

export interface SitemapOptions {
  /** The sitemap's own URL, against which relative locations are resolved; without it they are errors. */
  readonly url?: string;
  /** Default 50,000, as the protocol says. */
  readonly maxUrls?: number;
  /** Size after decompression, bytes; the rest is ignored. Default 50 MB, as the protocol says. */
  readonly maxBytes?: number;
}

const MAX_BYTES = 52_428_800;

/**
 * Reads a sitemap or sitemap index (sitemaps.org, protocol 0.9) in XML or plain text, gzip or not, or a feed. Never
 * throws: faults are among the errors, and valid entries are kept.
 */
export function parseSitemap(input: string | Uint8Array, options: SitemapOptions = {}): Sitemap {
  const { url, maxUrls = DEFAULT_LIMITS.maxUrls, maxBytes = MAX_BYTES } = options;
  const errors: XmlFault[] = [];
  const text = typeof input === 'string' ? input : textOf(input, maxBytes, errors);
  if (text.length > maxBytes) errors.push({ message: `longer than ${maxBytes} bytes, the rest is left out` });
  const cut = text.length > maxBytes ? text.slice(0, maxBytes) : text;
  const sitemap = /^[\s\ufeff]*</.test(cut) ? parseXml(cut, url, maxUrls) : parseLines(cut, maxUrls);
  return { ...sitemap, errors: [...errors, ...sitemap.errors] };
}

function textOf(bytes: Uint8Array, maxBytes: number, errors: XmlFault[]): string {
  try {
    if (!isGzip(bytes)) return decodeXml(bytes);
    const { bytes: unzipped, fault } = gunzip(bytes, maxBytes);
    if (fault !== null) errors.push({ message: fault });
    return decodeXml(unzipped);
  } catch (error) {
    const isTooLong = (error as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE';
    errors.push({
      message: isTooLong ? `longer than ${maxBytes} bytes` : `cannot be unzipped: ${(error as Error).message}`,
    });
    return '';
  }
}

function parseXml(text: string, url: string | undefined, maxUrls: number): Sitemap {
  const { kind, urls, sitemaps, feed, faults } = readXmlDocument(text, url, { ...DEFAULT_LIMITS, maxUrls });
  if (kind === 'urlset' || kind === 'sitemapindex') return { kind, urls, sitemaps, errors: faults };
  if (kind === 'feed') {
    const entries = feed.entries.flatMap((entry) => (entry.url === null ? [] : [{ ...entry, url: entry.url }]));
    const fromFeed = entries.map((entry) => ({
      ...plainUrl(entry.url),
      lastmod: entry.modifiedAt === null ? null : new Date(entry.modifiedAt).toISOString(),
    }));
    return { kind, urls: fromFeed, sitemaps: [], errors: faults };
  }
  return {
    kind: 'none',
    urls: [],
    sitemaps: [],
    errors: [{ line: 1, message: 'expected <urlset> or <sitemapindex>' }],
  };
}

/** One absolute URL per line. Relative ones are not accepted, or every line of any text would be a URL. */
function parseLines(text: string, maxUrls: number): Sitemap {
  const urls: SitemapUrl[] = [];
  const errors: XmlFault[] = [];
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/);
  for (const [index, line] of lines.entries()) {
    const written = line.trim();
    if (written === '') continue;
    if (urls.length >= maxUrls || errors.length >= 100) {
      errors.push({
        line: index + 1,
        message: urls.length >= maxUrls ? `more than ${maxUrls} entries` : 'too many errors',
      });
      break;
    }
    const loc = readLocation(written, undefined, (message) => void errors.push({ line: index + 1, message }));
    if (loc !== undefined) urls.push(plainUrl(loc));
  }
  if (urls.length > 0) return { kind: 'text', urls, sitemaps: [], errors };
  const message = 'expected <urlset>, <sitemapindex>, or one URL a line';
  return { kind: 'none', urls, sitemaps: [], errors: [{ line: 1, message }] };
}

function plainUrl(loc: string): SitemapUrl {
  return { loc, lastmod: null, changefreq: null, priority: null, alternates: [] };
}

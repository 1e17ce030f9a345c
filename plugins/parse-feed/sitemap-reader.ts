import { canonicalUrl } from 'incrawl/plugin';
import { parseFeedDate } from './feed-date.ts';
import type { ReportFault, XmlElement, XmlVisitor } from './xml-reader.ts';

/** One `<url>` of a sitemap. Fields that are absent or cannot be read are `null`. */
export interface SitemapUrl {
  /** As written, trimmed; relative URLs are resolved where the sitemap's own URL is known. */
  readonly loc: string;
  /** ISO 8601, UTC. */
  readonly lastmod: string | null;
  readonly changefreq: string | null;
  /** 0 to 1. */
  readonly priority: number | null;
  /** The same page in other languages (`xhtml:link`). */
  readonly alternates: readonly { readonly lang: string; readonly url: string }[];
}

/** One `<sitemap>` of a sitemap index. */
export interface SitemapReference {
  readonly loc: string;
  readonly lastmod: string | null;
}

export interface SitemapEntries {
  readonly urls: SitemapUrl[];
  readonly sitemaps: SitemapReference[];
}

const FIELDS: ReadonlySet<string> = new Set(['loc', 'lastmod', 'changefreq', 'priority']);
const FREQUENCIES: ReadonlySet<string> = new Set(['always', 'hourly', 'daily', 'weekly', 'monthly', 'yearly', 'never']);
const MAX_ALTERNATES = 256;

/** Collects the entries of `<urlset>` and `<sitemapindex>` (sitemaps.org, protocol 0.9). */
export function createSitemapVisitor(
  root: XmlElement,
  into: SitemapEntries,
  { maxUrls, url }: { readonly maxUrls: number; readonly url?: string },
  report: ReportFault,
): XmlVisitor {
  let locations: string[] = [];
  let fields = new Map<string, string>();
  let alternates: { lang: string; url: string }[] = [];
  let unknownReported = false;

  let entryName: string | null = null;

  /** Each location of the entry becomes a separate entry: the protocol allows one, and none of several is lost. */
  const takeEntry = (): void => {
    const name = entryName;
    entryName = null;
    if (locations.length > 1) report(`an entry with ${locations.length} <loc>, each is taken as an entry`);
    const read = (locations.length === 0 ? [''] : locations).map((written) =>
      readLocation(written.trim(), url, report),
    );
    const locs = read.filter((loc) => loc !== undefined);
    if (locs.length === 0) return;
    const lastmod = readLastmod(fields.get('lastmod'), report);
    if (name === 'sitemap') into.sitemaps.push(...locs.map((loc) => ({ loc, lastmod })));
    else {
      const changefreq = readFrequency(fields.get('changefreq'), report);
      const priority = readPriority(fields.get('priority'), report);
      into.urls.push(...locs.map((loc) => ({ loc, lastmod, changefreq, priority, alternates })));
    }
  };

  return {
    open({ name, prefix, depth, attributes }) {
      if (depth === 0) return 'enter';
      const isOwn = prefix === root.prefix || prefix === '';
      if (depth === 1) {
        if (isOwn && (name === 'url' || name === 'sitemap')) {
          if (into.urls.length + into.sitemaps.length >= maxUrls) {
            report(`more than ${maxUrls} entries, the rest is left out`);
            return 'stop';
          }
          entryName = name;
          locations = [];
          fields = new Map();
          alternates = [];
          return 'enter';
        }
        if (isOwn && !unknownReported) {
          unknownReported = true;
          report(`expected <url> or <sitemap>, found <${name}>`);
        }
        return 'skip';
      }
      if (isOwn && FIELDS.has(name)) return 'capture';
      if (name === 'link' && attributes.rel === 'alternate' && alternates.length < MAX_ALTERNATES) {
        const { href, hreflang } = attributes;
        const target = href === undefined ? undefined : resolve(href, url);
        if (target !== undefined && hreflang) alternates.push({ lang: hreflang, url: target });
      }
      return 'skip';
    },
    close({ name, depth }, text) {
      if (depth === 2) {
        if (name === 'loc') {
          if (into.urls.length + into.sitemaps.length + locations.length < maxUrls) locations.push(text);
          else report(`more than ${maxUrls} entries, a second <loc> is left out`);
        } else if (!fields.has(name)) fields.set(name, text);
      } else if (depth === 1) takeEntry();
    },
    cutOff() {
      if (entryName !== null && locations.length > 0) takeEntry();
    },
  };
}

/** The location if it can be crawled; otherwise reports a fault. */
export function readLocation(written: string, base: string | undefined, report: ReportFault): string | undefined {
  if (written === '') {
    report('an entry without <loc>');
    return undefined;
  }
  const canonical = canonicalUrl(written, base);
  if ('error' in canonical) {
    report(`bad location: ${canonical.error}`);
    return undefined;
  }
  // Without both slashes it is relative to a base of the same scheme (WHATWG URL).
  return /^https?:\/\//i.test(written) ? written : canonical.url;
}

function resolve(href: string, base: string | undefined): string | undefined {
  const canonical = canonicalUrl(href, base);
  return 'url' in canonical ? canonical.url : undefined;
}

function readLastmod(text: string | undefined, report: ReportFault): string | null {
  if (text === undefined || text.trim() === '') return null;
  const at = parseFeedDate(text);
  if (at === null)
    report(`<lastmod> is no date: expected 2024-05-31 or 2024-05-31T12:00:00Z, found "${excerpt(text)}"`);
  return at === null ? null : new Date(at).toISOString();
}

function readFrequency(text: string | undefined, report: ReportFault): string | null {
  const word = text?.trim().toLowerCase() ?? '';
  if (word === '' || FREQUENCIES.has(word)) return word || null;
  report(`<changefreq> expected ${[...FREQUENCIES].join(', ')}, found "${excerpt(word)}"`);
  return null;
}

function readPriority(text: string | undefined, report: ReportFault): number | null {
  if (text === undefined || text.trim() === '') return null;
  const priority = Number(text.trim().replace(',', '.'));
  if (priority >= 0 && priority <= 1) return priority;
  report(`<priority> expected a number from 0 to 1, found "${excerpt(text)}"`);
  return null;
}

function excerpt(text: string): string {
  const folded = text.replace(/\s+/g, ' ').trim();
  return folded.length > 60 ? `${folded.slice(0, 59)}…` : folded;
}

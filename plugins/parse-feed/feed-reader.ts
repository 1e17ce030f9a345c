import { canonicalUrl } from 'incrawl/plugin';
import { parseFeedDate } from './feed-date.ts';
import { asHtml, textOfHtml } from './html-text.ts';
import type { XmlAction, XmlElement, XmlVisitor } from './xml-reader.ts';

export interface FeedEntry {
  readonly title: string;
  readonly text: string;
  /** Absolute and canonical; `null` for an entry without a page of its own. */
  readonly url: string | null;
  /** Last change, else publication, ms since the epoch. */
  readonly modifiedAt: number | null;
}

export interface Feed {
  title: string | null;
  description: string | null;
  lang: string | null;
  /** The site that the feed belongs to, and older parts of the feed (RFC 5005). */
  readonly links: string[];
  readonly entries: FeedEntry[];
}

export function createEmptyFeed(): Feed {
  return { title: null, description: null, lang: null, links: [], entries: [] };
}

const CONTAINERS: ReadonlySet<string> = new Set(['rss', 'rdf', 'feed', 'channel', 'items']);
const ENTRIES: ReadonlySet<string> = new Set(['item', 'entry']);
/** Elements whose text is read, the best source first. */
const TITLE = ['title'];
const TEXT = ['encoded', 'content', 'description', 'summary', 'subtitle', 'tagline'];
const MODIFIED = ['updated', 'modified', 'pubdate', 'published', 'date', 'issued', 'created'];
const FIELDS: ReadonlySet<string> = new Set([...TITLE, ...TEXT, ...MODIFIED, 'guid', 'language', 'link']);
/** Modules that repeat or refine the core; others (`media:`, `itunes:`) use the same names for something else. */
const PREFIXES: ReadonlySet<string> = new Set(['', 'atom', 'a10', 'rss', 'dc', 'dcterms', 'content']);
const PAGING: ReadonlySet<string> = new Set(['next', 'prev-archive', 'next-archive']);

interface Part {
  readonly fields: Map<string, string>;
  link: string | null;
  base: string;
}

/**
 * Collects RSS 0.9x, 1.0, 2.0 and Atom 0.3, 1.0 alike: they differ in the position of elements more than in their
 * names.
 */
export function createFeedVisitor(
  root: XmlElement,
  into: Feed,
  { maxEntries, url }: { readonly maxEntries: number; readonly url: string },
): XmlVisitor {
  const channel: Part = { fields: new Map(), link: null, base: url };
  let entry: Part | undefined;

  const openLink = ({ attributes }: XmlElement, part: Part): XmlAction => {
    const { href, rel = 'alternate' } = attributes;
    if (href === undefined) return 'capture';
    const target = resolve(href, baseOf(attributes, part.base));
    if (target === null) return 'skip';
    if (rel === 'alternate') part.link ??= target;
    else if (part === channel && PAGING.has(rel)) into.links.push(target);
    return 'skip';
  };

  return {
    open(element) {
      const { name, prefix, attributes } = element;
      if (prefix !== root.prefix && !PREFIXES.has(prefix)) return 'skip';
      if (CONTAINERS.has(name)) {
        channel.base = baseOf(attributes, channel.base);
        into.lang ??= attributes['xml:lang'] ?? null;
        return 'enter';
      }
      if (ENTRIES.has(name)) {
        if (into.entries.length >= maxEntries) return 'stop';
        entry = { fields: new Map(), link: null, base: baseOf(attributes, channel.base) };
        return 'enter';
      }
      const part = entry ?? channel;
      if (name === 'link') return openLink(element, part);
      // A guid is a link unless it says otherwise.
      if (name === 'guid' && attributes.ispermalink?.toLowerCase() === 'false') return 'skip';
      return FIELDS.has(name) ? 'capture' : 'skip';
    },
    close({ name, attributes }, written) {
      // `type="text"` has no markup (RFC 4287 section 3.1.1.1). Neither should a text without a type, but many feeds
      // have HTML there.
      const text = attributes.type === 'text' ? asHtml(written) : written;
      if (ENTRIES.has(name) && entry !== undefined) {
        into.entries.push(entryOf(entry));
        entry = undefined;
        return;
      }
      const part = entry ?? channel;
      if (name === 'link') part.link ??= resolve(text, part.base);
      else if (FIELDS.has(name) && !part.fields.has(name) && text.trim() !== '') part.fields.set(name, text);
      if (part !== channel) return;
      into.title ??= name === 'title' ? textOfHtml(text) || null : null;
      into.lang ??= name === 'language' ? text.trim() || null : null;
      into.description ??= TEXT.includes(name) ? textOfHtml(text) || null : null;
      if (channel.link !== null && !into.links.includes(channel.link)) into.links.unshift(channel.link);
    },
  };
}

function entryOf({ fields, link, base }: Part): FeedEntry {
  const guid = fields.get('guid')?.trim() ?? '';
  const fromGuid = /^https?:\/\//i.test(guid) ? resolve(guid, base) : null;
  const date = firstOf(fields, MODIFIED);
  return {
    title: textOfHtml(firstOf(fields, TITLE)),
    text: textOfHtml(firstOf(fields, TEXT)),
    url: link ?? fromGuid,
    modifiedAt: date === '' ? null : parseFeedDate(date),
  };
}

function firstOf(fields: ReadonlyMap<string, string>, names: readonly string[]): string {
  for (const name of names) {
    const text = fields.get(name);
    if (text !== undefined) return text;
  }
  return '';
}

function baseOf(attributes: Readonly<Record<string, string>>, base: string): string {
  const own = attributes['xml:base'];
  return own === undefined ? base : (resolve(own, base) ?? base);
}

function resolve(href: string, base: string): string | null {
  const trimmed = href.trim();
  const canonical = trimmed === '' ? undefined : canonicalUrl(trimmed, base);
  return canonical !== undefined && 'url' in canonical ? canonical.url : null;
}

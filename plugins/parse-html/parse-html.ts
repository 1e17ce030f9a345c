import type { Element } from 'domhandler';
import { guessLanguage, type Page, robotsDirectives } from 'incrawl/plugin';
import { readLinkElement } from './link-element.ts';
import { parseLinkHeader } from './link-header.ts';
import { createLinkResolver, type LinkResolver } from './link-resolver.ts';
import type { Options } from './options.ts';
import { mergeOutlinks } from './outlinks.ts';
import type { PageFacts, RawLink } from './page-facts.ts';
import { walkPage } from './page-walk.ts';
import { buildTree } from './tree-builder.ts';

/** Builds the DOM of a page, reads it once, and fills in the result. */
export function parseHtml(page: Page, options: Options & { readonly agent: string }): void {
  const { document, truncated } = buildTree(page.content, options, page.contentType === 'application/xhtml+xml');
  page.dom = document;
  const { maxText, maxLinks, agent } = options;
  const facts = walkPage(document, { maxText, maxLinks, agents: new Set(['robots', agent]) });

  const { result } = page;
  result.title = facts.title ?? facts.socialTitle;
  result.text = facts.text;
  result.description = facts.description ?? facts.socialDescription;
  result.keywords = facts.keywords;
  result.lang = language(facts.lang) ?? language(page.headers['content-language']) ?? guessLanguage(result.text);
  const { noindex, nofollow } = robotsDirectives(facts.robots, page.headers['x-robots-tag'], agent);
  result.noindex ||= noindex;
  result.nofollow ||= nofollow;
  if (truncated) result.metadata['parse-html.truncated'] = true;
  addLinks(page, facts, maxLinks);
}

function addLinks(page: Page, facts: PageFacts, maxLinks: number): void {
  const { result } = page;
  const fromPage = createLinkResolver(page.url, page.charset);
  result.base = facts.baseHref === null ? null : fromPage(facts.baseHref);
  const resolve = result.base === null ? fromPage : createLinkResolver(result.base, page.charset);
  // The document takes precedence over the server's headers.
  const links = facts.links.concat(headerLinks(page.headers.link, page.url));
  result.canonical = firstCanonical(links, resolve);
  const elements = new Map<string, Element[]>();
  result.outlinks = mergeOutlinks(links, resolve, maxLinks, elements);
  page.linkElements = elements;
}

function firstCanonical(links: readonly RawLink[], resolve: LinkResolver): string | null {
  for (const link of links) {
    const url = link.rel === 'canonical' ? resolve(link.href) : null;
    if (url !== null) return url;
  }
  return null;
}

/**
 * Links of the `Link` header, absolute: base and encoding of the document do not apply to them (RFC 8288 section 3.2).
 */
function headerLinks(header: string | undefined, pageUrl: string): RawLink[] {
  if (header === undefined) return [];
  const resolve = createLinkResolver(pageUrl);
  const found: RawLink[] = [];
  for (const { href: written, attributes } of parseLinkHeader(header)) {
    const href = resolve(written);
    if (href === null) continue;
    readLinkElement(attributes, (rel, lang) => found.push({ href, rel, lang, nofollow: false, anchor: '' }));
  }
  return found;
}

/** The first language tag in a declaration (`en-US, de`), with hyphens. */
function language(declared: string | null | undefined): string | null {
  const tag = /^[\s,]*([a-z]{2,8}(?:[-_][a-z0-9]{1,8})*)\s*(?:[,;]|$)/i.exec(declared?.slice(0, 100) ?? '')?.[1];
  return tag === undefined ? null : tag.replaceAll('_', '-');
}

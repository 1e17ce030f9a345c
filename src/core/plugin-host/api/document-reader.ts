import type { ChildNode, Document } from 'domhandler';
import type { BlockTable } from '../../../page/block-table.ts';
import { createWholeContent } from '../../../page/content/extent.ts';
import { pageBlocks } from '../../../page/content/page-blocks.ts';
import { robotsDirectives } from '../../../page/links/robots-directives.ts';
import type { Tape } from '../../../page/tape/tape.ts';
import { cutText } from '../../../page/text/cut-text.ts';
import { guessLanguage } from '../../../page/text/guess-language.ts';
import { MAX_URL_LENGTH } from '../../domain/url/canonical/canonical-url.ts';
import type { Outlink } from '../../ports/segment-store.ts';
import type { ParseResult } from './parse-result.ts';

/** The part of a page that is used. */
export interface DocumentPage {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly result: ParseResult;
  readonly tape: Tape | null;
  dom: Document | null;
  newBlocks(): BlockTable;
}

/** What a document says about itself; a field that is absent, empty or `null` is not stated. */
export interface DocumentFacts {
  readonly title?: string | null;
  readonly authors?: readonly string[];
  readonly description?: string | null;
  readonly keywords?: readonly string[];
  /** Language tag (BCP 47). */
  readonly lang?: string | null;
  /** Milliseconds since the epoch. */
  readonly publishedAt?: number | null;
  readonly modifiedAt?: number | null;
  /** Links as written, with their texts, beyond the `a` elements of the document. */
  readonly links?: readonly { readonly href: string; readonly text: string }[];
  /** Name of what states these facts, for people: `docProps/core.xml`. */
  readonly source: string;
}

/** Blocks that are reported: those of a book. */
const MAX_BLOCKS = 20_000;
const MAX_LINKS = 10_000;
const MAX_ANCHOR = 256;
const MAX_KEYWORDS = 50;

/** Fills the results of documents: all of their text is the main content. One reader serves a thread. */
export class DocumentReader {
  private readonly wholeContent = createWholeContent();
  private readonly agent: string;

  /** @param agent product token of the crawl, for `X-Robots-Tag` */
  constructor(agent: string) {
    this.agent = agent.toLowerCase();
  }

  /** Sets the DOM of a page, and by it text, blocks and outlinks, and what the document says about itself. */
  fill(page: DocumentPage, document: Document, facts: DocumentFacts): void {
    const { result } = page;
    page.dom = document;
    const { tape } = page;
    if (tape !== null) {
      const found = this.wholeContent(tape);
      pageBlocks(found, MAX_BLOCKS, page.newBlocks());
      result.text = found.text;
      result.mainText = found.text === '' ? null : found.text;
    }
    const { noindex, nofollow } = robotsDirectives([], page.headers['x-robots-tag'], this.agent);
    result.noindex = noindex;
    result.nofollow = nofollow;
    result.outlinks = outlinksOf(document, facts.links ?? [], page.url);
    const { source } = facts;
    const stated = {
      title: folded(facts.title) ?? folded(firstHeading(document)),
      description: folded(facts.description),
      authors: distinct(facts.authors),
      keywords: distinct(facts.keywords).slice(0, MAX_KEYWORDS),
      publishedAt: facts.publishedAt ?? null,
      modifiedAt: facts.modifiedAt ?? null,
      lang: languageTag(facts.lang),
    };
    Object.assign(result, stated);
    for (const [field, value] of Object.entries(stated)) {
      if (value !== null && !(Array.isArray(value) && value.length === 0)) result.sources[field] = source;
    }
    if (result.lang !== null) return;
    result.lang = guessLanguage(result.text);
    if (result.lang !== null) result.sources.lang = 'text';
  }
}

const folded = (text: string | null | undefined): string | null => text?.replaceAll(/\s+/g, ' ').trim() || null;

const distinct = (texts: readonly string[] = []): string[] => [...new Set(texts.flatMap((text) => folded(text) ?? []))];

/** A tag as BCP 47 has it, or `null`: documents have `en_US`, `x-none` and free text there. */
function languageTag(written: string | null | undefined): string | null {
  const tag = (written ?? '').trim().replaceAll('_', '-');
  return /^[a-z]{2,3}(?:-[a-z\d]{2,8})*$/i.test(tag) && !/^(?:und|zxx|mul)\b/i.test(tag) ? tag : null;
}

function outlinksOf(document: Document, more: NonNullable<DocumentFacts['links']>, base: string): Outlink[] {
  const found = new Map<string, Outlink>();
  const own = absolute(base, undefined);
  for (const { href, text } of [...anchorsIn(document), ...more]) {
    if (found.size >= MAX_LINKS) break;
    const url = absolute(href, base);
    if (url === null || url === own) continue;
    const anchor = cutText(text.replaceAll(/\s+/g, ' ').trim(), MAX_ANCHOR);
    const known = found.get(url);
    if (known === undefined) found.set(url, { url, anchor, rel: 'link', nofollow: false });
    else if (known.anchor === '' && anchor !== '') found.set(url, { ...known, anchor });
  }
  return [...found.values()];
}

/** An http(s) URL without fragment and userinfo, or `null`. */
function absolute(href: string, base: string | undefined): string | null {
  if (href.length > MAX_URL_LENGTH || /^\s*(?:#|$)/.test(href)) return null;
  let url: URL;
  try {
    url = new URL(href, base);
  } catch {
    return null;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  url.hash = '';
  url.username = '';
  url.password = '';
  return url.href.length > MAX_URL_LENGTH ? null : url.href;
}

/** The `a` elements with an address, in reading order. Without recursion, as a document may nest to any depth. */
function* anchorsIn(document: Document): Generator<{ readonly href: string; readonly text: string }> {
  for (const node of nodesOf(document)) {
    if (!('attribs' in node) || node.name !== 'a' || node.attribs.href === undefined) continue;
    yield { href: node.attribs.href, text: textIn(node) };
  }
}

function firstHeading(document: Document): string | null {
  for (const node of nodesOf(document)) if ('attribs' in node && /^h[1-3]$/.test(node.name)) return textIn(node);
  return null;
}

function textIn(root: { readonly children: readonly ChildNode[] }): string {
  let text = '';
  for (const node of nodesOf(root)) if ('data' in node && text.length < 2 * MAX_ANCHOR) text += node.data;
  return text;
}

function* nodesOf(root: { readonly children: readonly ChildNode[] }): Generator<ChildNode> {
  const open: ChildNode[] = [...root.children].reverse();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node;
    if ('children' in node) for (let i = node.children.length - 1; i >= 0; i--) open.push(node.children[i]!);
  }
}

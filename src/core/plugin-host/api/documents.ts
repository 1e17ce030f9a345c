import { createRequire } from 'node:module';
import type { ChildNode, Document, Element, Text } from 'domhandler';
import type { BlockTable } from '../../../page/block-table.ts';
import { createWholeContent } from '../../../page/content/extent.ts';
import { pageBlocks } from '../../../page/content/page-blocks.ts';
import { robotsDirectives } from '../../../page/links/robots-directives.ts';
import type { Tape } from '../../../page/tape/tape.ts';
import { cutText } from '../../../page/text/cut-text.ts';
import { guessLanguage } from '../../../page/text/language.ts';
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

/** Loaded by the first document: most threads write none. */
const dom = (): typeof import('domhandler') => createRequire(import.meta.url)('domhandler');

interface DocumentLimits {
  /** UTF-16 units of text that are kept; the rest is dropped. */
  readonly maxText: number;
  /** Elements and texts that are kept; the rest is dropped. */
  readonly maxNodes?: number;
}

const MAX_NODES = 500_000;
/** Elements are not nested deeper, as in browsers. */
const MAX_DEPTH = 512;

/**
 * Writes the DOM of a document that is no HTML, as HTML that says the same: `h1` to `h6`, `p`, lists, tables, `a`. The
 * writer keeps the limits: what is beyond them is dropped, and `isCut` says so.
 */
export class DocumentWriter {
  readonly document: Document;
  isCut = false;
  private readonly nodes: ReturnType<typeof dom>;
  private readonly opened: Element[] = [];
  /** Open elements that were dropped, all within the last kept one. */
  private dropped = 0;
  private chars: number;
  private left: number;
  private readonly body: Element;

  constructor({ maxText, maxNodes = MAX_NODES }: DocumentLimits) {
    this.chars = maxText;
    this.left = maxNodes;
    this.nodes = dom();
    this.document = new this.nodes.Document([]);
    const html = new this.nodes.Element('html', {});
    this.body = new this.nodes.Element('body', {});
    append(this.document, html);
    append(html, this.body);
  }

  /** Number of open elements. */
  get depth(): number {
    return this.opened.length + this.dropped;
  }

  open(name: string, attribs: Readonly<Record<string, string>> = {}): void {
    if (this.dropped > 0 || this.left <= 0 || this.opened.length >= MAX_DEPTH) {
      this.isCut ||= this.left <= 0;
      this.dropped++;
      return;
    }
    this.left--;
    const element = new this.nodes.Element(name, { ...attribs });
    append(this.opened.at(-1) ?? this.body, element);
    this.opened.push(element);
  }

  /** Closes the element that was opened last. */
  close(): void {
    if (this.dropped > 0) this.dropped--;
    else this.opened.pop();
  }

  /** Closes elements until no more than this number are open. */
  closeTo(depth: number): void {
    while (this.depth > depth) this.close();
  }

  text(data: string): void {
    if (data === '') return;
    const kept = ownText(cutText(data, Math.max(0, this.chars)));
    this.chars -= data.length;
    if (this.chars < 0 || this.left <= 0) this.isCut = true;
    if (kept === '' || this.left <= 0) return;
    // Text below the deepest element belongs to that.
    const parent = this.opened.at(-1) ?? this.body;
    const last = parent.children.at(-1);
    if (last instanceof this.nodes.Text) last.data += kept;
    else {
      this.left--;
      append(parent, new this.nodes.Text(kept));
    }
  }

  /** An element with a text. */
  element(name: string, text: string): void {
    this.open(name);
    this.text(text);
    this.close();
  }
}

/** The same text with characters of its own: a slice keeps the whole string in memory that it was cut from. */
const ownText = (slice: string): string => ` ${slice}`.slice(1);

function append(parent: Document | Element, child: Element | Text): void {
  const previous = parent.children.at(-1) ?? null;
  child.parent = parent;
  child.prev = previous;
  if (previous !== null) previous.next = child;
  parent.children.push(child);
}

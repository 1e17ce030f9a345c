import {
  ATTRIBUTE,
  CLOSE,
  declaredLanguage,
  HIDING_STYLE,
  pageMetadata,
  pageSeries,
  pageVariant,
  type Statement,
  type Tape,
  TEXT,
  TextMeanings,
  tagNumber,
} from 'incrawl/bundled';
import { cutText, guessLanguage, type Outlink, type Page, robotsDirectives } from 'incrawl/plugin';
import { APART, BLOCK, CONCEALED, MUTED, OPAQUE, ROLES } from './element-roles.ts';
import { FoldedBytes } from './folded-bytes.ts';
import { linkMeaning } from './link-element.ts';
import { parseLinkHeader } from './link-header.ts';
import { createLinkResolver, type LinkResolver } from './link-resolver.ts';
import { MarkupScanner } from './markup/markup-scanner.ts';
import type { Options } from './options.ts';
import type { PageFacts, RawLink } from './page-facts.ts';
import { PageWalk } from './page-walk.ts';
import { ShownFacts } from './shown-facts.ts';

/**
 * Resolves the links of a page and merges duplicates, in the order of the page: the first one stays, with the first
 * non-empty anchor text, and is `nofollow`, or another version of the page, only if all are.
 * @param anchors gets the entries of the anchors of each URL
 */
function mergeOutlinks(
  links: Iterable<RawLink>,
  resolve: LinkResolver,
  maxLinks: number,
  anchors: Map<string, number[]> = new Map(),
): Outlink[] {
  const merged = new Map<string, Outlink>();
  for (const link of links) {
    const url = resolve(link.href);
    if (url === null) continue;
    const known = merged.get(url);
    if (known === undefined) {
      if (merged.size >= maxLinks) continue;
      merged.set(url, outlinkOf(url, link));
    } else if ((known.nofollow && !link.nofollow) || (known.anchor === '' && link.anchor !== '')) {
      merged.set(url, { ...known, anchor: known.anchor || link.anchor, nofollow: known.nofollow && link.nofollow });
    }
    if (known?.variant !== undefined && link.variant === undefined) {
      const { variant: _, ...plain } = merged.get(url) as Outlink;
      merged.set(url, plain);
    }
    if (link.entry === undefined) continue;
    const entries = anchors.get(url);
    if (entries === undefined) anchors.set(url, [link.entry]);
    else entries.push(link.entry);
  }
  return [...merged.values()];
}

function outlinkOf(url: string, { rel, anchor, lang, nofollow, variant }: RawLink): Outlink {
  const link: Outlink = { url, anchor, rel, nofollow };
  if (lang === undefined && variant === undefined) return link;
  return { ...link, ...(lang !== undefined && { lang }), ...(variant !== undefined && { variant }) };
}

const BODY = tagNumber('body');
const DIALOG = tagNumber('dialog');
const HTML = tagNumber('html');

/** Reads the text that a page shows; reusable for any number of pages. */
class VisibleText {
  private readonly visible = new FoldedBytes(1 << 16);
  /** Hidden text and `noscript` text. */
  private readonly concealed = new FoldedBytes(1 << 12);
  private readonly hides = new TextMeanings((style) => Number(HIDING_STYLE.test(style)));
  /** Ends of the outermost muted element, and of the outermost concealed one; -1: none. */
  private mutedTo = -1;
  private concealedTo = -1;

  /**
   * Visible text in reading order; one line per block. The concealed text follows if it is longer: such a page has its
   * content in `noscript`, or in a hidden part that a script reveals.
   */
  read(tape: Tape, maxText: number): string {
    this.visible.begin(maxText);
    this.concealed.begin(maxText);
    this.mutedTo = -1;
    this.concealedTo = -1;
    for (let at = 0; at < tape.length; at++) {
      const kind = tape.kindAt(at);
      if (kind === TEXT) {
        if (this.mutedTo < 0) this.sink.add(tape.bytes, tape.textStart(at), tape.textEnd(at));
      } else if (kind === CLOSE) this.leave(at, ROLES.at(tape.tagEndedAt(at)));
      else if (kind >= 0) {
        const roles = ROLES.at(kind);
        this.enter(tape, at, roles);
        if ((roles & OPAQUE) !== 0) at = tape.closeOf(at) - 1;
      }
    }
    const visible = this.visible.text;
    const concealed = this.concealed.text;
    if (concealed.length <= visible.length) return visible;
    return visible === '' ? concealed : cutText(`${visible}\n${concealed}`, maxText);
  }

  private get sink(): FoldedBytes {
    return this.concealedTo < 0 ? this.visible : this.concealed;
  }

  private enter(tape: Tape, at: number, roles: number): void {
    this.boundary(roles);
    if (this.mutedTo >= 0) return;
    if ((roles & MUTED) !== 0) this.mutedTo = tape.closeOf(at);
    else if (this.concealedTo < 0 && ((roles & CONCEALED) !== 0 || this.isHidden(tape, at))) {
      this.concealedTo = tape.closeOf(at);
    }
  }

  private leave(at: number, roles: number): void {
    if (at === this.mutedTo) this.mutedTo = -1;
    if (at === this.concealedTo) this.concealedTo = -1;
    this.boundary(roles);
  }

  private boundary(roles: number): void {
    if (this.mutedTo >= 0) return;
    if ((roles & BLOCK) !== 0) this.sink.breakLine();
    else if ((roles & APART) !== 0) this.sink.space();
  }

  /** Whether its own attributes hide an element. `html` and `body` never count: a script shows them later. */
  private isHidden(tape: Tape, at: number): boolean {
    const tag = tape.kindAt(at);
    const hidden = tape.find(at, ATTRIBUTE.hidden);
    const style = tape.find(at, ATTRIBUTE.style);
    if (hidden < 0 && style < 0) return tag === DIALOG && tape.find(at, ATTRIBUTE.open) < 0;
    if (tag === HTML || tag === BODY) return false;
    if (hidden >= 0 && tape.valueAt(hidden) !== 'until-found') return true;
    return style >= 0 && this.hides.of(tape.interned, tape.internedAt(style)) === 1;
  }
}

interface ReaderOptions extends Options {
  /** Product token, lower case. */
  readonly agent: string;
  /** The present, ms since the epoch. */
  readonly now: () => number;
}

/** Headings whose surroundings are searched for authors and dates. */
const MAX_HEADINGS = 2;

/** Writes the nodes of pages on tapes, reads each once, and fills in the result. */
export class HtmlReader {
  private readonly options: ReaderOptions;
  private readonly agents: ReadonlySet<string>;
  private readonly scanner = new MarkupScanner();
  private readonly walk = new PageWalk();
  private readonly visibleText = new VisibleText();
  private readonly shownFacts = new ShownFacts();

  constructor(options: ReaderOptions) {
    this.options = options;
    this.agents = new Set(['robots', options.agent]);
  }

  read(page: Page): void {
    const { result, headers } = page;
    const { maxText, maxLinks, agent, now } = this.options;
    const tape = page.newTape();
    this.scanner.scan(page.utf8, tape, this.options, page.contentType === 'application/xhtml+xml');
    const facts = this.walk.read(tape, { maxLinks, agents: this.agents });
    page.readTextLater(() => this.visibleText.read(tape, maxText));
    result.documentTitle = facts.title ?? facts.stated.first('title', ['og:title'])?.value ?? null;
    result.keywords = facts.keywords;
    const language = declaredLanguage([
      ...stated('html lang', facts.lang),
      ...stated('Content-Language', headers['content-language']),
      ...stated('og:locale', facts.locale),
      ...facts.stated.of('lang'),
    ]);
    result.lang = language?.value ?? guessLanguage(result.text);
    const { noindex, nofollow } = robotsDirectives(facts.robots, headers['x-robots-tag'], agent);
    result.noindex ||= noindex;
    result.nofollow ||= nofollow;
    if (tape.isTruncated) result.metadata['parse-html.truncated'] = true;
    const { malformed } = facts.stated;
    if (malformed > 0) result.metadata['parse-html.malformedJsonLd'] = malformed;
    const resolve = addLinks(page, tape, facts, maxLinks);
    for (const heading of facts.headings.slice(0, MAX_HEADINGS)) this.shownFacts.read(tape, heading, facts.stated);
    result.articleBody = facts.stated.articleBody;
    const { sources } = result;
    Object.assign(result, pageMetadata(facts.stated, { url: page.url, now: now(), resolve }));
    Object.assign(result.sources, sources);
    if (result.lang !== null) result.sources.lang = language?.source ?? 'text';
  }
}

function addLinks(page: Page, tape: Tape, facts: PageFacts, maxLinks: number): LinkResolver {
  const { result } = page;
  const fromPage = createLinkResolver(page.url, page.charset);
  result.base = facts.baseHref === null ? null : fromPage(facts.baseHref);
  const resolve = result.base === null ? fromPage : createLinkResolver(result.base, page.charset);
  // The document takes precedence over the server's headers.
  const links = facts.links.concat(headerLinks(page.headers.link, page.url));
  result.canonical = firstTarget(links, resolve, ({ rel }) => rel === 'canonical');
  result.variant = pageVariant(page.url, result.canonical, facts.isAmp);
  const anchors = new Map<string, number[]>();
  result.outlinks = mergeOutlinks(links, resolve, maxLinks, anchors);
  tape.links = anchors;
  addSeries(page, facts, (kind) => firstTarget(links, resolve, ({ series }) => series === kind));
  return resolve;
}

/** Pages of an article that are as near to the seeds as its first one: a longer series is a list, or has no end. */
const MOST_ARTICLE_PAGES = 50;

function addSeries(
  { url, result }: Page,
  { stated }: PageFacts,
  target: (kind: 'next' | 'prev') => string | null,
): void {
  const series = pageSeries({ url, next: target('next'), previous: target('prev'), links: result.outlinks });
  if (series === null) return;
  const { next, number, source } = series;
  result.nextPage = next;
  result.pageNumber = number;
  if (next !== null) result.sources.nextPage = source;
  if (next === null || number === null || number >= MOST_ARTICLE_PAGES || !stated.isArticle) return;
  const at = result.outlinks.findIndex((link) => link.url === next);
  if (at >= 0) result.outlinks[at] = { ...(result.outlinks[at] as Outlink), isNextPage: true };
}

function firstTarget(
  links: readonly RawLink[],
  resolve: LinkResolver,
  isMeant: (link: RawLink) => boolean,
): string | null {
  for (const link of links) {
    const url = isMeant(link) ? resolve(link.href) : null;
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
    const meaning = linkMeaning(attributes);
    if (meaning === null) continue;
    const { rel, lang, variant, series } = meaning;
    found.push({ href, rel, lang, variant, series, nofollow: false, anchor: '', entry: undefined });
  }
  return found;
}

const stated = (source: string, value: string | null | undefined): Statement[] =>
  value == null ? [] : [{ source, value }];

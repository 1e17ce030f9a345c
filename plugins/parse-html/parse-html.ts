import {
  declaredLanguage,
  guessLanguage,
  type Outlink,
  type Page,
  pageMetadata,
  pageSeries,
  pageVariant,
  robotsDirectives,
  type Statement,
  type Tape,
} from 'incrawl/plugin';
import { linkMeaning } from './link-element.ts';
import { parseLinkHeader } from './link-header.ts';
import { createLinkResolver, type LinkResolver } from './link-resolver.ts';
import { MarkupScanner } from './markup/markup-scanner.ts';
import type { Options } from './options.ts';
import { mergeOutlinks } from './outlinks.ts';
import type { PageFacts, RawLink } from './page-facts.ts';
import { PageWalk } from './page-walk.ts';
import { ShownFacts } from './shown-facts.ts';
import { VisibleText } from './visible-text.ts';

export interface ReaderOptions extends Options {
  /** Product token, lower case. */
  readonly agent: string;
  /** The present, ms since the epoch. */
  readonly now: () => number;
}

/** Headings beside which authors and dates are looked for. */
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

import { canonicalUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import { isEmptyTemplate, LEAST_VISITED, templateOf } from '../../core/domain/url/families/noise-families.ts';
import type { Outlink, ParsedRecord, Segment, SegmentStore } from '../../core/ports/segment-store.ts';
import { domainOf } from '../../operations/system/domain-of.ts';
import { murmur3 } from '../../page/near/hashes.ts';
import { textOverlap } from '../../page/near/page-dimensions.ts';
import { WordCover } from '../../page/text/text-sketch.ts';

/** Maximum templates that are examined, and maximum visited pages of each: these bound memory. */
const MOST_TEMPLATES = 4_000;
const MOST_PAGES = 20;
/** Maximum links of a page that are examined; a page with more is assumed to bring something. */
const MOST_LINKS = 100;
/**
 * Pages of a template that list the same page, on average. Archives, sections and list pages name each page once; tags
 * name it again and again.
 */
const LEAST_LISTINGS = 1.5;
/** Maximum pages of a template that are counted for one page that they list. */
const MOST_LISTINGS = 3;
/** Share of the words of a page that occur in the pages it lists. */
const LEAST_KNOWN_WORDS = 0.85;
/** Likeness above which the second of two texts adds nothing. */
const LIKE = 0.9;
/** Shorter texts are too short to be called alike: pages of pictures. */
const LEAST_CHARS = 100;

/** All that was fetched and parsed, the newest last, as {@link Segment} has it. */
export type CrawledPages = Pick<Segment, 'fetched' | 'parsed'>;

/** A visited page of a template. */
interface VisitedPage {
  readonly url: string;
  /** Pages are taken in the order of this hash, which says nothing about them. */
  readonly hash: number;
  /** Its redirect target on another site; `null`: it is a page. */
  away: string | null;
  /** Content links to pages of other templates, and to pages of its own. */
  readonly targets: readonly string[];
  readonly own: readonly string[];
  readonly sketch: string | null;
  /** Made if the text decides. */
  cover: WordCover | null;
}

interface VisitedTemplate {
  readonly name: string;
  /** With the smallest hashes first. */
  readonly pages: VisitedPage[];
  /** What most of the pages link to, which is their frame. */
  frame: ReadonlySet<string>;
  listings: number;
}

/** The pages that link to a page under examination. */
interface Linked {
  /** Whether pages without a template link to it. */
  isKnown: boolean;
  /** Some of the linking pages, by template. */
  readonly by: Map<VisitedTemplate, string[]>;
}

/**
 * Visited pages of the templates that brought nothing to the crawl, as input lines of the mapper of `linkclusters`:
 * `URL<TAB>nothing`, or `something` for the few others of these templates. A page brought nothing in three cases: it
 * leads to another site; its text is that of another page of the template, and other templates link to everything it
 * links to; or it lists pages that other templates link to, as other pages of its template do, and its text occurs in
 * these pages.
 */
export async function* visitedPageLines(crawl: CrawledPages): AsyncGenerator<string> {
  const templates = await visitedTemplates(crawl);
  if (templates.length === 0) return;
  const linked = await linkedPages(crawl, templates);
  for (const template of templates) measure(template, linked);
  const suspects = templates.filter((template) => isEmpty(template, linked, NONE, () => true));
  if (suspects.length === 0) return;
  await readTexts(crawl, suspects);
  const empty = new Set<VisitedTemplate>();
  // Of several templates that know their pages only from each other, one remains: the one that lists them least often.
  for (const template of suspects.toSorted((a, b) => b.listings - a.listings)) {
    if (!isEmpty(template, linked, empty, hasKnownWords)) continue;
    empty.add(template);
    for (const page of template.pages) {
      const isNothing = broughtNothing(page, template, linked, empty, hasKnownWords);
      yield `${page.url}\t${isNothing ? 'nothing' : 'something'}`;
    }
  }
}

const NONE: ReadonlySet<VisitedTemplate> = new Set();

const hasKnownWords = ({ cover }: VisitedPage): boolean => cover !== null && cover.share >= LEAST_KNOWN_WORDS;

/** The pages of all segments. */
export function crawledPages(segments: Pick<SegmentStore, 'list' | 'open'>): CrawledPages {
  async function* each<T>(read: (segment: Segment) => AsyncIterable<T>): AsyncGenerator<T> {
    for (const { id } of await segments.list()) {
      const segment = await segments.open(id, 'read');
      try {
        yield* read(segment);
      } finally {
        await segment.close();
      }
    }
  }
  return {
    fetched: () => each((segment) => segment.fetched()),
    parsed: (options) => each((segment) => segment.parsed(options)),
  };
}

async function visitedTemplates(crawl: CrawledPages): Promise<VisitedTemplate[]> {
  const templates = new Map<string, VisitedTemplate>();
  const take = (url: string, pageOf: (template: string, hash: number) => VisitedPage): void => {
    const name = templateOf(url);
    if (name === null || (!templates.has(name) && templates.size >= MOST_TEMPLATES)) return;
    const template = templates.get(name) ?? { name, pages: [], frame: new Set(), listings: 0 };
    templates.set(name, template);
    const { pages } = template;
    const hash = murmur3(url);
    const known = pages.findIndex((page) => page.url === url);
    if (known >= 0) pages.splice(known, 1);
    else if (pages.length >= MOST_PAGES && hash >= pages.at(-1)!.hash) return;
    const before = pages.findIndex((page) => page.hash > hash);
    pages.splice(before < 0 ? pages.length : before, 0, pageOf(name, hash));
    if (pages.length > MOST_PAGES) pages.pop();
  };
  for await (const { url, outcome } of crawl.fetched()) {
    if (outcome.kind !== 'redirect') continue;
    const away = absolute(outcome.target, url);
    const isAway = away !== null && domainOf(hostOf(away)) !== domainOf(hostOf(url));
    take(url, (_, hash) => ({
      url,
      hash,
      away: isAway ? away : null,
      targets: [],
      own: [],
      sketch: null,
      cover: null,
    }));
  }
  for await (const record of crawl.parsed({ texts: false })) {
    const { url, outcome } = record;
    if (outcome.kind !== 'parsed') continue;
    const sketch = outcome.textChars >= LEAST_CHARS ? (outcome.sketch ?? null) : null;
    take(url, (name, hash) => ({ url, hash, away: null, ...linksOf(record, name), sketch, cover: null }));
  }
  return [...templates.values()].filter(({ pages }) => pages.length >= LEAST_VISITED);
}

function linksOf({ url, outlinks }: ParsedRecord, template: string): Pick<VisitedPage, 'targets' | 'own'> {
  const [targets, own] = [new Set<string>(), new Set<string>()];
  for (const link of outlinks) {
    if (targets.size + own.size >= MOST_LINKS) break;
    if (link.rel !== 'link' || link.noise !== undefined) continue;
    const target = targetOf(link);
    // Further pages of a list belong to the list itself.
    if (!target.startsWith(url)) (templateOf(target) === template ? own : targets).add(target);
  }
  return { targets: [...targets], own: [...own] };
}

const targetOf = ({ url }: Outlink): string => url.split('#', 1)[0]!;

/** Canonical; `null`: not a URL that can be crawled. */
function absolute(target: string, base: string): string | null {
  try {
    const canonical = canonicalUrl(new URL(target, base).href);
    return 'url' in canonical ? canonical.url : null;
  } catch {
    return null;
  }
}

async function linkedPages(
  crawl: CrawledPages,
  templates: readonly VisitedTemplate[],
): Promise<ReadonlyMap<string, Linked>> {
  const byName = new Map(templates.map((template) => [template.name, template]));
  const linked = new Map<string, Linked>();
  const away = new Map<string, VisitedPage[]>();
  for (const { pages } of templates) {
    for (const page of pages) {
      for (const target of [...page.targets, ...page.own]) {
        if (!linked.has(target)) linked.set(target, { isKnown: false, by: new Map() });
      }
      if (page.away !== null) away.set(page.away, [...(away.get(page.away) ?? []), page]);
    }
  }
  for await (const { url, outlinks } of crawl.parsed({ texts: false })) {
    // A page of another site that is also in this crawl belongs to it.
    for (const page of away.get(url) ?? []) page.away = null;
    const template = byName.get(templateOf(url) ?? '');
    for (const link of outlinks) {
      const known = link.rel === 'link' ? linked.get(targetOf(link)) : undefined;
      if (known === undefined) continue;
      if (template === undefined) known.isKnown = true;
      else noteLink(known.by, template, url);
    }
  }
  return linked;
}

function noteLink(by: Map<VisitedTemplate, string[]>, template: VisitedTemplate, url: string): void {
  const pages = by.get(template) ?? [];
  if (pages.length >= MOST_LISTINGS || pages.includes(url)) return;
  pages.push(url);
  by.set(template, pages);
}

/** What most of its pages link to, and how many of them list the same page. */
function measure(template: VisitedTemplate, linked: ReadonlyMap<string, Linked>): void {
  const { pages } = template;
  const times = new Map<string, number>();
  for (const { targets } of pages) for (const target of targets) times.set(target, (times.get(target) ?? 0) + 1);
  template.frame = new Set([...times].filter(([, count]) => 2 * count > pages.length).map(([target]) => target));
  let listed = 0;
  let listings = 0;
  for (const target of times.keys()) {
    if (template.frame.has(target)) continue;
    listed++;
    listings += linked.get(target)?.by.get(template)?.length ?? 0;
  }
  template.listings = listed === 0 ? 0 : listings / listed;
}

type IsKnownText = (page: VisitedPage) => boolean;

function isEmpty(
  template: VisitedTemplate,
  linked: ReadonlyMap<string, Linked>,
  others: ReadonlySet<VisitedTemplate>,
  isKnownText: IsKnownText,
): boolean {
  const { pages } = template;
  const empty = pages.filter((page) => broughtNothing(page, template, linked, others, isKnownText)).length;
  return isEmptyTemplate({ visits: pages.length, empty });
}

/** @param others templates that are empty themselves: pages that only they link to count as unknown */
function broughtNothing(
  page: VisitedPage,
  template: VisitedTemplate,
  linked: ReadonlyMap<string, Linked>,
  others: ReadonlySet<VisitedTemplate>,
  isKnownText: IsKnownText,
): boolean {
  if (page.away !== null) return true;
  if (page.targets.length + page.own.length >= MOST_LINKS) return false;
  const isKnown = (target: string): boolean => {
    const { isKnown = false, by = [] } = linked.get(target) ?? {};
    return isKnown || [...by].some(([each]) => each !== template && !others.has(each));
  };
  const listed = page.targets.filter((target) => !template.frame.has(target));
  if (!listed.every(isKnown)) return false;
  if (page.own.every(isKnown) && template.pages.some((other) => other !== page && isAlike(page, other))) return true;
  return listed.length > 0 && template.listings >= LEAST_LISTINGS && isKnownText(page);
}

const isAlike = (page: VisitedPage, other: VisitedPage): boolean =>
  (textOverlap(page.sketch, other.sketch)?.likeness ?? 0) >= LIKE;

/** Compares the texts of pages with those of the pages that they list. */
async function readTexts(crawl: CrawledPages, templates: readonly VisitedTemplate[]): Promise<void> {
  const pages = new Map<string, VisitedPage>();
  const listing = new Map<string, VisitedPage[]>();
  for (const { pages: visited, frame } of templates) {
    for (const page of visited) {
      pages.set(page.url, page);
      for (const target of page.targets) {
        if (!frame.has(target)) listing.set(target, [...(listing.get(target) ?? []), page]);
      }
    }
  }
  for await (const { url, text } of crawl.parsed()) {
    const page = pages.get(url);
    if (page !== undefined) page.cover = new WordCover(text);
  }
  for await (const { url, text, outcome } of crawl.parsed()) {
    const title = outcome.kind === 'parsed' ? (outcome.title ?? '') : '';
    for (const { cover } of listing.get(url) ?? []) {
      cover?.add(title);
      cover?.add(text);
    }
  }
}

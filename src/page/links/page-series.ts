/** Versions of a page that repeat its text for readers other than browsers on a large screen. */
export const PAGE_VARIANTS = ['amp', 'print', 'mobile'] as const;
export type PageVariant = (typeof PAGE_VARIANTS)[number];

const PRINT_MEDIA = /\bprint\b/i;
const MOBILE_MEDIA = /\bhandheld\b|max-(?:device-)?width/i;

/** The version that `link rel=alternate` names by its `media`; `null`: none of these. */
export function variantOfMedia(media: string): PageVariant | null {
  if (PRINT_MEDIA.test(media)) return 'print';
  return MOBILE_MEDIA.test(media) ? 'mobile' : null;
}

const PRINT_ADDRESS =
  /[/?&_.=-](?:print(?:er|able|view|version|page|article|friendly)?|druck(?:en|version|ansicht)?|imprimir|imprimer|stampa)(?:[/?&_.=-]|$)/i;
const MOBILE_HOST = /^https?:\/\/(?:m|mobile|wap|touch)\./i;

/**
 * Which version of another page this page is. It must declare that page as its canonical one. Print and mobile versions
 * are then recognised by their addresses, which must be on the site of the other page. `null`: it is a page of its own.
 *
 * @param isAmp whether it is written in AMP (`<html amp>`)
 */
export function pageVariant(url: string, canonical: string | null, isAmp: boolean): PageVariant | null {
  if (canonical === null || canonical === url) return null;
  if (isAmp) return 'amp';
  if (!isOfSameSite(url, canonical)) return null;
  if (PRINT_ADDRESS.test(url) && !PRINT_ADDRESS.test(canonical)) return 'print';
  return MOBILE_HOST.test(url) && !MOBILE_HOST.test(canonical) ? 'mobile' : null;
}

const isOfSameSite = (a: string, b: string): boolean => siteOf(a) === siteOf(b);
const siteOf = (url: string): string =>
  /^https?:\/\/(?:(?:www|m|mobile|wap|touch|print)\.)?([^/?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? '';

/** A page in a series: one text or list over several pages. */
export interface PageSeries {
  readonly next: string | null;
  /** Its own number, from 1; `null`: its addresses do not show one. */
  readonly number: number | null;
  /** The evidence: `link rel=next`, `pager`. */
  readonly source: string;
}

export interface SeriesPage {
  readonly url: string;
  /** Targets of `rel=next` and `rel=prev`, absolute. */
  readonly next: string | null;
  readonly previous: string | null;
  readonly links: Iterable<{ readonly url: string; readonly anchor: string }>;
}

/** Links of a pager that are examined, and digits of a number in an address. */
const MAX_CANDIDATES = 100;
const MAX_DIGITS = 6;
/** A number above this many pages is an id. */
const MOST_PAGES = 999;
/** Least step of addresses that count entries: `?start=10`. */
const LEAST_STEP = 5;

/** An address with a place for a number. */
interface Template {
  readonly before: string;
  readonly after: string;
}

/** How a number in an address counts pages: from 1, from 0, or by entries, so many a page. */
interface Counting {
  readonly first: number;
  readonly step: number;
}

/**
 * The place of a page in a series of pages, by `rel=next` and `rel=prev`, or by a pager ("1 2 3"). The links of a pager
 * differ only in a number, and the page's own address has the same pattern. `rel=next` also leads to the next post or
 * chapter; such targets have another pattern and are not next pages. `null`: it is in no series.
 */
export function pageSeries({ url, next, previous, links }: SeriesPage): PageSeries | null {
  if (next !== null && isOfSite(next, url)) {
    const number = numberBefore(url, next);
    if (number !== null || isQueryOf(next, url)) return { next, number, source: 'link rel=next' };
  }
  const pager = pagerOf(url, links);
  if (pager !== null) return pager;
  if (previous === null || !isOfSite(previous, url)) return null;
  const before = numberBefore(previous, url);
  return before === null ? null : { next: null, number: before + 1, source: 'link rel=prev' };
}

const PAGE_NUMBER = /^\d{1,3}$/;

function pagerOf(url: string, links: SeriesPage['links']): PageSeries | null {
  const groups = new Map<string, { readonly template: Template; readonly urls: Map<number, string> }>();
  let candidates = 0;
  for (const { url: target, anchor } of links) {
    if (anchor.length > 3 || !PAGE_NUMBER.test(anchor) || !isOfSite(target, url)) continue;
    if (candidates++ >= MAX_CANDIDATES) break;
    for (const template of templatesOf(target)) {
      const key = `${template.before}\n${template.after}`;
      const group = groups.get(key) ?? { template, urls: new Map() };
      if (!group.urls.has(Number(anchor))) group.urls.set(Number(anchor), target);
      groups.set(key, group);
    }
  }
  for (const { template, urls } of groups.values()) {
    const counting = countingOf(template, urls);
    const number = counting === null ? null : numberOf(url, template, counting);
    if (number === null || number > MOST_PAGES) continue;
    const itself = urls.get(number);
    // The first page is elsewhere: these are days or years, not pages of this one.
    if (number === 1 && itself !== undefined && itself !== url && isBare(template)) continue;
    // Versions and years do not begin with 1.
    if (number > 2 && isBare(template) && !urls.has(1)) continue;
    const next = urls.get(number + 1) ?? null;
    if (next !== null || urls.has(number - 1)) return { next, number, source: 'pager' };
  }
  return null;
}

/** How the numbers of a pager count, if they all count alike. */
function countingOf(template: Template, urls: ReadonlyMap<number, string>): Counting | null {
  const values = [...urls].map(([number, url]) => [number, valueIn(url, template) as number] as const);
  const fits = ({ first, step }: Counting): boolean =>
    values.every(([number, value]) => value === first + (number - 1) * step);
  for (const first of [1, 0]) if (fits({ first, step: 1 })) return { first, step: 1 };
  const [number, value] = values.find(([each]) => each > 1) ?? [0, 0];
  const step = value / (number - 1);
  return Number.isInteger(step) && step >= LEAST_STEP && !isBare(template) && fits({ first: 0, step })
    ? { first: 0, step }
    : null;
}

function numberOf(url: string, template: Template, { first, step }: Counting): number | null {
  const value = valueIn(url, template);
  if (value === null) return isFirst(url, template) ? 1 : null;
  const number = (value - first) / step + 1;
  return Number.isInteger(number) && number >= 1 ? number : null;
}

/** The number of the page before `next`, by their addresses; `null`: they are not such pages. */
function numberBefore(url: string, next: string): number | null {
  for (const template of templatesOf(next)) {
    const value = valueIn(next, template) as number;
    const own = valueIn(url, template);
    if (own === null) {
      const isSecond = value <= 2 || (value >= LEAST_STEP && !isBare(template));
      if (value >= 1 && isSecond && isFirst(url, template)) return 1;
      continue;
    }
    const step = value - own;
    if (step === 1 && value <= MOST_PAGES) return Math.max(1, own);
    if (step >= LEAST_STEP && own % step === 0 && !isBare(template)) return own / step + 1;
  }
  return null;
}

/** Each number in path and query may be that of the page; the last one comes first. */
function templatesOf(url: string): Template[] {
  const from = startOfPath(url);
  const templates: Template[] = [];
  for (const { 0: digits, index } of url.slice(from).matchAll(/\d+/g)) {
    if (digits.length > MAX_DIGITS || (digits.length > 1 && digits.startsWith('0'))) continue;
    const at = from + index;
    templates.unshift({ before: url.slice(0, at), after: url.slice(at + digits.length) });
  }
  return templates;
}

function valueIn(url: string, { before, after }: Template): number | null {
  if (url.length <= before.length + after.length || !url.startsWith(before) || !url.endsWith(after)) return null;
  const digits = url.slice(before.length, url.length - after.length);
  return digits.length <= MAX_DIGITS && /^(?:0|[1-9]\d*)$/.test(digits) ? Number(digits) : null;
}

const WORDS = '(?:[a-z_-]*(?:page?|pagina|pagenum|seite|sid[ae]|strona)[a-z_-]*|pg|pn|p|start|offset|skip|from)';
/** What an address has before the number of a page and the address of the first page lacks. */
const MARK = new RegExp(`^[/?&;_.,-]?(?:${WORDS})?[=/_.,-]?$`, 'i');
const PAGE_WORD = new RegExp(`^${WORDS}$`, 'i');
const MAX_MARK = 24;

/** Whether the number does not follow a word that says "page": `/story/2`, `/story-2.html`. */
function isBare({ before }: Template): boolean {
  const mark = /[/?&;_.,-]([a-z_-]*)[=/_-]?$/i.exec(before)?.[1] ?? '';
  return !PAGE_WORD.test(mark);
}

/** Whether it is the address of the first page, which has no number. */
function isFirst(url: string, { before, after }: Template): boolean {
  const least = Math.max(startOfPath(url), before.length - MAX_MARK);
  for (let at = before.length; at >= least; at--) {
    if (!url.startsWith(before.slice(0, at))) continue;
    const mark = before.slice(at);
    const rest = mark.startsWith('?') && after.startsWith('&') ? `?${after.slice(1)}` : after;
    if (withoutSlash(url.slice(at)) === withoutSlash(rest) && MARK.test(mark) && !isDay(before.slice(0, at), mark)) {
      return true;
    }
  }
  return false;
}

/** A number after the address of a month is a day. */
const isDay = (before: string, mark: string): boolean => /^\/?$/.test(mark) && /\/\d+\/?$/.test(before);

const withoutSlash = (path: string): string => (path.endsWith('/') ? path.slice(0, -1) : path);

const startOfPath = (url: string): number => {
  const from = url.indexOf('/', url.indexOf('//') + 2);
  return from < 0 ? url.length : from;
};

const isOfSite = (url: string, other: string): boolean => url.startsWith(other.slice(0, startOfPath(other) + 1));

const isQueryOf = (url: string, other: string): boolean =>
  url !== other && url.includes('?') && pathOf(url) === pathOf(other);
const pathOf = (url: string): string => withoutSlash(url.split('?', 1).join(''));

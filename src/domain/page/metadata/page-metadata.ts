import { writtenTime } from '../text/written-time.ts';
import { authorNames } from './author-names.ts';
import { pageTitle } from './page-title.ts';
import { SiteNames } from './site-names.ts';
import type { Decision, Statement, Statements } from './statements.ts';
import { lettersOf } from './title-words.ts';

/** What a page says about itself. Times in milliseconds since the epoch. */
export interface PageMetadata {
  readonly title: string | null;
  readonly authors: readonly string[];
  readonly publishedAt: number | null;
  readonly modifiedAt: number | null;
  readonly description: string | null;
  readonly siteName: string | null;
  /** Absolute http(s) URL. */
  readonly image: string | null;
  /** Where each was found, by field; absent fields were found nowhere. */
  readonly sources: Readonly<Record<string, string>>;
}

export interface MetadataPage {
  readonly url: string;
  /** The present, ms since the epoch: no page was published later. */
  readonly now: number;
  /** An absolute http(s) URL of what the page writes; `null`: none. */
  readonly resolve: (written: string) => string | null;
}

const DAY_MS = 86_400_000;
/** Host and path of a URL. */
const ADDRESS = /^[a-z]+:\/\/([^/?#]*)([^?#]*)/i;
/** Sources of names of a site, the most careful first. */
const SITE_NAMES = ['og:site_name', 'json-ld name', 'meta application-name', 'json-ld publisher', 'meta dc.publisher'];

const DESCRIPTIONS = ['meta description', 'og:description', 'twitter:description', 'json-ld description'];

/** Decides each field from all statements about it. */
export function pageMetadata(statements: Statements, page: MetadataPage): PageMetadata {
  const [, host = '', path = ''] = ADDRESS.exec(page.url) ?? [];
  const names = new SiteNames(statements.of('siteName'), host.toLowerCase());
  const { isArticle } = statements;
  const title = pageTitle(statements.of('title'), {
    url: page.url,
    names,
    isHome: path === '' || path === '/',
    isArticle,
  });
  const authors = decideAuthors(statements.of('authors'), names);
  const latest = page.now + DAY_MS;
  const published = decideTime(statements.of('publishedAt'), 0, latest);
  const modified = decideTime(statements.of('modifiedAt'), published?.value ?? 0, latest);
  const description = statements.first('description', DESCRIPTIONS);
  const siteName = statements.first('siteName', SITE_NAMES);
  const image = statements.firstOf('image', page.resolve);
  return {
    title: title?.value ?? null,
    authors: authors?.value ?? [],
    publishedAt: published?.value ?? null,
    modifiedAt: modified?.value ?? null,
    description: description?.value ?? null,
    siteName: siteName?.value ?? null,
    image: image?.value ?? null,
    sources: sourcesOf({ title, authors, publishedAt: published, modifiedAt: modified, description, siteName, image }),
  };
}

function sourcesOf(decided: Readonly<Record<string, { readonly source: string } | null>>): Record<string, string> {
  const sources: Record<string, string> = {};
  for (const field of Object.keys(decided)) {
    const decision = decided[field];
    if (decision != null) sources[field] = decision.source;
  }
  return sources;
}

/** Structured data before `meta`, and that before what is read near the title. */
const AUTHOR_SOURCES = ['json-ld', 'article:', 'og:', 'meta author', 'meta', 'itemprop', 'rel', 'byline'];

/** The authors of the first source that names others than the site itself; else the site, where it is named as such. */
function decideAuthors(stated: readonly Statement[], names: SiteNames): Decision<readonly string[]> | null {
  if (stated.length === 0) return null;
  let site: Decision<readonly string[]> | null = null;
  for (const source of inOrder(stated, AUTHOR_SOURCES)) {
    const value = authorNames(valuesOf(stated, source));
    if (value.length === 0) continue;
    if (!value.every((name) => names.has(name))) return { value, source: agreeing(source, value, stated) };
    site ??= { value, source };
  }
  return site;
}

/** The different sources of a field, the most trusted first. */
function inOrder(stated: readonly Statement[], starts: readonly string[]): string[] {
  const sources: string[] = [];
  for (const { source } of stated) if (!sources.includes(source)) sources.push(source);
  return sources.length < 2 ? sources : sources.sort((a, b) => rankOf(a, starts) - rankOf(b, starts));
}

function valuesOf(stated: readonly Statement[], source: string): string[] {
  const values: string[] = [];
  for (const each of stated) if (each.source === source) values.push(each.value);
  return values;
}

function agreeing(source: string, value: readonly string[], stated: readonly Statement[]): string {
  const letters = value.map(lettersOf).join(' ');
  const sources = [source];
  for (const { source: other } of stated) {
    if (sources.includes(other)) continue;
    const others = authorNames(valuesOf(stated, other));
    if (others.map(lettersOf).join(' ') === letters) sources.push(other);
  }
  return sources.join(', ');
}

/** The order in which sources of times are believed. */
const TIME_SOURCES = ['json-ld', 'article:', 'og:', 'meta', 'itemprop', 'time', 'text'];

function rankOf(source: string, starts: readonly string[]): number {
  for (let rank = 0; rank < starts.length; rank++) if (source.startsWith(starts[rank]!)) return rank;
  return starts.length;
}

const isDay = (at: number): boolean => at % DAY_MS === 0;

interface ReadTime {
  readonly source: string;
  readonly value: number;
  readonly rank: number;
}

/** The first readable time within bounds; of times of one day the one with the finest clock. */
function decideTime(stated: readonly Statement[], from: number, to: number): Decision<number> | null {
  const found: ReadTime[] = [];
  let written = '';
  let at: number | null = null;
  for (const { source, value } of stated) {
    // Most sources repeat one another.
    if (value !== written) at = writtenTime(value);
    written = value;
    if (at !== null && at >= from && at <= to) found.push({ source, value: at, rank: rankOf(source, TIME_SOURCES) });
  }
  if (found.length > 1) found.sort((a, b) => a.rank - b.rank);
  const [first] = found;
  if (first === undefined) return null;
  const finer = isDay(first.value)
    ? found.find(({ value }) => !isDay(value) && Math.abs(value - first.value) < DAY_MS)
    : undefined;
  const { source, value } = finer ?? first;
  const sources = [source];
  for (const each of found) if (each.value === value && !sources.includes(each.source)) sources.push(each.source);
  return { value, source: sources.join(', ') };
}

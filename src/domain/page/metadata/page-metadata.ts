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
/** Sources of names of a site, the most careful first. */
const SITE_NAMES = ['og:site_name', 'json-ld name', 'meta application-name', 'json-ld publisher', 'meta dc.publisher'];

const DESCRIPTIONS = ['meta description', 'og:description', 'twitter:description', 'json-ld description'];

/** Decides each field from all statements about it. */
export function pageMetadata(statements: Statements, page: MetadataPage): PageMetadata {
  const host = /^[a-z]+:\/\/([^/?#]*)/i.exec(page.url)?.[1] ?? '';
  const names = new SiteNames(
    statements.of('siteName').map(({ value }) => value),
    host.toLowerCase(),
  );
  const { isArticle } = statements;
  const title = pageTitle(statements.of('title'), { url: page.url, names, isArticle });
  const authors = decideAuthors(statements.of('authors'), names);
  const published = decideTime(statements.of('publishedAt'), 0, page.now + DAY_MS);
  const modified = decideTime(statements.of('modifiedAt'), published?.value ?? 0, page.now + DAY_MS);
  const description = statements.first('description', DESCRIPTIONS);
  const siteName = statements.first('siteName', SITE_NAMES);
  const image = decideImage(statements.of('image'), page.resolve);
  const decided = { title, authors, publishedAt: published, modifiedAt: modified, description, siteName, image };
  return {
    title: title?.value ?? null,
    authors: authors?.value ?? [],
    publishedAt: published?.value ?? null,
    modifiedAt: modified?.value ?? null,
    description: description?.value ?? null,
    siteName: siteName?.value ?? null,
    image: image?.value ?? null,
    sources: sourcesOf(decided),
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

/** The sources of a field in the order of their first statement, each with its values. */
function bySource(stated: readonly Statement[]): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { source, value } of stated) {
    const known = found.get(source);
    if (known === undefined) found.set(source, [value]);
    else known.push(value);
  }
  return found;
}

/** Structured data before `meta`, and that before what is read near the title. */
const AUTHOR_SOURCES = ['json-ld', 'article:', 'og:', 'meta author', 'meta', 'itemprop', 'rel', 'byline'];

/** The authors of the first source that names others than the site itself; else the site, where it is named as such. */
function decideAuthors(stated: readonly Statement[], names: SiteNames): Decision<readonly string[]> | null {
  if (stated.length === 0) return null;
  const sources = bySource(stated);
  let site: Decision<readonly string[]> | null = null;
  for (const source of [...sources.keys()].sort((a, b) => rankOf(a, AUTHOR_SOURCES) - rankOf(b, AUTHOR_SOURCES))) {
    const value = authorNames(sources.get(source) ?? []);
    if (value.length === 0) continue;
    if (!value.every((name) => names.has(name))) return { value, source: agreeing(source, value, sources) };
    site ??= { value, source };
  }
  return site;
}

function agreeing(source: string, value: readonly string[], sources: ReadonlyMap<string, string[]>): string {
  const letters = value.map(lettersOf).join(' ');
  const others = [...sources].filter(
    ([other, written]) => other !== source && authorNames(written).map(lettersOf).join(' ') === letters,
  );
  return [source, ...others.map(([other]) => other)].join(', ');
}

/** The order in which sources of times are believed. */
const TIME_SOURCES = ['json-ld', 'article:', 'og:', 'meta', 'itemprop', 'time', 'text'];
const rankOf = (source: string, starts: readonly string[]): number =>
  starts.findIndex((start) => source.startsWith(start));

/** The first readable time within bounds; of times of one day the one with the finest clock. */
function decideTime(stated: readonly Statement[], from: number, to: number): Decision<number> | null {
  if (stated.length === 0) return null;
  const found = stated
    .flatMap(({ source, value }) => {
      const at = writtenTime(value);
      return at === null || at < from || at > to ? [] : [{ source, value: at }];
    })
    .sort((a, b) => rankOf(a.source, TIME_SOURCES) - rankOf(b.source, TIME_SOURCES));
  const [first] = found;
  if (first === undefined) return null;
  const isDay = (at: number): boolean => at % DAY_MS === 0;
  const near = ({ value }: { value: number }): boolean => Math.abs(value - first.value) < DAY_MS && !isDay(value);
  const best = isDay(first.value) ? (found.find(near) ?? first) : first;
  const others = found.filter((each) => each !== best && each.value === best.value).map(({ source }) => source);
  return { value: best.value, source: [...new Set([best.source, ...others])].join(', ') };
}

function decideImage(stated: readonly Statement[], resolve: MetadataPage['resolve']): Decision<string> | null {
  for (const { source, value } of stated) {
    const url = resolve(value);
    if (url !== null) return { value: url, source };
  }
  return null;
}

import { writtenTime } from '../text/written-time.ts';
import { pageTitle } from './page-title.ts';
import { lettersOf, SiteNames, wordsOf } from './site-names.ts';
import { cleanText, type Decision, type Statement, type Statements } from './statements.ts';

const MAX_AUTHORS = 20;
const MAX_NAME = 100;
/** A byline of more words is a sentence. */
const NAME_WORDS = 8;

/** Words before a name. */
const BEFORE =
  /^(?:(?:written |posted |published |reviewed |edited |words |story |text )?by|von|par|por|de|di|af|av|door|autor(?:en|es|e|in|a)?|author(?:s)?|автор(?:ы)?|текст|作者|记者|記者|文|撰文|著者|執筆|글)(?:\s*[:\uff1a|/]\s*|\s+)/iu;
/** Notices after a name. */
const BEHIND = /\s*(?:기자|記者|记者|\([^()]{0,60}\)|\s[-\u2013\u2014]\s.*)$/u;
/** A role beside a name. */
const ROLE =
  /^(?:[\p{L}-]+ ){0,3}(?:editor|reporter|writer|correspondent|contributor|journalist|columnist|redakteur(?:in)?|journaliste|redacteur)(?: \p{L}+){0,3}$/iu;
/** Between names. */
const BETWEEN =
  /\s*(?:[,;\u3001\uff0c\uff1b\u00b7|]|\s&\s|\s\/\s|\s\+\s|\s(?:and|und|et|y|e|i|och|og|en|ja|и|та|και|with|mit)\s)\s*/iu;
const EMAIL = /\s*[<(]?[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,32}){1,4}[>)]?/g;
const NO_NAME = /^(?:https?:|www\.|\/|@|#)|\.(?:com|org|net)\/|facebook\.com|twitter\.com/i;
/** A name as most sources write it, with nothing to remove. */
const PLAIN_NAME = /^[A-Z][a-z]{1,30}(?: [A-Z][a-z]{1,30}){1,2}$/;
/** What software writes where no author is set. */
const NOTHING =
  /^(?:admin(?:istrator)?|author|editor|redaktion|staff|user|root|guest|unknown|none|null|undefined|n\/a|anonymous|webmaster|test|wordpress)$/i;

/**
 * The names in statements of authors. A list is split. Addresses, roles, e-mail addresses and placeholders are left
 * out.
 */
export function authorNames(stated: readonly string[]): string[] {
  const found = new Map<string, string>();
  for (const written of stated) {
    if (PLAIN_NAME.test(written) && !BEFORE.test(written) && !ROLE.test(written)) {
      const letters = lettersOf(written);
      if (!found.has(letters)) found.set(letters, written);
      continue;
    }
    if (NO_NAME.test(written)) continue;
    for (const part of partsOf(written.replace(EMAIL, ' ').replace(BEFORE, ''))) {
      const name = part.trim().replace(BEFORE, '').replace(BEHIND, '').trim();
      const letters = lettersOf(name);
      if (letters.length < 2 || name.length > MAX_NAME || NOTHING.test(name) || ROLE.test(name) || NO_NAME.test(name))
        continue;
      if (wordsOf(name).length > NAME_WORDS || found.has(letters)) continue;
      found.set(letters, name);
      if (found.size >= MAX_AUTHORS) return [...found.values()];
    }
  }
  return [...found.values()];
}

/** "Doe, Jane" is one name. */
function partsOf(written: string): string[] {
  const parts = written.split(BETWEEN).filter((part) => part !== '');
  const isInverted = parts.length === 2 && /^\p{Lu}[\p{L}'-]+, \p{Lu}[\p{L}.'-]+$/u.test(written);
  return isInverted ? [`${parts[1]} ${parts[0]}`] : parts;
}

const MAX_CHARS = 1 << 18;
const LINE_TAG = /<\/?(?:br|p|div|li|h[1-6]|blockquote|tr)\b[^<>]{0,500}>/gi;
const TAG = /<\/?[a-z][^<>]{0,500}>/gi;
const LINE_END = /\s*[\r\n\u2028\u2029]+\s*/;

/** The text of a page from its structured data, one paragraph per line; sites write markup into it. */
export function articleBodyText(written: string): string {
  const cut = written.slice(0, MAX_CHARS);
  const text = cut.includes('<') ? cut.replace(LINE_TAG, '\n').replace(TAG, '') : cut;
  return text
    .split(LINE_END)
    .map((line) => cleanText(line, MAX_CHARS))
    .filter((line) => line !== '')
    .join('\n');
}

/** What a page says about itself, limited to what its record in the crawl db keeps; the rest is in the parse output. */
export interface StatedFacts {
  /** At most {@link MAX_RECORD_AUTHORS}. */
  readonly authors: readonly string[];
  /** Milliseconds since the epoch, whole seconds. */
  readonly publishedAt: number | null;
  readonly modifiedAt: number | null;
  /** Language tag (BCP 47), declared or guessed. */
  readonly lang: string | null;
}

const MAX_RECORD_AUTHORS = 8;
const MAX_TAG = 35;

const wholeSeconds = (at: number | null): number | null => (at === null ? null : 1_000 * Math.floor(at / 1_000));

/** The facts within their bounds; `null` for a page that states none. */
export function statedFacts({ authors, publishedAt, modifiedAt, lang }: StatedFacts): StatedFacts | null {
  if (authors.length === 0 && publishedAt === null && modifiedAt === null && lang === null) return null;
  return {
    authors: authors.slice(0, MAX_RECORD_AUTHORS).map((name) => name.slice(0, MAX_NAME)),
    publishedAt: wholeSeconds(publishedAt),
    modifiedAt: wholeSeconds(modifiedAt),
    lang: lang === null ? null : lang.slice(0, MAX_TAG),
  };
}

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
  /** Where each was found, by field; a field that was not found is absent. */
  readonly sources: Readonly<Record<string, string>>;
}

export interface MetadataPage {
  readonly url: string;
  /** The present, ms since the epoch: no page can have been published later. */
  readonly now: number;
  /** The absolute http(s) URL of a written address; `null`: none. */
  readonly resolve: (written: string) => string | null;
}

const DAY_MS = 86_400_000;
/** Host and path of a URL. */
const ADDRESS = /^[a-z]+:\/\/([^/?#]*)([^?#]*)/i;
/** Sources of site names, the most careful first. */
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

/** Structured data comes before `meta`, and `meta` before what is read near the title. */
const AUTHOR_SOURCES = ['json-ld', 'article:', 'og:', 'meta author', 'meta', 'itemprop', 'rel', 'byline'];

/**
 * The authors of the first source that names others than the site itself; otherwise the site, if it is named as author.
 */
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

/** Sources of times, the most trusted first. */
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

/** The first readable time within bounds; among times on the same day, the most precise one. */
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

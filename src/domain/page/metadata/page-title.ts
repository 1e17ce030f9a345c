import { TAIL, textHints } from '../text/text-hints.ts';
import { wordsOfAddress } from './address-words.ts';
import type { SiteNames } from './site-names.ts';
import type { Decision, Statement } from './statements.ts';
import { isHeadOf, type TitlePage, withoutNames, withoutNamesBehind } from './title-parts.ts';
import { lettersOf, wordLikeness, wordShare, wordsOf } from './title-words.ts';

/** Headings that are compared. */
const MAX_HEADINGS = 6;
/** Least likeness of a heading to a title that names the page in other words; less where the page is an article. */
const LEAST_LIKENESS = 0.79;
const LEAST_LIKENESS_OF_ARTICLE = 0.15;
/** Weight of "all words of the heading stand in the title" against the likeness of both. */
const SHARE_WEIGHT = 0.8;
/** How much more like the address a text must be than another. */
const ADDRESS_LEAD = 0.25;
const LEAST_ADDRESS_LIKENESS = 0.5;

/** Signs of a link to a heading, at its end; `C#` is a name. */
const HEADING_LINK = /(?:\s*[\u00b6\u00a7\u{1f517}]|\s+#|(?<![\s#][A-Z]|^[A-Z])#)+$/u;
/** What a heading calls the page, before its title: `Thread: `. */
const KIND = /^[\p{L} ]{2,20}:\s*(?=\S)/u;

/**
 * The title of a page by agreement. A heading that another statement repeats is the title as it is shown. Else a social
 * title with which the `title` element begins, which was written for this page; else the heading that says most of the
 * same words; else the social title or the `title` element. Names of the site are left out where a title has parts.
 */
export function pageTitle(stated: readonly Statement[], page: TitlePage): Decision<string> | null {
  const headings = headingsOf(stated, page.names);
  const titles = titlesOf(stated, headings, page);
  const chosen = chosenTitle(headings, titles, page) ?? stated[0] ?? null;
  if (chosen === null) return null;
  const title = withoutKicker(chosen, titles);
  return { value: title.value, source: sourcesOf(title, headings, titles) };
}

/** A statement as it is compared. Its letters are made when they are needed: most titles are equal as they are. */
class Title implements Statement {
  readonly source: string;
  readonly written: string;
  readonly value: string;
  private own: string | null = null;

  constructor(source: string, written: string, value: string) {
    this.source = source;
    this.written = written;
    this.value = value;
  }

  get letters(): string {
    this.own ??= lettersOf(this.value);
    return this.own;
  }

  says(other: Title): boolean {
    return this.value === other.value || this.letters === other.letters;
  }
}

function headingsOf(stated: readonly Statement[], names: SiteNames): Title[] {
  const found: Title[] = [];
  for (const { source, value: written } of stated) {
    if (source !== 'h1' || found.length >= MAX_HEADINGS) continue;
    const value = withoutNamesBehind(written.replace(HEADING_LINK, ''), names);
    if (names.has(value)) continue;
    const heading = new Title(source, written, value);
    if (heading.letters === '' || announcesOthers(heading.value) || saying(heading, found) !== null) continue;
    found.push(heading);
  }
  return found;
}

/** Whether a heading is that of links to other pages: "More from Saxony". */
const announcesOthers = (heading: string): boolean =>
  (textHints(heading, { width: heading.length, digits: 0 }) & TAIL) !== 0;

/** The first of the titles that says the same. */
function saying(title: Title, titles: readonly Title[]): Title | null {
  for (const each of titles) if (each.says(title)) return each;
  return null;
}

/** All but the headings, the preferred ones first. */
function titlesOf(stated: readonly Statement[], headings: readonly Title[], page: TitlePage): Title[] {
  const found: Title[] = [];
  let letters: ReadonlySet<string> | null = null;
  for (const { source, value: written } of stated) {
    if (source === 'h1') continue;
    const known = knownValue(written, headings, found);
    if (known !== null) {
      found.push(new Title(source, written, known));
      continue;
    }
    letters ??= new Set(headings.map((heading) => heading.letters));
    const value = withoutNames(written, letters, page);
    if (!page.names.has(value)) found.push(new Title(source, written, value));
  }
  return found.length < 2 ? found : found.sort((a, b) => rankOf(a.source) - rankOf(b.source));
}

/** The value of a title that begins with a heading, or is another title; `null`: of neither. */
function knownValue(written: string, headings: readonly Title[], titles: readonly Title[]): string | null {
  for (const { value } of headings) if (isHeadOf(value, written)) return value;
  for (const each of titles) if (each.written === written) return each.value;
  return null;
}

/** The order in which titles are preferred where no heading decides. */
const ORDER = ['meta headline', 'og:title', 'title', 'json-ld headline', 'twitter:title', 'json-ld name'];
const rankOf = (source: string): number => {
  const rank = ORDER.indexOf(source);
  return rank < 0 ? ORDER.length : rank;
};

function chosenTitle(headings: readonly Title[], titles: readonly Title[], page: TitlePage): Statement | null {
  for (const heading of headings) {
    const same = saying(heading, titles);
    if (same === null) continue;
    // Capitals alone are a matter of style, and so is a line of its own in place of a colon.
    const isStyled = isAllCapitals(heading.value) || isGlued(heading.value, same.value);
    return isStyled ? { source: heading.source, value: same.value } : heading;
  }
  const own =
    titleBehindKind(headings, titles) ??
    titles.find((each) => each.source === 'og:title' && isBeginning(each.written, titles));
  if (own !== undefined) return own;
  const [first = null] = titles;
  const like = likestHeading(headings, titles, page);
  if (like !== null && (page.isArticle || first === null || !isNearer(first, like, wordsOfAddress(page.url))))
    return like;
  if (headings.length === 0) return first;
  const address = wordsOfAddress(page.url);
  const byAddress = headings.find(
    (heading) =>
      wordLikeness(wordsOf(heading.value), address) >= LEAST_ADDRESS_LIKENESS && isNearer(heading, first, address),
  );
  return byAddress ?? first ?? headings[0] ?? null;
}

const isAllCapitals = (text: string): boolean => text === text.toUpperCase() && text !== text.toLowerCase();

const COLON = /(?::|\s[-|\u2013\u2014]+)\s/;

/** Whether a heading shows without a colon or dash what a title of the same letters writes with one. */
const isGlued = (heading: string, title: string): boolean => COLON.test(title) && !COLON.test(heading);

/** What is written for this page alone. */
const WRITTEN = new Set(['og:title', 'json-ld headline', 'meta headline', 'twitter:title', 'title']);
/** Most words of a kicker, and least of the title behind it. */
const KICKER_WORDS = 6;
const BEHIND_KICKER = 3;
const LETTER = /[\p{L}\p{N}]/u;

/** The title behind a kicker: what another statement has without it. */
function withoutKicker(chosen: Statement, titles: readonly Title[]): Statement {
  for (const { source, value } of titles) {
    const from = chosen.value.length - value.length;
    if (from < 2 || !WRITTEN.has(source) || !chosen.value.endsWith(value)) continue;
    const kicker = chosen.value.slice(0, from);
    const isApart = !LETTER.test(kicker[from - 1]!) && LETTER.test(kicker);
    if (isApart && wordsOf(kicker).length <= KICKER_WORDS && wordsOf(value).length >= BEHIND_KICKER) {
      return { source, value };
    }
  }
  return chosen;
}

function titleBehindKind(headings: readonly Title[], titles: readonly Title[]): Title | undefined {
  for (const { value } of headings) {
    const kind = KIND.exec(value);
    if (kind === null) continue;
    const letters = lettersOf(value.slice(kind[0].length));
    const same = titles.find((each) => each.letters === letters);
    if (same !== undefined) return same;
  }
  return undefined;
}

/** Whether the `title` element is this text with something behind it. */
const isBeginning = (text: string, titles: readonly Title[]): boolean =>
  titles.some(({ source, written }) => source === 'title' && written.length > text.length && written.startsWith(text));

function likestHeading(headings: readonly Title[], titles: readonly Title[], { isArticle }: TitlePage): Title | null {
  let likest: Title | null = null;
  let most = isArticle ? LEAST_LIKENESS_OF_ARTICLE : LEAST_LIKENESS;
  const others = titles.map(({ value }) => wordsOf(value));
  for (const heading of headings) {
    const words = wordsOf(heading.value);
    for (const other of others) {
      const likeness = Math.max(wordLikeness(words, other), SHARE_WEIGHT * wordShare(words, other));
      if (likeness <= most) continue;
      most = likeness;
      likest = heading;
    }
  }
  return likest;
}

function isNearer(one: Statement | null, other: Statement | null, address: readonly string[]): boolean {
  const of = (each: Statement | null): number => (each === null ? 0 : wordLikeness(wordsOf(each.value), address));
  return of(one) > of(other) + ADDRESS_LEAD;
}

/** The source of a text, and those that say the same. */
function sourcesOf(chosen: Statement, headings: readonly Title[], titles: readonly Title[]): string {
  const same = new Title(chosen.source, '', chosen.value);
  let sources = chosen.source;
  const seen = [chosen.source];
  for (const list of [headings, titles]) {
    for (const each of list) {
      if (seen.includes(each.source) || !each.says(same)) continue;
      seen.push(each.source);
      sources += `, ${each.source}`;
    }
  }
  return sources;
}

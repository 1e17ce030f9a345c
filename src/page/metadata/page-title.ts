import { TAIL, textHints } from '../text/text-hints.ts';
import { lettersOf, type SiteNames, wordLikeness, wordShare, wordsOf, wordsOfAddress } from './site-names.ts';
import type { Decision, Statement } from './statements.ts';

/**
 * Between the title of a page and the name of its site. Dashes and underscores without spaces divide beside wide
 * letters.
 */
const DIVIDER =
  /(\s(?:[|\-\u2013\u2014\u00b7\u2022\u00bb\u00ab\u203a:~<>_]+|\/\/?)\s|\s?[|\uff5c\u3163]\s?|(?<=[\u2e80-\uffef])[-\u2013\u2014_]|_(?=[\u2e80-\uffef]))/;
const MAY_DIVIDE = /[|\-\u2013\u2014\u00b7\u2022\u00bb\u00ab\u203a:~<>/\uff5c\u3163_]/;
const DIVIDER_AT = new RegExp(DIVIDER, 'y');
/** Most parts of a title that are distinguished; a title with more is left as it is. */
const MAX_PARTS = 8;
/** Most words of a name after a divider that only precedes names. */
const NAME_WORDS = 4;
const NAME_CHARS = 12;
const BAR = /[|\uff5c\u3163]|::/;
const TIGHT = /^[-\u2013\u2014_]$/;
/** Most words of a section between a title and the name of the site, and least words of what is left. */
const SECTION_WORDS = 3;
const TITLE_WORDS = 3;
/** How much more like the address a part must be than the one that a heading repeats. */
const PART_ADDRESS_LEAD = 0.1;

interface TitlePage {
  readonly url: string;
  readonly names: SiteNames;
  /** Whether it is the first page of its site. */
  readonly isHome: boolean;
  readonly isArticle: boolean;
}

/** Whether a title is this text, or this text followed by further parts. */
function isHeadOf(text: string, title: string): boolean {
  if (!title.startsWith(text)) return false;
  if (title.length === text.length) return true;
  DIVIDER_AT.lastIndex = text.length;
  return DIVIDER_AT.test(title);
}

/** The parts of a title alternating with their dividers; `null`: it has one part, or too many. */
function partsOf(title: string): string[] | null {
  if (!MAY_DIVIDE.test(title)) return null;
  const parts = title.split(DIVIDER);
  return parts.length < 3 || parts.length > 2 * MAX_PARTS ? null : parts;
}

const joined = (parts: readonly string[], from: number, to: number): string => parts.slice(from, to).join('').trim();

/** A heading without the names of the site at its end. */
function withoutNamesBehind(heading: string, names: SiteNames): string {
  const parts = partsOf(heading);
  if (parts === null) return heading;
  let to = parts.length;
  while (to >= 3 && names.has(parts[to - 1]!)) to -= 2;
  return joined(parts, 0, to) || heading;
}

/**
 * A title without the names of the site beside it and the sections between, or the run of its parts that a heading
 * repeats. A heading at its end may be the name of a book or a section: then the part before it is taken if the address
 * has more of its words.
 * @param headings letters of the headings
 */
function withoutNames(title: string, headings: ReadonlySet<string>, page: TitlePage): string {
  const parts = partsOf(title);
  if (parts === null) return title;
  for (let from = 0; headings.size > 0 && from < parts.length; from += 2) {
    for (let to = parts.length; to > from; to -= 2) {
      const run = joined(parts, from, to);
      if (!headings.has(lettersOf(run))) continue;
      const before = from === 0 ? '' : joined(parts, 0, from - 1);
      return from > 0 && !page.names.has(before) && isNearerToTitle(before, run, page) ? before : run;
    }
  }
  return withoutEnds(parts, page) || title;
}

function isNearerToTitle(one: string, other: string, { url }: TitlePage): boolean {
  const address = wordsOfAddress(url);
  return wordLikeness(wordsOf(one), address) > wordLikeness(wordsOf(other), address) + PART_ADDRESS_LEAD;
}

function withoutEnds(parts: readonly string[], { names, isHome }: TitlePage): string {
  let from = 0;
  let to = parts.length;
  while (to - from >= 3) {
    if (names.has(parts[to - 1]!) || isNameBehind(parts, to)) to -= 2;
    // The first page of a site is about what it names.
    else if (!isHome && names.has(parts[from]!)) from += 2;
    else break;
  }
  if (to < parts.length) while (to - from >= 3 && isSectionBehind(parts, from, to)) to -= 2;
  return joined(parts, from, to);
}

/**
 * Whether the part before `to` follows a divider that sites write before their name. Chinese titles have several such
 * parts, including channels, and no spaces.
 */
function isNameBehind(parts: readonly string[], to: number): boolean {
  const divider = parts[to - 2]!;
  const last = parts[to - 1]!;
  const rest = parts.slice(0, to - 2).join('');
  if (TIGHT.test(divider)) return last.length <= NAME_CHARS && rest.length > last.length;
  return to === parts.length && BAR.test(divider) && wordsOf(last).length <= NAME_WORDS && wordsOf(rest).length >= 2;
}

/** Whether the divider before this part equals the divider between it and the name of the site after it. */
const isSectionBehind = (parts: readonly string[], from: number, to: number): boolean =>
  parts[to - 2]!.trim() === parts[to]!.trim() &&
  wordsOf(parts[to - 1]!).length <= SECTION_WORDS &&
  wordsOf(joined(parts, from, to - 2)).length >= TITLE_WORDS;

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
/** The kind of page that a heading names before its title: `Thread: `. */
const KIND = /^[\p{L} ]{2,20}:\s*(?=\S)/u;

/**
 * The title of a page by agreement. A heading that another statement repeats is the title as shown. Otherwise, in this
 * order: a social title that the `title` element begins with, as it was written for this page; the heading that shares
 * most words; the social title or the `title` element. Names of the site are left out if a title has parts.
 */
export function pageTitle(stated: readonly Statement[], page: TitlePage): Decision<string> | null {
  const headings = headingsOf(stated, page.names);
  const titles = titlesOf(stated, headings, page);
  const chosen = chosenTitle(headings, titles, page) ?? stated[0] ?? null;
  if (chosen === null) return null;
  const title = withoutKicker(chosen, titles);
  return { value: title.value, source: sourcesOf(title, headings, titles) };
}

/**
 * A statement in the form used for comparison. Its letters are computed on demand: most titles are equal as they are.
 */
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

/** Whether a heading introduces links to other pages: "More from Saxony". */
const announcesOthers = (heading: string): boolean =>
  (textHints(heading, { width: heading.length, digits: 0 }) & TAIL) !== 0;

/** The first of the titles that says the same. */
function saying(title: Title, titles: readonly Title[]): Title | null {
  for (const each of titles) if (each.says(title)) return each;
  return null;
}

/** All statements except headings, the preferred ones first. */
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

/** The value of a title that begins with a heading or equals another title; `null`: neither is the case. */
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
    // All capitals are a matter of style, and so is a separate line instead of a colon.
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

/** Whether a heading lacks the colon or dash of a title with the same letters. */
const isGlued = (heading: string, title: string): boolean => COLON.test(title) && !COLON.test(heading);

/** Sources that are written for this page alone. */
const WRITTEN = new Set(['og:title', 'json-ld headline', 'meta headline', 'twitter:title', 'title']);
/** Most words of a kicker, and least words of the title after it. */
const KICKER_WORDS = 6;
const BEHIND_KICKER = 3;
const LETTER = /[\p{L}\p{N}]/u;

/** The title after a kicker: what another statement has without it. */
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

/** Whether the `title` element is this text followed by something. */
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

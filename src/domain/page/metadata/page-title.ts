import type { SiteNames } from './site-names.ts';
import type { Decision, Statement } from './statements.ts';
import { lettersOf, wordLikeness, wordShare, wordsOf } from './title-words.ts';

/** Between the title of a page and the name of its site. */
const DIVIDER =
  /(\s(?:[|\-\u2013\u2014\u00b7\u2022\u00bb\u00ab\u203a:~<>]+|\/\/)\s|\s?[|\uff5c_]\s?|(?<=[\u2e80-\uffef])[-\u2013\u2014](?=[\u2e80-\uffef]))/;
const MAY_DIVIDE = /[|\-\u2013\u2014\u00b7\u2022\u00bb\u00ab\u203a:~<>/\uff5c_]/;
const DIVIDER_AT = new RegExp(DIVIDER, 'y');
/** Parts of a title that are told apart; a title of more is left as it is. */
const MAX_PARTS = 8;
/** A name behind a divider that stands before names alone has at most so many words. */
const NAME_WORDS = 4;
const NAME_CHARS = 12;
const BAR = /[|\uff5c]|::/;
const TIGHT = /^[-\u2013\u2014_]$/;
/** Headings that are compared. */
const MAX_HEADINGS = 6;
/** Least likeness of a heading to a title that names the page in other words; less where the page is an article. */
const LEAST_LIKENESS = 0.5;
const LEAST_LIKENESS_OF_ARTICLE = 0.15;
/** Weight of "all words of the heading stand in the title" against the likeness of both. */
const SHARE_WEIGHT = 0.8;
/** How much more like the address a text must be than another. */
const ADDRESS_LEAD = 0.25;
const LEAST_ADDRESS_LIKENESS = 0.5;

/** The sign of a link to a heading, at its end. */
const HEADING_LINK = /\s*[\u00b6#\u00a7]$/u;

export interface TitlePage {
  readonly url: string;
  readonly names: SiteNames;
  readonly isArticle: boolean;
}

/**
 * The title of a page by agreement. A heading that another statement repeats is the title as it is shown. Else a social
 * title with which the `title` element begins, which was written for this page; else the heading that says most of the
 * same words; else the social title or the `title` element. Names of the site are left out where a title has parts.
 */
export function pageTitle(stated: readonly Statement[], page: TitlePage): Decision<string> | null {
  const headings = headingsOf(stated, page.names);
  const anchors = new Set(headings.map(({ letters }) => letters));
  const titles: Title[] = [];
  for (const { source, value: written } of stated) {
    if (source === 'h1') continue;
    const same =
      headings.find(({ value }) => isHeadOf(value, written)) ?? titles.find((each) => each.written === written);
    if (same !== undefined) {
      titles.push({ source, written, value: same.value, letters: same.letters });
      continue;
    }
    const value = withoutNames(written, page.names, anchors);
    const letters = lettersOf(value);
    if (letters !== '' && !page.names.has(value)) titles.push({ source, written, value, letters });
  }
  titles.sort((a, b) => rankOf(a.source) - rankOf(b.source));
  const chosen = chosenTitle(headings, titles, page) ?? stated[0] ?? null;
  if (chosen === null) return null;
  return { value: chosen.value, source: sourcesOf(chosen, [...headings, ...titles]) };
}

interface Title extends Statement {
  readonly letters: string;
  readonly written: string;
}

/** Whether a title is this text, or this text and parts behind it. */
function isHeadOf(text: string, title: string): boolean {
  if (!title.startsWith(text)) return false;
  if (title.length === text.length) return true;
  DIVIDER_AT.lastIndex = text.length;
  return DIVIDER_AT.test(title);
}

/** The order in which titles are preferred where no heading decides. */
const ORDER = ['og:title', 'title', 'json-ld headline', 'twitter:title', 'json-ld name'];
const rankOf = (source: string): number => {
  const rank = ORDER.indexOf(source);
  return rank < 0 ? ORDER.length : rank;
};

function headingsOf(stated: readonly Statement[], names: SiteNames): Title[] {
  const found = new Map<string, Title>();
  for (const { source, value: written } of stated) {
    if (source !== 'h1' || found.size >= MAX_HEADINGS) continue;
    const value = written.replace(HEADING_LINK, '');
    const letters = lettersOf(value);
    if (letters !== '' && !found.has(letters) && !names.has(value))
      found.set(letters, { source, written, value, letters });
  }
  return [...found.values()];
}

function chosenTitle(headings: readonly Title[], titles: readonly Title[], page: TitlePage): Statement | null {
  for (const heading of headings) {
    const same = titles.find(({ letters }) => letters === heading.letters);
    // Capitals alone are a matter of style.
    if (same !== undefined) return isAllCapitals(heading.value) ? { ...heading, value: same.value } : heading;
  }
  const own = titles.find((each) => each.source === 'og:title' && isBeginning(each.written, titles));
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

/** Words of the longest part of the path. */
function wordsOfAddress(url: string): string[] {
  const path = /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(url)?.[1] ?? '';
  const longest = path.split('/').reduce((most, part) => (part.length > most.length ? part : most), '');
  let text = longest;
  try {
    text = decodeURIComponent(longest);
  } catch {
    // Encoded otherwise than in UTF-8.
  }
  return wordsOf(text.replace(/\d{4,}|\.html?$/g, ' '));
}

/** A title without the names of the site beside it, or that run of its parts which a heading has. */
function withoutNames(title: string, names: SiteNames, headings: ReadonlySet<string>): string {
  if (!MAY_DIVIDE.test(title)) return title;
  const parts = title.split(DIVIDER);
  if (parts.length < 3 || parts.length > 2 * MAX_PARTS) return title;
  for (let from = 0; from < parts.length; from += 2) {
    for (let to = parts.length; to > from; to -= 2) {
      const run = parts.slice(from, to).join('').trim();
      if (headings.has(lettersOf(run))) return run;
    }
  }
  let from = 0;
  let to = parts.length;
  while (to - from >= 3) {
    if (names.has(parts[to - 1]!) || isNameBehind(parts, to)) to -= 2;
    else if (names.has(parts[from]!)) from += 2;
    else break;
  }
  return parts.slice(from, to).join('').trim() || title;
}

/**
 * Whether the part before `to` stands behind a divider that sites write before their name. Chinese titles have several
 * such parts, channels too, and no spaces.
 */
function isNameBehind(parts: readonly string[], to: number): boolean {
  const divider = parts[to - 2]!;
  const last = parts[to - 1]!;
  const rest = parts.slice(0, to - 2).join('');
  if (TIGHT.test(divider)) return last.length <= NAME_CHARS && rest.length > last.length;
  return to === parts.length && BAR.test(divider) && wordsOf(last).length <= NAME_WORDS && wordsOf(rest).length >= 2;
}

/** The source of a text, and those that say the same. */
function sourcesOf(chosen: Statement, all: readonly Title[]): string {
  const letters = lettersOf(chosen.value);
  const agreeing = all.filter((each) => each.letters === letters).map(({ source }) => source);
  return [...new Set([chosen.source, ...agreeing])].join(', ');
}

import { wordsOfAddress } from './address-words.ts';
import type { SiteNames } from './site-names.ts';
import { lettersOf, wordLikeness, wordsOf } from './title-words.ts';

/** Between the title of a page and the name of its site. Tight dashes and underscores divide beside wide letters. */
const DIVIDER =
  /(\s(?:[|\-\u2013\u2014\u00b7\u2022\u00bb\u00ab\u203a:~<>_]+|\/\/?)\s|\s?[|\uff5c\u3163]\s?|(?<=[\u2e80-\uffef])[-\u2013\u2014_]|_(?=[\u2e80-\uffef]))/;
const MAY_DIVIDE = /[|\-\u2013\u2014\u00b7\u2022\u00bb\u00ab\u203a:~<>/\uff5c\u3163_]/;
const DIVIDER_AT = new RegExp(DIVIDER, 'y');
/** Parts of a title that are told apart; a title of more is left as it is. */
const MAX_PARTS = 8;
/** A name behind a divider that stands before names alone has at most so many words. */
const NAME_WORDS = 4;
const NAME_CHARS = 12;
const BAR = /[|\uff5c\u3163]|::/;
const TIGHT = /^[-\u2013\u2014_]$/;
/** Most words of a section between a title and the name of the site, and least of what is left. */
const SECTION_WORDS = 3;
const TITLE_WORDS = 3;
/** How much more like the address a part must be than the one that a heading repeats. */
const ADDRESS_LEAD = 0.1;

export interface TitlePage {
  readonly url: string;
  readonly names: SiteNames;
  /** Whether it is the first page of its site. */
  readonly isHome: boolean;
  readonly isArticle: boolean;
}

/** Whether a title is this text, or this text and parts behind it. */
export function isHeadOf(text: string, title: string): boolean {
  if (!title.startsWith(text)) return false;
  if (title.length === text.length) return true;
  DIVIDER_AT.lastIndex = text.length;
  return DIVIDER_AT.test(title);
}

/** The parts of a title and what divides them, in turn; `null`: it has one part, or too many. */
function partsOf(title: string): string[] | null {
  if (!MAY_DIVIDE.test(title)) return null;
  const parts = title.split(DIVIDER);
  return parts.length < 3 || parts.length > 2 * MAX_PARTS ? null : parts;
}

const joined = (parts: readonly string[], from: number, to: number): string => parts.slice(from, to).join('').trim();

/** A heading without names of the site behind it. */
export function withoutNamesBehind(heading: string, names: SiteNames): string {
  const parts = partsOf(heading);
  if (parts === null) return heading;
  let to = parts.length;
  while (to >= 3 && names.has(parts[to - 1]!)) to -= 2;
  return joined(parts, 0, to) || heading;
}

/**
 * A title without the names of the site beside it and the sections between, or that run of its parts which a heading
 * repeats. A heading at its end may be the name of a book or a section: the part before is taken where the address has
 * more of its words.
 * @param headings letters of the headings
 */
export function withoutNames(title: string, headings: ReadonlySet<string>, page: TitlePage): string {
  const parts = partsOf(title);
  if (parts === null) return title;
  for (let from = 0; headings.size > 0 && from < parts.length; from += 2) {
    for (let to = parts.length; to > from; to -= 2) {
      const run = joined(parts, from, to);
      if (!headings.has(lettersOf(run))) continue;
      const before = from === 0 ? '' : joined(parts, 0, from - 1);
      return from > 0 && !page.names.has(before) && isNearer(before, run, page) ? before : run;
    }
  }
  return withoutEnds(parts, page) || title;
}

function isNearer(one: string, other: string, { url }: TitlePage): boolean {
  const address = wordsOfAddress(url);
  return wordLikeness(wordsOf(one), address) > wordLikeness(wordsOf(other), address) + ADDRESS_LEAD;
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

/** Whether the part before `to` is divided from the title as the name of the site behind it is from this part. */
const isSectionBehind = (parts: readonly string[], from: number, to: number): boolean =>
  parts[to - 2]!.trim() === parts[to]!.trim() &&
  wordsOf(parts[to - 1]!).length <= SECTION_WORDS &&
  wordsOf(joined(parts, from, to - 2)).length >= TITLE_WORDS;

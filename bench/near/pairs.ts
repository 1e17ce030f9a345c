import { seeded } from '../harness/seeded.ts';
import { oneOf } from '../harness/words.ts';
import * as edits from './edits.ts';
import { type Article, articleOf, hanLanguage, type Language, latinLanguage } from './prose.ts';
import { type Chrome, chromeOf, pageOf, type Site, siteOf, TEMPLATES } from './site.ts';

/** Two pages with their labels. */
export interface PagePair {
  readonly kind: string;
  /** Both whole pages, HTML. */
  readonly before: string;
  readonly after: string;
  /** Share of the article's 3-word shingles that only one page has, 0..1; 1 for two articles. */
  readonly changed: number;
  /** Words that came, went or were replaced, by those of the page; 0 without an edit. */
  readonly wordsEdited: number;
}

interface Version {
  readonly site: Site;
  readonly article: Article;
  readonly chrome: Chrome;
}

export const OTHER_SAME_TEMPLATE = 'other article, same template';
/** Kinds of pairs that are two visits to an unedited page. */
export const FRESH_KINDS: readonly string[] = [
  'other adverts',
  'other dates and counts',
  'other navigation',
  'adverts, dates, navigation',
];
/** The article as another site prints it: its own title and teaser, other surroundings, often cut at the end. */
export const SYNDICATED = 'syndicated';
const ELSEWHERE: readonly string[] = ['another template', SYNDICATED, 'other article, other template'];
/** Whether the second page of a pair of this kind is on another site. */
export const isElsewhere = (kind: string): boolean => ELSEWHERE.includes(kind);
const FELLOWS = 6;
const STRANGERS = 2;
/** One page in so many is Chinese. */
const CHINESE = 5;

/** `articles` pages, each with a pair of every kind; equal seeds give equal pairs. */
export function pagePairs(articles: number, seed: number): PagePair[] {
  const random = seeded(seed);
  const languages = [latinLanguage(random), hanLanguage(random)];
  const sites = languages.map((language) => TEMPLATES.map((_, i) => siteOf(language, i, random)));
  const pairs: PagePair[] = [];
  for (let i = 0; i < articles; i++) {
    const which = i % CHINESE === CHINESE - 1 ? 1 : 0;
    const language = languages[which] as Language;
    const own = sites[which] as Site[];
    const site = own[i % own.length] as Site;
    const pageSeed = Math.floor(random() * 2 ** 31);
    const article = articleOf(language, random);
    const version: Version = { site, article, chrome: chromeOf(site, seeded(pageSeed)) };
    const before = htmlOf(version);
    const add = (kind: string, after: Version, changed: number, wordsEdited: number): void => {
      pairs.push({ kind, before, after: htmlOf(after), changed, wordsEdited });
    };
    const visited = (kind: string, fresh: Parameters<typeof chromeOf>[2]): void =>
      add(kind, { ...version, chrome: chromeOf(site, seeded(pageSeed), fresh) }, 0, 0);
    visited('other adverts', { ads: random });
    visited('other dates and counts', { dates: random });
    visited('other navigation', { navigation: random });
    visited('adverts, dates, navigation', { ads: random, dates: random, navigation: random });
    const elsewhere = oneOf(
      random,
      own.filter((each) => each !== site),
    );
    add('another template', { site: elsewhere, article, chrome: chromeOf(elsewhere, random) }, 0, 0);
    const edited = (kind: string, edit: edits.Edit, words?: number): void => {
      const after = edit(article, random);
      add(
        kind,
        { ...version, article: after },
        edits.changedShare(article, after),
        words ?? edits.wordsEdited(article, after),
      );
    };
    const copy = edits.syndicated(article, random);
    add(
      SYNDICATED,
      { site: elsewhere, article: copy, chrome: chromeOf(elsewhere, random) },
      edits.changedShare(article, copy),
      0,
    );
    edited('paragraphs in another order', edits.reordered);
    edited('one word', edits.oneWord);
    edited('a sentence', edits.oneSentence);
    edited('a paragraph', edits.oneParagraph);
    for (const share of [0.02, 0.05, 0.1, 0.2, 0.3, 0.5]) {
      edited(`${share * 100} % of the words`, edits.rewritten(share), share);
    }
    edited('truncated to half', edits.truncated(0.5));
    const other = (kind: string, on: Site): void =>
      add(kind, { site: on, article: articleOf(language, random), chrome: chromeOf(on, random) }, 1, 0);
    for (let k = 0; k < FELLOWS; k++) other(OTHER_SAME_TEMPLATE, site);
    for (let k = 0; k < STRANGERS; k++) other('other article, other template', elsewhere);
  }
  return pairs;
}

const htmlOf = ({ site, article, chrome }: Version): string => pageOf(site, article, chrome);

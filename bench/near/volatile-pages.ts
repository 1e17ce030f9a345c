/** Visits to pages with a part among like paragraphs that differs at each visit, and to articles that change. */
import { seeded } from '../harness/seeded.ts';
import { intOf, oneOf, type Random } from '../harness/words.ts';
import { oneParagraph, oneSentence, oneWord, reordered, rewritten } from './edits.ts';
import { type Article, articleOf, authorOf, latinLanguage, type Sentence } from './prose.ts';
import { chromeOf, pageOf, siteOf } from './site.ts';

/** One visit: the page, and whether its article differs from that of the visit before. */
export interface Version {
  readonly html: string;
  readonly isEdited: boolean;
}

export interface PageCourse {
  /** What stands among the paragraphs, or how the article changes. */
  readonly kind: string;
  readonly versions: readonly Version[];
}

type Paragraph = readonly Sentence[];
/** What a part shows at a visit; `null`: nothing. */
type Part = (random: Random) => Paragraph | null;
/** The article at the next visit. */
type Course = (article: Article, visit: number, random: Random) => Article;

/** Templates whose paragraphs are elements of one kind in one container. */
const TEMPLATES_WITH_SIBLINGS = [0, 1, 2, 4, 5, 6, 7];
const VISITS = 10;

const COUNTERS = [
  '# people are reading this article right now',
  'This page has been read by # readers since this morning',
  'At this moment # readers have left their opinion on the matter',
  'Tickets for the evening start at # dollars as of this hour',
];

const counter = (random: Random): Part => {
  const words = oneOf(random, COUNTERS).split(' ');
  return (fresh) => [words.map((word) => (word === '#' ? intOf(fresh, 20, 30_000).toLocaleString('en') : word))];
};
const quote = (random: Random, article: Article): Part => {
  const author = authorOf(article.language, random);
  return (fresh) => Array.from({ length: intOf(fresh, 1, 2) }, () => author.sentence());
};
const teaser = (random: Random, article: Article): Part => {
  const author = authorOf(article.language, random);
  return (fresh) => {
    const [first = '', ...rest] = author.sentence().slice(0, 12);
    return [
      ['read', 'also:', `<a href="/${intOf(fresh, 1, 99_999)}">${first}`, ...rest.slice(0, -1), `${rest.at(-1)}</a>`],
    ];
  };
};
const sometimes =
  (part: Part, share: number): Part =>
  (random) =>
    random() < share ? part(random) : null;

const PARTS: Readonly<Record<string, (random: Random, article: Article) => readonly Part[]>> = {
  'a counter': (random) => [counter(random)],
  'a quotation': (random, article) => [quote(random, article)],
  'a related teaser': (random, article) => [teaser(random, article)],
  'a counter and a quotation': (random, article) => [counter(random), quote(random, article)],
  'a quotation at seven visits of ten': (random, article) => [sometimes(quote(random, article), 0.7)],
};

const withParagraph = (article: Article, at: number, paragraph: Paragraph): Article => ({
  ...article,
  paragraphs: article.paragraphs.toSpliced(at, 0, paragraph),
});
const fresh = (article: Article, random: Random): Paragraph => authorOf(article.language, random).paragraph();
const stay: Course = (article) => article;
const atLast =
  (edit: (article: Article, random: Random) => Article): Course =>
  (article, visit, random) =>
    visit === VISITS - 1 ? edit(article, random) : article;
const growsAt = (place: (count: number, random: Random) => number): Course => {
  return (article, _, random) =>
    withParagraph(article, place(article.paragraphs.length, random), fresh(article, random));
};

/** How an article changes at each visit. */
const COURSES: Readonly<Record<string, Course>> = {
  'grows at the end': growsAt((count) => count),
  'grows in the middle': growsAt((count, random) => intOf(random, 1, count - 1)),
  'grows at the top': growsAt(() => 0),
  'grows at the top, the oldest go': (article, _, random) => ({
    ...article,
    paragraphs: [fresh(article, random), ...article.paragraphs.slice(0, -1)],
  }),
  'its last paragraph grows': (article, _, random) => ({
    ...article,
    paragraphs: article.paragraphs.with(-1, [
      ...(article.paragraphs.at(-1) ?? []),
      authorOf(article.language, random).sentence(),
    ]),
  }),
  'is corrected by a word': oneWordOf,
  'has a sentence changed': (article, _, random) => oneSentence(article, random),
  'has a paragraph changed': (article, _, random) => oneParagraph(article, random),
  'is reordered': (article, _, random) => reordered(article, random),
};

function oneWordOf(article: Article, _: number, random: Random): Article {
  return oneWord(article, random);
}

/** What happens once, at the last visit, beside a part that differs at each. */
const EDITS: Readonly<Record<string, Course>> = {
  'corrected by a word': atLast(oneWord),
  'a sentence': atLast(oneSentence),
  'a paragraph': atLast(oneParagraph),
  'a twentieth rewritten': atLast(rewritten(0.05)),
  reordered: atLast(reordered),
  'longer at the end': atLast((article, random) => growsAt((count) => count)(article, 0, random)),
};

/** Pages whose article stays, with parts at places of their own that differ at each visit. */
export function restlessPages(count: number, seed: number): PageCourse[] {
  return Object.entries(PARTS).flatMap(([kind, parts]) => coursesOf(kind, count, seed, parts, stay));
}

/** Pages whose article changes at each visit, with and without a counter. */
export function changingPages(count: number, seed: number): PageCourse[] {
  return Object.entries(COURSES).flatMap(([kind, course]) => [
    ...coursesOf(kind, count, seed, () => [], course),
    ...coursesOf(`${kind}, beside a counter`, count, seed, (random) => [counter(random)], course),
  ]);
}

/** Pages whose article changes once, at the last visit, when the part that differs at each was learnt. */
export function editedPages(count: number, seed: number): PageCourse[] {
  return Object.entries(EDITS).flatMap(([kind, course]) => [
    ...coursesOf(`${kind}, beside a counter`, count, seed, (random) => [counter(random)], course),
    ...coursesOf(`${kind}, beside a quotation`, count, seed, (random, article) => [quote(random, article)], course),
  ]);
}

function coursesOf(
  kind: string,
  count: number,
  seed: number,
  partsOf: (random: Random, article: Article) => readonly Part[],
  course: Course,
): PageCourse[] {
  const random = seeded(seed);
  const language = latinLanguage(random);
  return Array.from({ length: count }, (_, i) => {
    const site = siteOf(language, TEMPLATES_WITH_SIBLINGS[i % TEMPLATES_WITH_SIBLINGS.length] as number, random);
    const chrome = chromeOf(site, random);
    let article = articleOf(language, random);
    const parts = partsOf(random, article).map((show) => ({ show, at: intOf(random, 0, article.paragraphs.length) }));
    const versions: Version[] = [];
    for (let visit = 0; visit < VISITS; visit++) {
      const next = visit === 0 ? article : course(article, visit, random);
      versions.push({ html: pageOf(site, withParts(next, parts, random), chrome), isEdited: next !== article });
      article = next;
    }
    return { kind, versions };
  });
}

/** Each part behind so many paragraphs, as templates place it, whatever the article becomes. */
function withParts(
  article: Article,
  parts: readonly { readonly show: Part; readonly at: number }[],
  random: Random,
): Article {
  return parts.reduce((shown, { show, at }) => {
    const paragraph = show(random);
    return paragraph === null ? shown : withParagraph(shown, at, paragraph);
  }, article);
}

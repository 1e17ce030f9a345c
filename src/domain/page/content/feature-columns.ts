import { TagTable } from '../tape/tag-names.ts';
import { ACTION, CREDIT, IMPRINT, PRICE, TAIL } from '../text/text-hints.ts';
import {
  ADVERT,
  BODY,
  BYLINE,
  CARD,
  COMMENT,
  FOLDED,
  FOOT,
  FORM,
  HEAD,
  NAVIGATION,
  NOTES,
  OVERLAY,
  POST,
  PRODUCT,
  PROFILE,
  RELATED,
  REVIEW,
  SHARE,
  SIDE,
  UNSEEN,
} from './class-words.ts';
import { ARTICLE, ASIDE, CONTENT, HEADER, HIDDEN, LIST, NOSCRIPT, SURROUND, TABLE } from './element-signs.ts';

const CLASS_WORDS = [
  [NAVIGATION, 'navigation'],
  [FOOT, 'foot'],
  [SIDE, 'side'],
  [SHARE, 'share'],
  [RELATED, 'related'],
  [ADVERT, 'advert'],
  [OVERLAY, 'overlay'],
  [COMMENT, 'comment'],
  [BYLINE, 'byline'],
  [FORM, 'form'],
  [HEAD, 'head'],
  [UNSEEN, 'unseen'],
  [BODY, 'body'],
  [PRODUCT, 'product'],
  [POST, 'post'],
  [CARD, 'card'],
  [REVIEW, 'review'],
  [PROFILE, 'profile'],
  [NOTES, 'notes'],
  [FOLDED, 'folded'],
] as const;
const AROUND = [
  ...CLASS_WORDS,
  [HIDDEN, 'hidden'],
  [NOSCRIPT, 'noscript'],
  [SURROUND, 'surround'],
  [CONTENT, 'content'],
  [ARTICLE, 'article'],
  [ASIDE, 'aside'],
  [TABLE, 'table'],
  [LIST, 'list'],
  [HEADER, 'header'],
] as const;
const HINTS = [
  [TAIL, 'tail'],
  [ACTION, 'action'],
  [IMPRINT, 'imprint'],
  [CREDIT, 'credit'],
  [PRICE, 'price'],
] as const;
export const TAGS = [
  ['p'],
  ['li'],
  ['td', 'th'],
  ['div', 'section'],
  ['dd', 'dt'],
  ['pre'],
  ['blockquote'],
  ['figcaption'],
];

/** Names of the columns of {@link blockFeatures}, in order. Widths and counts are log2(1 + n). */
export const FEATURES: readonly string[] = [
  ...'width density links heading marks endsSentence digits lines'.split(' '),
  ...TAGS.map(([name]) => `is:${name}`),
  'inItems',
  'inQuotes',
  ...[-1, 1].flatMap((by) => [`width${by}`, `density${by}`, `heading${by}`, `width${2 * by}`, `density${2 * by}`]),
  ...'nearWidth nearDensity at widthBefore sinceH1 sideOfH1 sinceHeading tail'.split(' '),
  ...'parentShare parentDensity parentBlocks grandShare grandDensity partShare partDensity partDepth depth'.split(' '),
  ...'alike alikeWidth alikeDensity inContainer containerShare containerDeclared outside'.split(' '),
  ...'plain blocks pageDensity longBlocks paragraphs isArticle isProduct isForum isList'.split(' '),
  ...AROUND.map(([, name]) => `in:${name}`),
  ...CLASS_WORDS.map(([, name]) => `at:${name}`),
  ...HINTS.map(([, name]) => `says:${name}`),
  ...'copies sinceTail sinceLong untilLong longBefore longAfter section sectionShare groupShare groupPlain groupDensity groupAt cardBlocks trunk'.split(
    ' ',
  ),
  ...'widest coreUp coreDown coreScore coreShare proseAlike titled sinceTitle fromCore copiesBefore'.split(' '),
];

/** Among the columns of {@link TAGS}; -1: none. */
export const COLUMN_OF_TAG = new TagTable(
  TAGS.flatMap((names, column) => names.map((name) => [name, column] as const)),
  -1,
);
export const AROUND_COLUMNS = columnsOf(AROUND);
export const HINT_COLUMNS = columnsOf(HINTS);
export const CLOSE_COLUMNS = columnsOf(CLASS_WORDS);

/** Where the signs of some kind are written. */
export interface SignColumns {
  /** Of each bit its column among these; -1: none. */
  readonly byBit: Int8Array;
  readonly count: number;
}

function columnsOf(signs: readonly (readonly [number, string])[]): SignColumns {
  const byBit = new Int8Array(32).fill(-1);
  for (const [column, [sign]] of signs.entries()) byBit[31 - Math.clz32(sign)] = column;
  return { byBit, count: signs.length };
}

// page/content/: main content, found by decision trees over blocks of text.

import { hashOfRange } from '../tape/interned-texts.ts';
import { TagTable } from '../tape/name-table.ts';
import { ACTION, CREDIT, IMPRINT, IMPRINT_WIDTH, mayHint, PRICE, TAIL, textHints } from '../text/text-hints.ts';
import { lengthFromLead } from '../text/utf8.ts';
import {
  ADVERT,
  ARTICLE,
  ASIDE,
  BODY,
  BYLINE,
  CARD,
  COMMENT,
  CONTENT,
  FOLDED,
  FOOT,
  FORM,
  HEAD,
  HEADER,
  HIDDEN,
  LIST,
  NAVIGATION,
  NOSCRIPT,
  NOTES,
  OVERLAY,
  POST,
  PRODUCT,
  PROFILE,
  RELATED,
  REVIEW,
  SHARE,
  SIDE,
  SURROUND,
  TABLE,
  UNSEEN,
} from './element-signs.ts';
import type { Outline } from './outline.ts';
import type { PageShape } from './page-shape.ts';

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

/** The columns for the signs of one kind. */
export interface SignColumns {
  /** The column among these for each bit; -1: none. */
  readonly byBit: Int8Array;
  readonly count: number;
}

function columnsOf(signs: readonly (readonly [number, string])[]): SignColumns {
  const byBit = new Int8Array(32).fill(-1);
  for (const [column, [sign]] of signs.entries()) byBit[31 - Math.clz32(sign)] = column;
  return { byBit, count: signs.length };
}

/** Context of a block beyond its neighbours, for the features; valid until the next page, which reuses its arrays. */
export interface BlockContext {
  /** See text-hints.ts. */
  readonly hints: Uint8Array;
  /** Blocks of the page with the same text (compared by its beginning), itself included. */
  readonly copies: Float64Array;
  /** The copies that come before it. */
  readonly copiesBefore: Int32Array;
  /** The first of the copies. */
  readonly firstAlike: Int32Array;
  /**
   * Number of blocks since the last label that announces a tail, and to the nearest long text before and after;
   * bounded.
   */
  readonly sinceTail: Float64Array;
  readonly sinceLong: Float64Array;
  readonly untilLong: Float64Array;
  /** Share of the page's long texts before it, and after it. */
  readonly longBefore: Float64Array;
  readonly longAfter: Float64Array;
  /** Width of the text outside links from its heading to the next. */
  readonly section: Float64Array;
}

const FAR = 30;
const LONG = 120;

/** Texts with an equal beginning of this length count as equal. */
const BEGIN = 80;

const FIRST_BLOCKS = 1 << 8;
/** Longer columns are not kept for the next page. */
const KEPT_BLOCKS = 1 << 12;

/** Columns by block, with intermediate results. */
interface ContextColumns extends BlockContext {
  readonly isLong: Uint8Array;
  /** For the first block with a beginning, how many blocks have that beginning. */
  readonly counts: Int32Array;
  readonly ends: Int32Array;
  readonly hashes: Int32Array;
}

function columnsFor(blocks: number): ContextColumns {
  const floats = (): Float64Array => new Float64Array(blocks);
  const numbers = (): Int32Array => new Int32Array(blocks);
  return {
    hints: new Uint8Array(blocks),
    copies: floats(),
    sinceTail: floats(),
    sinceLong: floats(),
    untilLong: floats(),
    longBefore: floats(),
    longAfter: floats(),
    section: floats(),
    isLong: new Uint8Array(blocks),
    copiesBefore: numbers(),
    firstAlike: numbers(),
    counts: numbers(),
    ends: numbers(),
    hashes: numbers(),
  };
}

/** Reads contexts; reusable for any number of pages. */
export class ContextReader {
  private slots = new Int32Array(0);
  private columns = columnsFor(FIRST_BLOCKS);

  read(outline: Outline, { isShown }: PageShape): BlockContext {
    const { blockCount: count, blocks } = outline;
    const kept = this.columns.hints.length;
    if (kept < count) this.columns = columnsFor(2 * count);
    else if (kept > KEPT_BLOCKS && count <= KEPT_BLOCKS) this.columns = columnsFor(KEPT_BLOCKS);
    this.countCopies(outline);
    const { hints, sinceTail, sinceLong, untilLong, longBefore, longAfter, section, isLong } = this.columns;
    let lastTail = -FAR;
    let lastLong = -FAR;
    let long = 0;
    let sectionStart = 0;
    let sectionWidth = 0;
    for (let i = 0; i < count; i++) {
      const width = blocks.width[i]!;
      hints[i] = hintsOf(outline, i);
      if ((hints[i]! & TAIL) !== 0) lastTail = i;
      sinceTail[i] = Math.min(FAR, i - lastTail);
      sinceLong[i] = Math.min(FAR, i - lastLong);
      longBefore[i] = long;
      isLong[i] = Number(width > LONG && blocks.linkChars[i]! < 0.3 * blocks.chars[i]! && isShown[i] === 1);
      if (isLong[i] === 1) {
        lastLong = i;
        long += width;
      }
      if (blocks.heading[i]! > 0 && (i === 0 || blocks.heading[i - 1] === 0)) {
        section.fill(sectionWidth, sectionStart, i);
        sectionStart = i;
        sectionWidth = 0;
      }
      sectionWidth += width * (1 - blocks.linkChars[i]! / blocks.chars[i]!);
    }
    section.fill(sectionWidth, sectionStart, count);
    lastLong = count + FAR;
    for (let i = count - 1; i >= 0; i--) {
      untilLong[i] = Math.min(FAR, lastLong - i);
      if (isLong[i] === 1) lastLong = i;
      longAfter[i] = Math.max(0, long - longBefore[i]! - (isLong[i] === 1 ? blocks.width[i]! : 0)) / (long + 1);
      longBefore[i]! /= long + 1;
    }
    return this.columns;
  }

  private countCopies(outline: Outline): void {
    const { blockCount, blocks, bytes } = outline;
    const size = 2 ** Math.ceil(Math.log2(2 * blockCount + 2));
    if (this.slots.length < size || this.slots.length > 4 * Math.max(size, KEPT_BLOCKS))
      this.slots = new Int32Array(size);
    else this.slots.fill(0, 0, size);
    const { copies, copiesBefore, firstAlike, counts, ends, hashes } = this.columns;
    const beginnings: Beginnings = { ends, hashes, slots: this.slots, mask: size - 1 };
    counts.fill(0, 0, blockCount);
    for (let i = 0; i < blockCount; i++) {
      const from = blocks.from[i]!;
      const to = blocks.to[i]!;
      beginnings.ends[i] = blocks.chars[i]! > BEGIN ? endOfBeginning(bytes, from, to) : to;
      firstAlike[i] = firstWith(outline, beginnings, i);
      copiesBefore[i] = counts[firstAlike[i]!]!++;
    }
    for (let i = 0; i < blockCount; i++) copies[i] = counts[firstAlike[i]!]!;
  }
}

/** The beginnings of the blocks: their ends, hashes, and a table of the blocks by hash (open addressing). */
interface Beginnings {
  readonly ends: Int32Array;
  readonly hashes: Int32Array;
  /** Position of a block plus one, 0 for an empty slot. */
  readonly slots: Int32Array;
  readonly mask: number;
}

/** Longest search: the texts of a page may be crafted so that all have the same hash. */
const MOST_PROBES = 64;

/** The first block with the same beginning; the block itself if it is the first or the search takes too long. */
function firstWith({ blocks, bytes }: Outline, { ends, hashes, slots, mask }: Beginnings, block: number): number {
  const from = blocks.from[block]!;
  const to = ends[block]!;
  const hash = hashOfRange(bytes, from, to);
  hashes[block] = hash;
  let slot = hash & mask;
  for (let probe = 0; probe < MOST_PROBES; probe++) {
    const found = slots[slot]! - 1;
    if (found < 0) {
      slots[slot] = block + 1;
      return block;
    }
    const start = blocks.from[found]!;
    if (hashes[found] === hash && ends[found]! - start === to - from) {
      let at = 0;
      while (at < to - from && bytes[start + at] === bytes[from + at]) at++;
      if (at === to - from) return found;
    }
    slot = (slot + 1) & mask;
  }
  return block;
}

/** The end of the first {@link BEGIN} UTF-16 units of a longer text. */
function endOfBeginning(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  let units = 0;
  while (units < BEGIN && at < to) {
    const length = lengthFromLead(bytes[at]!);
    units += length === 4 ? 2 : 1;
    at += length;
  }
  return at;
}

/** Imprints wider than this stand in the last part of a page. */
const SHORT_IMPRINT = 400;
const IMPRINTS_FROM = 0.7;

/** Most blocks cannot have hints, as their length and first bytes show. */
function hintsOf(outline: Outline, block: number): number {
  const { blocks, bytes } = outline;
  const width = blocks.width[block]!;
  const digits = blocks.digits[block]!;
  if (width > (block < IMPRINTS_FROM * outline.blockCount ? SHORT_IMPRINT : IMPRINT_WIDTH)) return 0;
  const from = blocks.from[block]!;
  const isWide = blocks.isWide[block] === 1;
  if (!isWide && !mayHint(bytes[from]!, bytes[from + 1]!, width, digits)) return 0;
  return textHints(outline.textOf(block), { width, digits });
}

/** Whether each element or an ancestor hides its content. */
export function hiddenElements({ elementCount, elements }: Outline): Uint8Array {
  const isHidden = new Uint8Array(elementCount);
  for (let at = 0; at < elementCount; at++) {
    const parent = elements.parent[at]!;
    const hides = (elements.signs[at]! & (HIDDEN | NOSCRIPT)) !== 0;
    isHidden[at] = Number(hides || (parent >= 0 && isHidden[parent] === 1));
  }
  return isHidden;
}

/** The `noscript` element around each element, -1 for none; `null`: the page has no such element. */
export function noscriptElements({ elements, elementCount }: Outline): Int32Array | null {
  const { signs, parent } = elements;
  let first = 0;
  while (first < elementCount && (signs[first]! & NOSCRIPT) === 0) first++;
  if (first === elementCount) return null;
  const around = new Int32Array(elementCount).fill(-1);
  for (let at = first; at < elementCount; at++) {
    const outer = parent[at]! < 0 ? -1 : around[parent[at]!]!;
    around[at] = outer < 0 && (signs[at]! & NOSCRIPT) !== 0 ? at : outer;
  }
  return around;
}

const elementOf = ({ blocks }: Outline, around: Int32Array, block: number): number =>
  blocks.holder[block]! < 0 ? -1 : around[blocks.holder[block]!]!;

/** Whether more than half of the chosen text stands in `noscript` elements. */
export function isMostlyIn(outline: Outline, around: Int32Array, isChosen: Uint8Array): boolean {
  let inside = 0;
  let all = 0;
  for (let i = 0; i < outline.blockCount; i++) {
    if (isChosen[i] === 0) continue;
    all += outline.blocks.chars[i]!;
    if (elementOf(outline, around, i) >= 0) inside += outline.blocks.chars[i]!;
  }
  return 2 * inside > all;
}

const NOTICE = /java\s?script|\bcookies?\b/i;

/**
 * Drops notices beside the content that are meant for readers without scripts: that scripts are needed, that there are
 * cookies. Where most of the content is in `noscript` elements, all of it stays.
 */
export function dropNotices(outline: Outline, isMain: Uint8Array): void {
  const around = noscriptElements(outline);
  if (around === null) return;
  const notices = new Set<number>();
  for (let i = 0; i < outline.blockCount; i++) {
    const element = isMain[i] === 0 ? -1 : elementOf(outline, around, i);
    if (element >= 0 && NOTICE.test(outline.textOf(i))) notices.add(element);
  }
  if (notices.size === 0 || isMostlyIn(outline, around, isMain)) return;
  for (let i = 0; i < outline.blockCount; i++) if (notices.has(elementOf(outline, around, i))) isMain[i] = 0;
}

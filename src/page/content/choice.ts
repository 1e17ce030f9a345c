import { TagTable, tagNumber } from '../tape/name-table.ts';
import type { BlockContext } from './block-context.ts';
import { CONTENT } from './element-signs.ts';
import type { Outline } from './outline.ts';
import type { PageShape } from './page-shape.ts';

/** Prose is certain above this probability. */
const SURE = 0.8;
const LONG = 120;
const MOST_LINKED = 0.3;
/** Certain prose of this width makes a page one of prose. */
const MUCH_PROSE = 500;
/** Exponents for the probabilities on a page of prose: for an article, and for any other page. */
const POWER_OF_ARTICLES = 2.2;
const POWER_OF_OTHERS = 1.3;
/** For a page of a manual: a declared one, and an evident one. */
const POWER_OF_MANUALS = 0.6;
const POWER_OF_EVIDENT_MANUALS = 1;
/** Narrower blocks may be repeated. */
const LEAST_COPY = 60;
const NOWHERE = -2;

/**
 * The blocks to take, most probable first, as long as the expected F1 grows: 2 x expected words found / (words taken +
 * expected words of the content).
 *
 * On a page with certain prose, probabilities are raised to a power: certainty was learnt from some sites and is too
 * high on others, and many doubtful blocks would lift each other in. Lists and the like have no such core and keep
 * doubtful blocks; so, nearly, do pages that are not articles. Nearly all of a manual is content, so its pages keep
 * more. Of several long blocks with the same text, one is taken.
 *
 * @param manual whether the page is documentation, see manualKind
 */
export function chosenBlocks(
  outline: Outline,
  page: PageShape,
  context: BlockContext,
  chances: Float64Array,
  manual: number,
): Uint8Array {
  const { width } = outline.blocks;
  const order = new Uint32Array(chances.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  order.sort((a, b) => chances[b]! - chances[a]! || a - b);
  const isRepeated = repeatedBlocks(outline, context, order);
  const power = powerOf(outline, page, chances, manual);
  const expected = new Float64Array(chances.length);
  let content = 0;
  for (let i = 0; i < chances.length; i++) {
    if (isRepeated[i] === 1) continue;
    expected[i] = width[i]! * chances[i]! ** power;
    content += expected[i]!;
  }
  let found = 0;
  let taken = 0;
  let best = 0;
  let least = 1;
  for (const i of order) {
    if (isRepeated[i] === 1) continue;
    found += expected[i]!;
    taken += width[i]!;
    const f1 = (2 * found) / (taken + content);
    if (f1 > best) {
      best = f1;
      least = chances[i]!;
    }
  }
  const isTaken = new Uint8Array(chances.length);
  for (let i = 0; i < chances.length; i++) isTaken[i] = Number(chances[i]! >= least && isRepeated[i] === 0);
  return isTaken;
}

/** The exponent for the probabilities: 1 on a page without certain prose. */
function powerOf(outline: Outline, page: PageShape, chances: Float64Array, manual: number): number {
  if (manual !== NO_MANUAL) return manual === DECLARED_MANUAL ? POWER_OF_MANUALS : POWER_OF_EVIDENT_MANUALS;
  const { blocks } = outline;
  let prose = 0;
  for (let i = 0; i < chances.length; i++) {
    const isProse = blocks.width[i]! > LONG && blocks.linkChars[i]! < MOST_LINKED * blocks.chars[i]!;
    if (isProse && chances[i]! > SURE) prose += blocks.width[i]!;
  }
  const power = isArticle(outline, page) ? POWER_OF_ARTICLES : POWER_OF_OTHERS;
  return 1 + (power - 1) * Math.min(1, prose / MUCH_PROSE);
}

/**
 * Decided by what the page declares; otherwise, by whether it marks no element as its content, as older news pages do
 * not.
 */
export function isArticle({ kinds, isOtherKind, elements }: Outline, { container }: PageShape): boolean {
  if (kinds.article) return true;
  return !isOtherKind && (container < 0 || (elements.signs[container]! & CONTENT) === 0);
}

/**
 * Blocks whose text a more probable block elsewhere repeats, as on pages with a copy for narrow screens; not refrains.
 */
function repeatedBlocks(
  { blocks, bytes, elements }: Outline,
  { firstAlike }: BlockContext,
  order: Uint32Array,
): Uint8Array {
  const isRepeated = new Uint8Array(order.length);
  const placeOf = new Int32Array(order.length).fill(NOWHERE);
  const partOf = (i: number): number => (blocks.holder[i]! < 0 ? -1 : elements.parent[blocks.holder[i]!]!);
  for (const i of order) {
    const first = firstAlike[i]!;
    if (blocks.width[i]! < LEAST_COPY || blocks.chars[i] !== blocks.chars[first]) continue;
    // Texts with an equal beginning may differ after it.
    if (bytes.compare(bytes, blocks.from[i]!, blocks.to[i]!, blocks.from[first]!, blocks.to[first]!) !== 0) continue;
    const place = partOf(i);
    if (placeOf[first] === NOWHERE) placeOf[first] = place;
    else if (placeOf[first] !== place) isRepeated[i] = 1;
  }
  return isRepeated;
}

/** What shows that a page belongs to a manual: nothing, its listings, or its generator. */
export const NO_MANUAL = 0;
export const EVIDENT_MANUAL = 1;
export const DECLARED_MANUAL = 2;

/** Listings are at least this share of the text outside links. Lists of definitions are as often menus and tickers. */
const LEAST_SHARE = 0.02;
const PRE = tagNumber('pre');

/** Whether a page is documentation. On such pages, sections that are short or full of links are content as well. */
export function manualKind(outline: Outline, page: PageShape): number {
  const { kinds, blocks, blockCount, elements, elementCount } = outline;
  if (kinds.manual) return DECLARED_MANUAL;
  if (kinds.article || kinds.forum || kinds.product) return NO_MANUAL;
  let first = 0;
  while (first < elementCount && elements.tag[first] !== PRE) first++;
  if (first === elementCount) return NO_MANUAL;
  const isListed = new Uint8Array(elementCount);
  for (let at = first; at < elementCount; at++) {
    const parent = elements.parent[at]!;
    isListed[at] = Number(elements.tag[at] === PRE || (parent >= 0 && isListed[parent] === 1));
  }
  let width = 0;
  for (let i = 0; i < blockCount; i++) {
    const holder = blocks.holder[i]!;
    if (holder >= 0 && isListed[holder] === 1 && page.isShown[i] === 1) width += plainWidth(outline, i);
  }
  return width >= LEAST_SHARE * page.plain ? EVIDENT_MANUAL : NO_MANUAL;
}

/** The blocks of each element: the first one, and the one after the last; -1: it has none. */
export interface ElementSpans {
  readonly first: Int32Array;
  readonly end: Int32Array;
}

/** The blocks that a heading introduces. */
export interface Section {
  readonly level: number;
  /** The heading: its element, its first block, and the block after its last. */
  readonly element: number;
  readonly from: number;
  readonly body: number;
  /** The block after the section. */
  readonly end: number;
}

const HEADINGS = TagTable.of(['h1', 'h2', 'h3', 'h4', 'h5', 'h6']);
const DEEPEST = 6;

export function elementSpans({ blockCount, blocks, elementCount, elements }: Outline): ElementSpans {
  const first = new Int32Array(elementCount).fill(-1);
  const end = new Int32Array(elementCount).fill(-1);
  for (let i = 0; i < blockCount; i++) {
    const holder = blocks.holder[i]!;
    if (holder < 0) continue;
    if (first[holder]! < 0) first[holder] = i;
    end[holder] = i + 1;
  }
  // Ancestors come before their descendants.
  for (let at = elementCount - 1; at >= 0; at--) {
    const parent = elements.parent[at]!;
    if (parent < 0 || first[at]! < 0) continue;
    if (first[parent]! < 0 || first[at]! < first[parent]!) first[parent] = first[at]!;
    if (end[at]! > end[parent]!) end[parent] = end[at]!;
  }
  return { first, end };
}

/**
 * The sections of a page, in the order of their headings, without hidden ones. A section ends at the next heading of
 * the same or a higher level. At the latest, it ends with the smallest element that holds the heading and something
 * after it: a heading in a sidebar does not introduce what follows the sidebar.
 */
export function sectionsOf(outline: Outline, { isShown }: PageShape, { end }: ElementSpans): Section[] {
  const { blockCount, blocks, elements } = outline;
  const sections: Section[] = [];
  /** For each level, the next heading of that level. */
  const next = new Int32Array(DEEPEST + 1).fill(blockCount);
  for (let last = blockCount - 1; last >= 0; last--) {
    const level = blocks.heading[last]!;
    if (level === 0 || isShown[last] === 0) continue;
    const element = headingAround(outline, last);
    const body = last + 1;
    let from = last;
    while (from > 0 && blocks.heading[from - 1]! > 0 && headingAround(outline, from - 1) === element) from--;
    let around = element;
    while (around >= 0 && end[around]! <= body) around = elements.parent[around]!;
    let to = around < 0 ? blockCount : end[around]!;
    for (let each = 1; each <= level; each++) to = Math.min(to, next[each]!);
    sections.push({ level, element, from, body, end: Math.max(body, to) });
    next[level] = from;
    last = from;
  }
  return sections.reverse();
}

/** The heading element that contains a block. */
function headingAround({ blocks, elements }: Outline, block: number): number {
  let at = blocks.holder[block]!;
  while (at >= 0 && !HEADINGS.has(elements.tag[at]!)) at = elements.parent[at]!;
  return at;
}

/** The deepest element with this share of the chosen text is the region of the content. */
const SHARE_OF_REGION = 0.9;

/**
 * The deepest element that holds nearly all of the chosen text; -1: the whole page.
 *
 * @param chosen width of the chosen text before each block, and of all
 */
export function contentRegion(outline: Outline, { first, end }: ElementSpans, chosen: Float64Array): number {
  const { elements, elementCount, blockCount } = outline;
  const least = SHARE_OF_REGION * chosen[blockCount]!;
  let region = -1;
  for (let at = 0; at < elementCount; at++) {
    if (first[at]! < 0 || chosen[end[at]!]! - chosen[first[at]!]! < least) continue;
    if (region < 0 || elements.depth[at]! >= elements.depth[region]!) region = at;
  }
  return region;
}

/** Width of the text of a block outside links. */
export const plainWidth = ({ blocks }: Outline, block: number): number =>
  blocks.width[block]! * (1 - blocks.linkChars[block]! / blocks.chars[block]!);

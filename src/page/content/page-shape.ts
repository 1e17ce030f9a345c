import { TagTable, tagNumber } from '../tape/name-table.ts';
import { ARTICLE, BODY_SIGNS, CONTENT, HIDDEN, NOSCRIPT, SURROUND } from './element-signs.ts';
import type { Outline } from './outline.ts';
import type { ElementColumns } from './outline-columns.ts';

/** Sums of the blocks of a page, by element. */
export interface PageShape {
  readonly isShown: Uint8Array;
  /** Width of the visible text outside links, of the page and below each element. */
  readonly plain: number;
  readonly plainOf: Float64Array;
  readonly linked: number;
  /** Part of `plain` that stands in `p` elements. */
  readonly inParagraphs: number;
  /** Long blocks with few links. */
  readonly longBlocks: number;
  /**
   * Class words and signs of each element and its ancestors, without class words of elements too large to be reliable.
   */
  readonly signsOf: Int32Array;
  /** For each element, the most repeated one among itself and its ancestors (a card, a post, an entry); -1: none. */
  readonly repeatedOf: Int32Array;
  /**
   * The container of the content: a marked one, otherwise the deepest with most of the plain text. -1: the whole page.
   */
  readonly container: number;
  /** Whether each element is the container or in it. */
  readonly isInside: Uint8Array;
  /** The first and the last block in it. */
  readonly containerFirst: number;
  readonly containerLast: number;
}

const LONG = 120;
/** A menu by name that has this share of the page's text is not a menu. */
const MOST_OF_A_SURROUND = 0.4;
const LASTING = HIDDEN | NOSCRIPT | CONTENT | ARTICLE | BODY_SIGNS;
const CONTAINER = TagTable.of('main article section div td body form center'.split(' '));
const P = tagNumber('p');
const DECLARED_SHARE = 0.35;
const CONTAINER_SHARE = 0.75;

export function pageShape({ blockCount, blocks, elementCount, elements }: Outline): PageShape {
  const inherited = new Int32Array(elementCount);
  for (let at = 0; at < elementCount; at++) {
    const parent = elements.parent[at]!;
    inherited[at] = elements.signs[at]! | (parent < 0 ? 0 : inherited[parent]!);
  }
  const plainOf = new Float64Array(elementCount);
  const isShown = new Uint8Array(blockCount);
  let plain = 0;
  let linked = 0;
  let inParagraphs = 0;
  let longBlocks = 0;
  for (let i = 0; i < blockCount; i++) {
    const width = blocks.width[i]!;
    const chars = blocks.chars[i]!;
    const linkChars = blocks.linkChars[i]!;
    const holder = blocks.holder[i]!;
    if (width > LONG && linkChars < 0.3 * chars) longBlocks++;
    if (holder >= 0 && (inherited[holder]! & (HIDDEN | NOSCRIPT)) !== 0) continue;
    isShown[i] = 1;
    const own = ((chars - linkChars) / chars) * width;
    plain += own;
    linked += width - own;
    if (holder >= 0 && elements.tag[holder] === P) inParagraphs += own;
    for (let at = holder; at >= 0; at = elements.parent[at]!) plainOf[at]! += own;
  }
  const signsOf = new Int32Array(elementCount);
  for (let at = 0; at < elementCount; at++) {
    const parent = elements.parent[at]!;
    const signs = elements.signs[at]!;
    const kept = plainOf[at]! > MOST_OF_A_SURROUND * plain ? signs & LASTING : signs;
    signsOf[at] = kept | (parent < 0 ? 0 : signsOf[parent]!);
  }
  const container = containerOf(elementCount, elements, plainOf, inherited, plain);
  const isInside = insideOf(elementCount, elements, container);
  let containerFirst = container < 0 ? 0 : -1;
  let containerLast = blockCount - 1;
  for (let i = 0; container >= 0 && i < blockCount; i++) {
    const holder = blocks.holder[i]!;
    if (holder < 0 || isInside[holder] === 0) continue;
    if (containerFirst < 0) containerFirst = i;
    containerLast = i;
  }
  const repeatedOf = repeatedOfEach(elementCount, elements);
  return {
    isShown,
    plain,
    plainOf,
    linked,
    inParagraphs,
    longBlocks,
    signsOf,
    repeatedOf,
    container,
    isInside,
    containerFirst,
    containerLast,
  };
}

/** Whether each element is the container or in it. */
function insideOf(count: number, { parent }: ElementColumns, container: number): Uint8Array {
  const isInside = new Uint8Array(count);
  for (let at = Math.max(0, container); container >= 0 && at < count; at++) {
    isInside[at] = Number(at === container || (parent[at]! >= 0 && isInside[parent[at]!] === 1));
  }
  return isInside;
}

/** Lines, rows and cells are repeated in any text, so they are not entries. */
const NO_ENTRY = TagTable.of(['p', 'tr', 'td']);
const LEAST_ALIKE = 3;

function repeatedOfEach(count: number, { parent, alike, blocks, tag }: ElementColumns): Int32Array {
  const found = new Int32Array(count);
  for (let at = 0; at < count; at++) {
    const around = parent[at]! < 0 ? -1 : found[parent[at]!]!;
    const counts = alike[at]! >= LEAST_ALIKE && !NO_ENTRY.has(tag[at]!);
    const isMore = around < 0 || alike[at]! * blocks[at]! >= alike[around]! * blocks[around]!;
    found[at] = counts && isMore ? at : around;
  }
  return found;
}

function containerOf(
  count: number,
  { tag, signs, depth }: ElementColumns,
  plainOf: Float64Array,
  inherited: Int32Array,
  plain: number,
): number {
  let best = -1;
  let bestRank = -1;
  for (let at = 0; at < count; at++) {
    if (!CONTAINER.has(tag[at]!) || (inherited[at]! & (SURROUND | HIDDEN | NOSCRIPT)) !== 0) continue;
    const isDeclared = (signs[at]! & CONTENT) !== 0;
    if (plainOf[at]! < (isDeclared ? DECLARED_SHARE : CONTAINER_SHARE) * plain) continue;
    // A declared container wins over a large one; among equals, the deepest wins.
    const rank = depth[at]! + (isDeclared ? 1_000 : 0);
    if (rank > bestRank) {
      best = at;
      bestRank = rank;
    }
  }
  return best;
}

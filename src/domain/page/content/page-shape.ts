import { type TextShape, textShape } from '../text/text-shape.ts';
import { ARTICLE, BODY_SIGNS, CONTENT, HIDDEN, NOSCRIPT, SURROUND } from './element-signs.ts';
import type { Outline, OutlineElement, TextBlock } from './text-blocks.ts';

/** Sums of the blocks of a page, by element. */
export interface PageShape {
  readonly shapes: readonly TextShape[];
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
  /** Of each element and its ancestors, the one repeated most (a card, a post, an entry); -1: none. */
  readonly repeatedOf: Int32Array;
  /** The container of the content: a marked one, else the deepest with most plain text. -1: the whole page. */
  readonly container: number;
  /** The first and the last block in it. */
  readonly containerFirst: number;
  readonly containerLast: number;
}

const LONG = 120;
/** A menu by name with this share of the page's text is none. */
const MOST_OF_A_SURROUND = 0.4;
const LASTING = HIDDEN | NOSCRIPT | CONTENT | ARTICLE | BODY_SIGNS;
const CONTAINER = new Set('main article section div td body form center'.split(' '));
const DECLARED_SHARE = 0.35;
const CONTAINER_SHARE = 0.75;

export function pageShape({ blocks, elements }: Outline): PageShape {
  const shapes = blocks.map(({ text }) => textShape(text));
  const inherited = new Int32Array(elements.length);
  for (let at = 0; at < elements.length; at++) {
    const { signs, parent } = elements[at] as OutlineElement;
    inherited[at] = signs | (parent < 0 ? 0 : (inherited[parent] as number));
  }
  const plainOf = new Float64Array(elements.length);
  const isShown = new Uint8Array(blocks.length);
  let plain = 0;
  let linked = 0;
  let inParagraphs = 0;
  let longBlocks = 0;
  for (let i = 0; i < blocks.length; i++) {
    const { path, text, linkChars, tag } = blocks[i] as TextBlock;
    const width = shapes[i]?.width ?? 0;
    if (width > LONG && linkChars < 0.3 * text.length) longBlocks++;
    if (((path.length === 0 ? 0 : (inherited[path[path.length - 1] as number] as number)) & (HIDDEN | NOSCRIPT)) !== 0)
      continue;
    isShown[i] = 1;
    const own = ((text.length - linkChars) / text.length) * width;
    plain += own;
    linked += width - own;
    if (tag === 'p') inParagraphs += own;
    for (const at of path) plainOf[at] = (plainOf[at] as number) + own;
  }
  const signsOf = new Int32Array(elements.length);
  for (let at = 0; at < elements.length; at++) {
    const { signs, parent } = elements[at] as OutlineElement;
    const kept = (plainOf[at] as number) > MOST_OF_A_SURROUND * plain ? signs & LASTING : signs;
    signsOf[at] = kept | (parent < 0 ? 0 : (signsOf[parent] as number));
  }
  const container = containerOf(elements, plainOf, inherited, plain);
  let containerFirst = container < 0 ? 0 : -1;
  let containerLast = blocks.length - 1;
  for (let i = 0; container >= 0 && i < blocks.length; i++) {
    if (blocks[i]?.path.includes(container) !== true) continue;
    if (containerFirst < 0) containerFirst = i;
    containerLast = i;
  }
  return {
    shapes,
    isShown,
    plain,
    plainOf,
    linked,
    inParagraphs,
    longBlocks,
    signsOf,
    repeatedOf: repeatedOf(elements),
    container,
    containerFirst,
    containerLast,
  };
}

/** Lines, rows and cells are repeated in any text. */
const NO_ENTRY = new Set(['p', 'tr', 'td']);
const LEAST_ALIKE = 3;

function repeatedOf(elements: readonly OutlineElement[]): Int32Array {
  const found = new Int32Array(elements.length);
  const extent = (at: number): number => (elements[at]?.alike ?? 0) * (elements[at]?.blocks ?? 0);
  for (let at = 0; at < elements.length; at++) {
    const { parent, alike, name } = elements[at] as OutlineElement;
    const around = parent < 0 ? -1 : (found[parent] as number);
    const counts = alike >= LEAST_ALIKE && !NO_ENTRY.has(name);
    found[at] = counts && (around < 0 || extent(at) >= extent(around)) ? at : around;
  }
  return found;
}

function containerOf(
  elements: readonly OutlineElement[],
  plainOf: Float64Array,
  inherited: Int32Array,
  plain: number,
): number {
  let best = -1;
  let bestRank = -1;
  for (let at = 0; at < elements.length; at++) {
    const { name, signs, depth } = elements[at] as OutlineElement;
    if (!CONTAINER.has(name) || ((inherited[at] ?? 0) & (SURROUND | HIDDEN | NOSCRIPT)) !== 0) continue;
    const isDeclared = (signs & CONTENT) !== 0;
    if ((plainOf[at] ?? 0) < (isDeclared ? DECLARED_SHARE : CONTAINER_SHARE) * plain) continue;
    // A declared container wins over a large one; of either kind, the deepest.
    const rank = depth + (isDeclared ? 1_000 : 0);
    if (rank > bestRank) {
      best = at;
      bestRank = rank;
    }
  }
  return best;
}

import { tagNumber } from '../tape/tag-names.ts';
import type { Outline } from './outline.ts';
import type { PageShape } from './page-shape.ts';

/** Fewer siblings that look alike are no group. */
export const LEAST_ALIKE = 3;

/** Context of an element, for the features. */
export interface ElementsAround {
  /** Share of the page's plain text, and of its own text in links. */
  readonly shares: Float64Array;
  readonly densities: Float64Array;
  /** Number of list entries and quotations around its content, itself included. */
  readonly items: Int32Array;
  readonly quotes: Int32Array;
  /** The widest element around its content that is not most of the page; -1: none. */
  readonly parts: Int32Array;
  /** Sums of the siblings that look alike, by group, and the position of each element among its siblings. */
  readonly groups: Groups;
  readonly groupAt: Int32Array;
  /** Number of elements from it up to the nearest with half of the page's text. */
  readonly trunk: Int32Array;
}

export interface Groups {
  readonly plain: Float64Array;
  readonly chars: Int32Array;
  readonly linkChars: Int32Array;
  readonly blocks: Int32Array;
  readonly count: Int32Array;
}

const LI = tagNumber('li');
const BLOCKQUOTE = tagNumber('blockquote');

export function elementsAround(
  { elementCount: count, elements, blockCount }: Outline,
  { plain, plainOf }: PageShape,
): ElementsAround {
  const { tag, parent, alike, group, chars, linkChars, blocks } = elements;
  const shares = new Float64Array(count);
  const densities = new Float64Array(count);
  const items = new Int32Array(count);
  const quotes = new Int32Array(count);
  const parts = new Int32Array(count);
  const trunk = new Int32Array(count);
  const groupAt = new Int32Array(count);
  const groups: Groups = {
    plain: new Float64Array(count),
    chars: new Int32Array(count),
    linkChars: new Int32Array(count),
    blocks: new Int32Array(count),
    count: new Int32Array(count),
  };
  // Elements come after their ancestors.
  for (let at = 0; at < count; at++) {
    const outer = parent[at]!;
    const share = plainOf[at]! / (plain + 1);
    shares[at] = share;
    densities[at] = linkChars[at]! / (chars[at]! + 1);
    items[at] = (outer < 0 ? 0 : items[outer]!) + Number(tag[at] === LI);
    quotes[at] = (outer < 0 ? 0 : quotes[outer]!) + Number(tag[at] === BLOCKQUOTE);
    const isMost = share >= 0.5 || blocks[at]! >= 0.5 * blockCount;
    const around = outer < 0 ? -1 : parts[outer]!;
    parts[at] = isMost ? -1 : around < 0 ? at : around;
    trunk[at] = share >= 0.5 ? 0 : (outer < 0 ? 0 : trunk[outer]!) + 1;
    if (alike[at]! < LEAST_ALIKE) continue;
    const its = group[at]!;
    groups.plain[its]! += plainOf[at]!;
    groups.chars[its]! += chars[at]!;
    groups.linkChars[its]! += linkChars[at]!;
    groups.blocks[its]! += blocks[at]!;
    groupAt[at] = groups.count[its]!++;
  }
  return { shares, densities, items, quotes, parts, groups, groupAt, trunk };
}

import type { PageShape } from './page-shape.ts';
import type { Outline } from './text-blocks.ts';

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
  /** Whether it is the container or in it. */
  readonly isInside: Uint8Array;
  /** Together, the siblings that look like it, and its position among them. */
  readonly groups: readonly (Group | undefined)[];
  readonly groupAt: Int32Array;
  /** Number of elements from it up to the nearest with half of the page's text. */
  readonly trunk: Int32Array;
}

export interface Group {
  plain: number;
  chars: number;
  linkChars: number;
  blocks: number;
  count: number;
}

export function elementsAround(
  { elements, blocks }: Outline,
  { plain, plainOf, container }: PageShape,
): ElementsAround {
  const { length } = elements;
  const shares = new Float64Array(length);
  const densities = new Float64Array(length);
  const items = new Int32Array(length);
  const quotes = new Int32Array(length);
  const parts = new Int32Array(length);
  const isInside = new Uint8Array(length);
  const groups: (Group | undefined)[] = new Array(length).fill(undefined);
  const groupAt = new Int32Array(length);
  const trunk = new Int32Array(length);
  const known = new Map<number, Group>();
  // Elements come after their ancestors.
  for (let at = 0; at < length; at++) {
    const element = elements[at]!;
    const { parent, name } = element;
    const share = plainOf[at]! / (plain + 1);
    shares[at] = share;
    densities[at] = element.linkChars / (element.chars + 1);
    items[at] = (parent < 0 ? 0 : items[parent]!) + Number(name === 'li');
    quotes[at] = (parent < 0 ? 0 : quotes[parent]!) + Number(name === 'blockquote');
    const isMost = share >= 0.5 || element.blocks >= 0.5 * blocks.length;
    const around = parent < 0 ? -1 : parts[parent]!;
    parts[at] = isMost ? -1 : around < 0 ? at : around;
    trunk[at] = share >= 0.5 ? 0 : (parent < 0 ? 0 : trunk[parent]!) + 1;
    if (element.alike >= 3) {
      const key = (parent + 1) * 0x10_0000 + element.looks;
      let group = known.get(key);
      if (group === undefined) {
        group = { plain: 0, chars: 0, linkChars: 0, blocks: 0, count: 0 };
        known.set(key, group);
      }
      group.plain += plainOf[at]!;
      group.chars += element.chars;
      group.linkChars += element.linkChars;
      group.blocks += element.blocks;
      groupAt[at] = group.count++;
      groups[at] = group;
    }
    isInside[at] = at === container || (parent >= 0 && isInside[parent] === 1) ? 1 : 0;
  }
  return { shares, densities, items, quotes, parts, isInside, groups, groupAt, trunk };
}

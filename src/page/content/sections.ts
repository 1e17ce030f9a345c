import { TagTable } from '../tape/name-table.ts';
import type { Outline } from './outline.ts';
import type { PageShape } from './page-shape.ts';

/** Where the blocks of each element stand: the first one, and the one behind the last; -1: it has none. */
export interface ElementSpans {
  readonly first: Int32Array;
  readonly end: Int32Array;
}

/** The blocks that a heading introduces. */
export interface Section {
  readonly level: number;
  /** The heading: its element, its first block, and the block behind its last. */
  readonly element: number;
  readonly from: number;
  readonly body: number;
  /** The block behind the section. */
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
  // Ancestors come before what is in them.
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
 * its level or a higher one, and at the latest where the smallest element ends that holds the heading and something
 * behind it: a heading in a sidebar does not introduce what follows the sidebar.
 */
export function sectionsOf(outline: Outline, { isShown }: PageShape, { end }: ElementSpans): Section[] {
  const { blockCount, blocks, elements } = outline;
  const sections: Section[] = [];
  /** For each level, the next heading of it. */
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

/** The heading element around a block in one. */
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

import { tagNumber } from '../tape/name-table.ts';
import type { Outline } from './outline.ts';
import type { PageShape } from './page-shape.ts';
import { plainWidth } from './sections.ts';

/** What says that a page is one of a manual: nothing, its listings, or its generator. */
export const NO_MANUAL = 0;
export const EVIDENT_MANUAL = 1;
export const DECLARED_MANUAL = 2;

/** Listings are this part of the text outside links. Lists of definitions are menus and tickers as often. */
const LEAST_SHARE = 0.02;
const PRE = tagNumber('pre');

/** Whether a page is documentation. Sections of it that are short or full of links are content as well. */
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

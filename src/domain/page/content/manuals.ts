import { tagNumber } from '../tape/tag-names.ts';
import { AROUND } from './element-signs.ts';
import type { Outline } from './outline.ts';
import type { PageShape } from './page-shape.ts';
import { plainWidth } from './sections.ts';

/** What says that a page is one of a manual: nothing, its listings and definitions, or its generator. */
export const NO_MANUAL = 0;
export const EVIDENT_MANUAL = 1;
export const DECLARED_MANUAL = 2;

/** Listings and definitions are this part of the text outside links. */
const LEAST_SHARE = 0.02;
/** Lists of definitions are used for menus and tickers, too: those that are content are at least as probable. */
const LEAST_CHANCE = 0.3;
const PRE = tagNumber('pre');
const DL = tagNumber('dl');

/** Whether a page is documentation. Sections of it that are short or full of links are content as well. */
export function manualKind(outline: Outline, page: PageShape, chances: Float64Array): number {
  const { kinds, blocks, blockCount, elements, elementCount } = outline;
  if (kinds.manual) return DECLARED_MANUAL;
  if (kinds.article || kinds.forum || kinds.product) return NO_MANUAL;
  /** The innermost listing or list of definitions around each element, by its tag; 0: none. */
  const around = new Uint8Array(elementCount);
  let hasAny = false;
  for (let at = 0; at < elementCount; at++) {
    const tag = elements.tag[at]!;
    const parent = elements.parent[at]!;
    around[at] = tag === PRE ? 1 : tag === DL ? 2 : parent < 0 ? 0 : around[parent]!;
    hasAny ||= around[at] !== 0;
  }
  if (!hasAny) return NO_MANUAL;
  let width = 0;
  for (let i = 0; i < blockCount; i++) {
    const holder = blocks.holder[i]!;
    if (holder < 0 || around[holder] === 0 || page.isShown[i] === 0) continue;
    if (around[holder] === 2 && (chances[i]! <= LEAST_CHANCE || (page.signsOf[holder]! & AROUND) !== 0)) continue;
    width += plainWidth(outline, i);
  }
  return width > LEAST_SHARE * page.plain ? EVIDENT_MANUAL : NO_MANUAL;
}

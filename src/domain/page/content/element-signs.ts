import { memoized } from '../../memoized.ts';
import type { PageNode } from '../page-node.ts';
import { BODY, bitsOfClassWords, COMMENT, FOOT, NAVIGATION, POST, PRODUCT, SIDE } from './class-words.ts';

/** Signs of an element beside those of its class words. */
export const HIDDEN = 1 << 16;
/** Shown only without scripts. */
export const NOSCRIPT = 1 << 17;
/** Surroundings by name or role, not only by class. */
export const SURROUND = 1 << 18;
/** Content by name or role. */
export const CONTENT = 1 << 19;
export const ARTICLE = 1 << 20;
export const ASIDE = 1 << 21;
export const TABLE = 1 << 22;
export const LIST = 1 << 23;
export const HEADER = 1 << 24;
/** Class words of content of one kind or another. */
export const BODY_SIGNS = BODY | POST | PRODUCT;
/** Its text is not text of the page. */
export const SILENT = 1 << 30;

const SIGNS_OF_NAME: ReadonlyMap<string, number> = new Map([
  ...'script style template svg iframe object embed audio video canvas select option datalist textarea input button map math link meta title'
    .split(' ')
    .map((name) => [name, SILENT] as const),
  ['nav', SURROUND | NAVIGATION],
  ['footer', SURROUND | FOOT],
  ['aside', SURROUND | ASIDE],
  ['dialog', HIDDEN],
  ['main', CONTENT],
  ['article', CONTENT | ARTICLE],
  ['noscript', NOSCRIPT],
  ['table', TABLE],
  ['ul', LIST],
  ['ol', LIST],
  ['header', HEADER],
]);

const SIGNS_OF_ROLE: ReadonlyMap<string, number> = new Map([
  ...'banner search alert alertdialog dialog toolbar tooltip status menubar tablist'
    .split(' ')
    .map((role) => [role, SURROUND] as const),
  ['navigation', SURROUND | NAVIGATION],
  ['menu', SURROUND | NAVIGATION],
  ['contentinfo', SURROUND | FOOT],
  ['complementary', SURROUND | SIDE],
  ['main', CONTENT],
  ['article', CONTENT | ARTICLE],
]);

const SIGNS_OF_PROPERTY: ReadonlyMap<string, number> = new Map([
  ['articlebody', CONTENT | BODY],
  ['text', BODY],
  ['description', BODY],
  ['comment', COMMENT],
]);

/** A style attribute that hides its element. */
export const HIDING_STYLE = /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;

/** Signs of an element, from its name and attributes alone. */
export type SignReader = (node: PageNode) => number;

/** Class and id attributes cached: those of many pages of a few sites. */
const MAX_MEANINGS = 20_000;
/** Characters of class and id that are read. */
const MAX_WORDS = 300;

/** The meaning of a class name is cached: the pages of a site use few of them often. */
export function createSignReader(): SignReader {
  const meaningOf = memoized(bitsOfClassWords, MAX_MEANINGS);
  return ({ name = '', attribs }) => {
    let signs = SIGNS_OF_NAME.get(name) ?? 0;
    if (attribs === undefined || signs === SILENT) return signs;
    let classes = '';
    let id = '';
    // Most elements have one or two attributes, or none: going through them is quicker than asking for seven.
    for (const key in attribs) {
      switch (key) {
        case 'class':
          classes = attribs.class as string;
          break;
        case 'id':
          id = attribs.id as string;
          break;
        case 'hidden':
          signs |= HIDDEN;
          break;
        case 'aria-hidden':
          if (attribs['aria-hidden'] === 'true') signs |= HIDDEN;
          break;
        case 'style':
          if (HIDING_STYLE.test(attribs.style as string)) signs |= HIDDEN;
          break;
        case 'role':
          signs |= SIGNS_OF_ROLE.get((attribs.role as string).toLowerCase()) ?? 0;
          break;
        case 'itemprop':
          signs |= SIGNS_OF_PROPERTY.get((attribs.itemprop as string).toLowerCase()) ?? 0;
          break;
      }
    }
    // Classes of the whole page describe its layout.
    if ((classes === '' && id === '') || name === 'body' || name === 'html') return signs;
    if (classes.length + id.length >= MAX_WORDS) return signs | meaningOf(`${classes} ${id}`.slice(0, MAX_WORDS));
    return signs | (classes === '' ? 0 : meaningOf(classes)) | (id === '' ? 0 : meaningOf(id));
  };
}

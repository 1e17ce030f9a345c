import { ATTRIBUTE } from '../tape/attribute-names.ts';
import { TextMeanings } from '../tape/interned-texts.ts';
import { TagTable, tagNumber } from '../tape/tag-names.ts';
import type { Tape } from '../tape/tape.ts';
import {
  ADVERT,
  BODY,
  bitsOfClassWords,
  COMMENT,
  FOOT,
  FORM,
  NAVIGATION,
  OVERLAY,
  POST,
  PRODUCT,
  PROFILE,
  SHARE,
  SIDE,
  UNSEEN,
} from './class-words.ts';

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
/** Signs of what stands around the content of a page, whatever its structure. */
export const AROUND =
  NAVIGATION |
  FOOT |
  SIDE |
  SHARE |
  ADVERT |
  OVERLAY |
  COMMENT |
  FORM |
  PROFILE |
  UNSEEN |
  (SURROUND | ASIDE | HIDDEN | NOSCRIPT);
/** Its text is not text of the page. */
export const SILENT = 1 << 30;

const SIGNS_OF_TAG = new TagTable([
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
export type SignReader = (tape: Tape, element: number) => number;

/** Characters of class and id that are read. */
const MAX_WORDS = 300;
const BODY_TAG = tagNumber('body');
const HTML_TAG = tagNumber('html');

/** The meaning of a class name is kept: the pages of a site use few of them often. */
export function createSignReader(): SignReader {
  const ofWords = new TextMeanings(bitsOfClassWords);
  const ofStyle = new TextMeanings((style) => (HIDING_STYLE.test(style) ? HIDDEN : 0));
  const ofRole = new TextMeanings((role) => SIGNS_OF_ROLE.get(role.toLowerCase()) ?? 0);
  const ofProperty = new TextMeanings((property) => SIGNS_OF_PROPERTY.get(property.toLowerCase()) ?? 0);
  const ofState = new TextMeanings((value) => (value === 'true' ? HIDDEN : 0));
  return (tape, element) => {
    const tag = tape.kindAt(element);
    let signs = SIGNS_OF_TAG.at(tag);
    if (signs === SILENT) return signs;
    const { interned } = tape;
    let classes = 0;
    let id = 0;
    for (let at = tape.firstAttribute(element); at < tape.endOfAttributes(element); at++) {
      switch (tape.attributeAt(at)) {
        case ATTRIBUTE.class:
          classes = tape.internedAt(at);
          break;
        case ATTRIBUTE.id:
          id = tape.internedAt(at);
          break;
        case ATTRIBUTE.hidden:
          signs |= HIDDEN;
          break;
        case ATTRIBUTE['aria-hidden']:
          signs |= ofState.of(interned, tape.internedAt(at));
          break;
        case ATTRIBUTE.style:
          signs |= ofStyle.of(interned, tape.internedAt(at));
          break;
        case ATTRIBUTE.role:
          signs |= ofRole.of(interned, tape.internedAt(at));
          break;
        case ATTRIBUTE.itemprop:
          signs |= ofProperty.of(interned, tape.internedAt(at));
          break;
      }
    }
    // Classes of the whole page describe its layout.
    if (classes + id === 0 || tag === BODY_TAG || tag === HTML_TAG) return signs;
    if (classes > 0 && id > 0 && interned.size(classes) + interned.size(id) >= MAX_WORDS) {
      return signs | bitsOfClassWords(`${interned.text(classes)} ${interned.text(id)}`.slice(0, MAX_WORDS));
    }
    return signs | ofWords.of(interned, classes) | ofWords.of(interned, id);
  };
}

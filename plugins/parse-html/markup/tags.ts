import { KNOWN_TAGS, TAG_NAMES, TagTable, tagNumber } from 'incrawl/bundled';

/** Implied end tags, as in htmlparser2's own parser, as tables by tag. */

/** Raw text elements; in a `title` references are decoded. */
export const CHARACTER_ELEMENTS: readonly string[] = ['script', 'style', 'title', 'textarea', 'xmp'];
export const HAS_CHARACTERS = TagTable.of(CHARACTER_ELEMENTS);

/** Elements without content and end tag. */
export const VOID = TagTable.of(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr'.split(
    ' ',
  ),
);

const ENDS_PARAGRAPH =
  'p h1 h2 h3 h4 h5 h6 address article aside blockquote details div dl fieldset figcaption figure footer form header hr main nav ol pre section table ul'.split(
    ' ',
  );
const FORM_CONTROLS = 'input option optgroup select button datalist textarea';

const ENDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(ENDS_PARAGRAPH.map((name) => [name, 'p'])),
  ...Object.fromEntries('select input output button datalist textarea'.split(' ').map((name) => [name, FORM_CONTROLS])),
  option: 'option',
  optgroup: 'optgroup option',
  li: 'li',
  dd: 'dd dt',
  dt: 'dd dt',
  rt: 'rt rp',
  rp: 'rt rp',
  tr: 'tr th td',
  th: 'th',
  td: 'thead th td',
  tbody: 'thead tbody',
  tfoot: 'thead tbody',
  body: 'head link script',
};

/** Start tags that close open elements at the top of the stack. */
export const CLOSES_OTHERS = TagTable.of(Object.keys(ENDS));

const CLOSED = closedByTag();

function closedByTag(): Uint8Array {
  const closed = new Uint8Array(KNOWN_TAGS * KNOWN_TAGS);
  for (const [name, others] of Object.entries(ENDS)) {
    for (const other of others.split(' ')) closed[tagNumber(name) * KNOWN_TAGS + tagNumber(other)] = 1;
  }
  return closed;
}

/** Whether a start tag closes an open element, both of known names. */
export const closes = (tag: number, open: number): boolean => CLOSED[tag * KNOWN_TAGS + open] === 1;

export const FOREIGN = 1;
export const NATIVE = 2;
/** Inside, `<x/>` is a whole element (`svg`, `math`) or no longer is (`foreignobject`, ...); 0: as around it. */
export const FOREIGNNESS = new TagTable([
  ...'mi mo mn ms mtext annotation-xml foreignobject desc title'.split(' ').map((name) => [name, NATIVE] as const),
  ['svg', FOREIGN],
  ['math', FOREIGN],
]);

export const BR = tagNumber('br');
export const P = tagNumber('p');
export const SLOT = tagNumber('slot');
export const TEMPLATE = tagNumber('template');
export const TITLE = tagNumber('title');

/** Names of raw text elements by tag. */
export const nameOfKnown = (tag: number): string => TAG_NAMES[tag]!;

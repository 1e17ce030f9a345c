import { CHARACTER_ELEMENTS } from './markup-scanner.ts';

/** Implied end tags, as in htmlparser2's own parser, as a table. */
export interface Tag {
  readonly name: string;
  /** Has no content and no end tag. */
  readonly isVoid: boolean;
  /** Open elements at the top of the stack that this start tag closes. */
  readonly ends: ReadonlySet<string> | null;
  /** Inside, `<x/>` is a whole element (`svg`, `math`) or no longer is (`foreignobject`, ...); `null`: as around it. */
  readonly foreign: boolean | null;
  /** A raw text element. */
  readonly hasCharacters: boolean;
}

const VOID =
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr'.split(
    ' ',
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

const FOREIGN: Readonly<Record<string, boolean>> = {
  ...Object.fromEntries(
    'mi mo mn ms mtext annotation-xml foreignobject desc title'.split(' ').map((name) => [name, false]),
  ),
  svg: true,
  math: true,
};

const COMMON =
  'html head body title meta link script style noscript template a abbr b bdi bdo big button canvas caption center cite code colgroup data datalist dd del details dfn dialog em font i iframe ins kbd label legend map mark menu object optgroup option output picture q rp rt ruby s samp select small span strike strong sub summary sup svg tbody td textarea tfoot th thead time tr tt u var video audio'.split(
    ' ',
  );

export const TAGS: ReadonlyMap<string, Tag> = new Map(
  [...new Set([...VOID, ...CHARACTER_ELEMENTS, ...Object.keys(ENDS), ...Object.keys(FOREIGN), ...COMMON])].map(
    (name) => [
      name,
      {
        name,
        isVoid: VOID.includes(name),
        ends: ENDS[name] === undefined ? null : new Set(ENDS[name].split(' ')),
        foreign: FOREIGN[name] ?? null,
        hasCharacters: CHARACTER_ELEMENTS.includes(name),
      },
    ],
  ),
);

export function unknownTag(name: string): Tag {
  return { name, isVoid: false, ends: null, foreign: null, hasCharacters: false };
}

/**
 * Name of an element in the tree. A `template` that declares a shadow root is not inert: browsers render its content in
 * its place (WHATWG HTML, "shadowrootmode"), like that of a `slot`, which has no box either.
 */
export function nameInTree({ name }: Tag, { shadowrootmode }: Readonly<Record<string, string>>): string {
  return name === 'template' && shadowrootmode !== undefined && /^(?:open|closed)$/i.test(shadowrootmode)
    ? 'slot'
    : name;
}

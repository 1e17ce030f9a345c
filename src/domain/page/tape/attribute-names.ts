// domain/page/tape/: a page as arrays of numbers over its bytes, which all stages read.
/** Attributes that stages ask for, by number; 0 stands for all others. */
export const ATTRIBUTE_NAMES = [
  '',
  'class',
  'id',
  'style',
  'role',
  'itemprop',
  'aria-hidden',
  'href',
  'hidden',
  'rel',
  'src',
  'alt',
  'title',
  'name',
  'property',
  'content',
  'http-equiv',
  'lang',
  'xml:lang',
  'hreflang',
  'type',
  'aria-label',
  'xlink:href',
  'open',
  'shadowrootmode',
  'media',
  'datetime',
] as const;
/** A name that has a number. */
export type AttributeName = Exclude<(typeof ATTRIBUTE_NAMES)[number], ''>;

/** The number of each name, as in `ATTRIBUTE.href`. */
export const ATTRIBUTE: Readonly<Record<AttributeName, number>> = Object.freeze(
  Object.fromEntries(ATTRIBUTE_NAMES.map((name, number) => [name, number])),
) as Readonly<Record<AttributeName, number>>;

const NUMBERS: ReadonlyMap<string, number> = new Map(ATTRIBUTE_NAMES.map((name, number) => [name, number]));

/** The number of a name in lower case; 0: a name that no stage asks for. */
export const attributeNumber = (name: string): number => NUMBERS.get(name) ?? 0;

/** Attributes with a number up to this have numbered values, so that the meaning of each value is looked up once. */
export const LAST_INTERNED = ATTRIBUTE['aria-hidden'];

/**
 * The five classes of tags by which a page is cut into blocks (CN101645082A, module 210; the lists of the patent's
 * figure are lost, these follow the meaning of the tags in HTML, layout tables of its time included).
 */
export type TagClass = 'title' | 'block' | 'level' | 'ignore' | 'other';

/** The table itself; whatever is in no list is `other`. */
export const TAG_CLASSES: Readonly<Record<Exclude<TagClass, 'other'>, readonly string[]>> = Object.freeze({
  title: 'title h1 h2 h3 h4 h5 h6'.split(' '),
  block:
    'address article aside blockquote body center details div dl fieldset figure footer form header main nav ol pre section table td th ul'.split(
      ' ',
    ),
  level: 'br caption dd dt hr li p tbody tfoot thead tr'.split(' '),
  ignore: 'script style noscript iframe object embed link meta template svg'.split(' '),
});

const CLASS_OF: ReadonlyMap<string, TagClass> = new Map(
  Object.entries(TAG_CLASSES).flatMap(([tagClass, names]) => names.map((name) => [name, tagClass as TagClass])),
);

/** @param name of the element, lower case */
export const tagClassOf = (name: string): TagClass => CLASS_OF.get(name) ?? 'other';

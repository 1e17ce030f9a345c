/** Names of elements that some stage knows, by number. Other names get a number of their own in each page. */
export const TAG_NAMES: readonly string[] =
  'html head body title meta link script style noscript template base a abbr b bdi bdo big button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 header hgroup hr i iframe img input ins isindex kbd keygen label legend li main map mark math menu nav noembed noframes object ol optgroup option output p param picture pre q rb rp rt rtc ruby s samp search section select slot small source span strike strong sub summary sup svg table tbody td textarea tfoot th thead time tr track tt u ul var video audio wbr address article aside area basefont blockquote br command xmp mi mo mn ms mtext annotation-xml foreignobject desc'.split(
    ' ',
  );

/** Tags from this number on are names of one page. */
export const KNOWN_TAGS = TAG_NAMES.length;

const NUMBERS: ReadonlyMap<string, number> = new Map(TAG_NAMES.map((name, number) => [name, number]));

/** The number of a name in lower case, if it is in {@link TAG_NAMES}. */
export const knownTag = (name: string): number | undefined => NUMBERS.get(name);

/** The number of a name that must be in {@link TAG_NAMES}. */
export function tagNumber(name: string): number {
  const number = NUMBERS.get(name);
  if (number === undefined) throw new TypeError(`${name} is missing from TAG_NAMES`);
  return number;
}

/** A number for each element name; 0, or `others`, for names that are not in the list. */
export class TagTable {
  private readonly values: Int32Array;
  private readonly others: number;

  constructor(entries: Iterable<readonly [name: string, value: number]>, others = 0) {
    this.values = new Int32Array(KNOWN_TAGS).fill(others);
    this.others = others;
    for (const [name, value] of entries) this.values[tagNumber(name)] = value;
  }

  /** A table that is 1 for each of some names. */
  static of(names: Iterable<string>): TagTable {
    return new TagTable([...names].map((name) => [name, 1] as const));
  }

  at(tag: number): number {
    return tag < KNOWN_TAGS ? this.values[tag]! : this.others;
  }

  has(tag: number): boolean {
    return tag < KNOWN_TAGS && this.values[tag] === 1;
  }
}

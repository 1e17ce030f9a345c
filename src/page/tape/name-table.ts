/** Attributes that stages read, by number; 0 stands for all others. */
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

const ATTRIBUTE_NUMBERS: ReadonlyMap<string, number> = new Map(ATTRIBUTE_NAMES.map((name, number) => [name, number]));

/** The number of a name in lower case; 0: a name that no stage reads. */
export const attributeNumber = (name: string): number => ATTRIBUTE_NUMBERS.get(name) ?? 0;

/**
 * Attributes with a number up to this have numbered values, so that the meaning of each value is looked up only once.
 */
export const LAST_INTERNED = ATTRIBUTE['aria-hidden'];

/** Names of elements that some stage knows, by number. Other names get a number of their own in each page. */
export const TAG_NAMES: readonly string[] =
  'html head body title meta link script style noscript template base a abbr b bdi bdo big button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 header hgroup hr i iframe img input ins isindex kbd keygen label legend li main map mark math menu nav noembed noframes object ol optgroup option output p param picture pre q rb rp rt rtc ruby s samp search section select slot small source span strike strong sub summary sup svg table tbody td textarea tfoot th thead time tr track tt u ul var video audio wbr address article aside area basefont blockquote br command xmp mi mo mn ms mtext annotation-xml foreignobject desc'.split(
    ' ',
  );

/** Tags from this number on are names of one page. */
export const KNOWN_TAGS = TAG_NAMES.length;

const TAG_NUMBERS: ReadonlyMap<string, number> = new Map(TAG_NAMES.map((name, number) => [name, number]));

/** The number of a name in lower case, if it is in {@link TAG_NAMES}. */
export const knownTag = (name: string): number | undefined => TAG_NUMBERS.get(name);

/** The number of a name that must be in {@link TAG_NAMES}. */
export function tagNumber(name: string): number {
  const number = TAG_NUMBERS.get(name);
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

const SLOTS = 1024;

/** FNV-1a (Fowler, Noll, Vo), byte by byte, names in lower case; it begins with 0. */
export const hashed = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x01000193);

const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte));

/** A byte of a name in lower case, ASCII only. */
export const lowered = (byte: number): number => LOWER[byte]!;

const slotOf = (hash: number): number => (hash ^ (hash >>> 10)) & (SLOTS - 1);

/** Finds ASCII names in bytes without making strings. */
export class NameTable {
  /** Open addressing: the position of a name plus one, 0 for an empty slot. */
  private readonly slots = new Int32Array(SLOTS);
  private readonly hashes: Int32Array;
  private readonly starts: Int32Array;
  private readonly bytes: Uint8Array;

  constructor(names: readonly string[]) {
    this.hashes = new Int32Array(names.length);
    this.starts = new Int32Array(names.length + 1);
    this.bytes = new TextEncoder().encode(names.join(''));
    for (const [position, name] of names.entries()) {
      const start = this.starts[position]!;
      this.starts[position + 1] = start + name.length;
      let hash = 0;
      for (let at = start; at < start + name.length; at++) hash = hashed(hash, this.bytes[at]!);
      this.hashes[position] = hash;
      let slot = slotOf(hash);
      while (this.slots[slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
      this.slots[slot] = position + 1;
    }
  }

  /** Position of the name that stands, in any case, in a range of bytes; -1: none. `hash` is that of {@link hashed}. */
  find(bytes: Uint8Array, from: number, to: number, hash: number): number {
    let slot = slotOf(hash);
    while (true) {
      const position = this.slots[slot]! - 1;
      if (position < 0) return -1;
      if (this.hashes[position] === hash && this.isAt(position, bytes, from, to)) return position;
      slot = (slot + 1) & (SLOTS - 1);
    }
  }

  private isAt(position: number, bytes: Uint8Array, from: number, to: number): boolean {
    let own = this.starts[position]!;
    if (this.starts[position + 1]! - own !== to - from) return false;
    for (let at = from; at < to; at++) if (lowered(bytes[at]!) !== this.bytes[own++]) return false;
    return true;
  }
}

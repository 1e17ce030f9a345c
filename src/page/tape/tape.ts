import { isElement, type PageNode } from '../page-block.ts';
import { InternedTexts, resized, utf8Slice } from './interned-texts.ts';
import {
  ATTRIBUTE,
  type AttributeName,
  attributeNumber,
  KNOWN_TAGS,
  knownTag,
  LAST_INTERNED,
  TAG_NAMES,
} from './name-table.ts';

/** Kinds of entries; numbers from 0 on are tags, the start of an element. A text. */
export const TEXT = -1;
/** The end of an element; every element has one. */
export const CLOSE = -2;
/** A comment. */
export const COMMENT = -3;
/** A processing instruction or a declaration. */
export const INSTRUCTION = -4;

/** A text may have characters beyond ASCII. */
export const WIDE = 1;
/** A text may have bytes that are no ASCII white space. */
export const VISIBLE = 2;
/** A CDATA section, which is a separate node. */
export const SECTION = 4;

/** Larger arrays are not kept for the next page. */
const KEPT_ENTRIES = 1 << 16;
const KEPT_ATTRIBUTES = 1 << 16;
const KEPT_BYTES = 1 << 21;

const FIRST_ENTRIES = 1 << 12;
const FIRST_ATTRIBUTES = 1 << 11;

const NO_LINKS: Tape['links'] = new Map();

/**
 * A page as arrays of numbers over its UTF-8 bytes, in document order (after the tape of simdjson: G. Langdale, D.
 * Lemire, Parsing gigabytes of JSON per second, 2019). Each node is one entry. Each element has a second one at its
 * end, so that a walk needs no stack and a subtree is skipped in one step. Texts and attribute values are ranges of
 * `bytes`; strings are made on demand. The arrays are reused from page to page.
 */
export class Tape {
  /** The page, followed by the text decoded from character references. */
  bytes = Buffer.alloc(0);
  /** Values of `class` and the like, by number. */
  readonly interned = new InternedTexts();
  /** Number of entries. */
  length = 0;
  /** The page had more nodes than allowed. */
  isTruncated = false;
  /** The `a` elements of each outlink, by its URL; set by the parser. */
  links: ReadonlyMap<string, readonly number[]> = NO_LINKS;
  private bytesEnd = 0;
  private attributesEnd = 0;
  private readonly tagNames = [...TAG_NAMES];

  // Of each entry. Elements: tag, close, first attribute, end of attributes, start of the tag in the page. Ends: CLOSE,
  // start entry, tag, -, end in the page. Others: kind, from, to, what is known, -.
  private kinds = new Int32Array(FIRST_ENTRIES);
  private firsts = new Int32Array(FIRST_ENTRIES);
  private seconds = new Int32Array(FIRST_ENTRIES);
  private thirds = new Int32Array(FIRST_ENTRIES);
  private places = new Int32Array(FIRST_ENTRIES);
  // Of each attribute: its number, or the negative place of its name; its value; the number of that, if it has one.
  private names = new Int32Array(FIRST_ATTRIBUTES);
  private froms = new Int32Array(FIRST_ATTRIBUTES);
  private tos = new Int32Array(FIRST_ATTRIBUTES);
  private values = new Int32Array(FIRST_ATTRIBUTES);

  // Entries.
  /** Tag of an element, or one of the kinds that are no elements. */
  kindAt(at: number): number {
    return this.kinds[at]!;
  }

  closeOf(at: number): number {
    return this.firsts[at]!;
  }

  /** The element that ends at an entry, and its tag. */
  openOf(close: number): number {
    return this.firsts[close]!;
  }

  tagEndedAt(close: number): number {
    return this.seconds[close]!;
  }

  /** Range of a text, comment or instruction in `bytes`. */
  textStart(at: number): number {
    return this.firsts[at]!;
  }

  textEnd(at: number): number {
    return this.seconds[at]!;
  }

  isWide(at: number): boolean {
    return (this.thirds[at]! & WIDE) !== 0;
  }

  isVisible(at: number): boolean {
    return (this.thirds[at]! & VISIBLE) !== 0;
  }

  isSection(at: number): boolean {
    return (this.thirds[at]! & SECTION) !== 0;
  }

  /** Place in the page: for an element, its first byte; for an end, the byte after the element. */
  placeOf(at: number): number {
    return this.places[at]!;
  }

  tagName(tag: number): string {
    return this.tagNames[tag] ?? '';
  }

  string(from: number, to: number): string {
    return utf8Slice(this.bytes, from, to);
  }

  /** Text of a text, comment or instruction. */
  textAt(at: number): string {
    return this.string(this.firsts[at]!, this.seconds[at]!);
  }

  // Attributes: those of an element are a range of positions.

  firstAttribute(at: number): number {
    return this.seconds[at]!;
  }

  endOfAttributes(at: number): number {
    return this.thirds[at]!;
  }

  /** Number of its name, as in {@link ATTRIBUTE}; below 1: another name, which begins at the negated place. */
  attributeAt(position: number): number {
    return this.names[position]!;
  }

  valueStart(position: number): number {
    return this.froms[position]!;
  }

  valueEnd(position: number): number {
    return this.tos[position]!;
  }

  /** Number of a value in {@link interned}, of attributes up to LAST_INTERNED. */
  internedAt(position: number): number {
    return this.values[position]!;
  }

  valueAt(position: number): string {
    return this.string(this.froms[position]!, this.tos[position]!);
  }

  /** Position of the first attribute of an element with that number; -1: it has none. */
  find(at: number, attribute: number): number {
    const { names } = this;
    for (let position = this.seconds[at]!, end = this.thirds[at]!; position < end; position++) {
      if (names[position] === attribute) return position;
    }
    return -1;
  }

  /** Value of an attribute of an element. */
  attribute(at: number, name: AttributeName): string | undefined {
    const position = this.find(at, ATTRIBUTE[name]);
    return position < 0 ? undefined : this.valueAt(position);
  }

  // Writing.
  /** Empties the tape for a page, which is copied with an extra byte behind it that ends every search. */
  begin(page: Uint8Array, sentinel: number): void {
    this.length = 0;
    this.isTruncated = false;
    this.links = NO_LINKS;
    this.attributesEnd = 0;
    this.tagNames.length = KNOWN_TAGS;
    this.interned.trim();
    if (this.kinds.length > KEPT_ENTRIES) this.resizeEntries(0);
    if (this.names.length > KEPT_ATTRIBUTES) this.resizeAttributes(0);
    // Twice the length: decoding character references makes a text longer only in rare cases.
    const needed = 2 * page.length + 256;
    if (this.bytes.length < needed || this.bytes.length > Math.max(KEPT_BYTES, needed)) {
      this.bytes = Buffer.allocUnsafeSlow(needed + (needed >> 2));
    }
    this.bytes.set(page);
    this.bytes[page.length] = sentinel;
    this.bytesEnd = page.length + 1;
  }

  /** Assigns a number to a name that is not in TAG_NAMES; the caller keeps it. */
  addTag(name: string): number {
    return this.tagNames.push(name) - 1;
  }

  addText(from: number, to: number, known: number): void {
    this.put(TEXT, from, to, known, 0);
  }

  /** Appends a range to the text in the last entry. */
  extendText(from: number, to: number, known: number): void {
    const at = this.length - 1;
    const start = this.firsts[at]!;
    const end = this.seconds[at]!;
    this.thirds[at]! |= known;
    if (end !== from) {
      // At the end of all bytes, where the next range is appended without copying this one again.
      const isLast = end === this.bytesEnd;
      const target = this.reserve(end - start + to - from);
      if (!isLast) this.firsts[at] = target;
      const middle = isLast ? end : target + this.bytes.copy(this.bytes, target, start, end);
      this.bytesEnd = middle + this.bytes.copy(this.bytes, middle, from, to);
      this.seconds[at] = this.bytesEnd;
    } else this.seconds[at] = to;
  }

  addMark(kind: typeof COMMENT | typeof INSTRUCTION, from: number, to: number): void {
    this.put(kind, from, to, 0, 0);
  }

  /** Adds an element with the attributes that were added from `firstAttribute` on; returns its entry. */
  addElement(tag: number, firstAttribute: number, place: number): number {
    return this.put(tag, 0, firstAttribute, this.attributesEnd, place);
  }

  close(element: number, place: number): void {
    // Must come first: it may replace these arrays with longer ones.
    const end = this.put(CLOSE, element, this.kinds[element]!, 0, place);
    this.firsts[element] = end;
  }

  get nextAttribute(): number {
    return this.attributesEnd;
  }

  addAttribute(attribute: number, from: number, to: number): void {
    if (this.attributesEnd === this.names.length) this.resizeAttributes(2 * this.attributesEnd);
    const position = this.attributesEnd++;
    this.names[position] = attribute;
    this.froms[position] = from;
    this.tos[position] = to;
    this.values[position] =
      attribute > 0 && attribute <= LAST_INTERNED ? this.interned.number(this.bytes, from, to) : 0;
  }

  get size(): number {
    return this.bytesEnd;
  }

  /** Place after all bytes so far, with space for the given number of further bytes. */
  reserve(more: number): number {
    if (this.bytesEnd + more > this.bytes.length) {
      const longer = Buffer.allocUnsafeSlow(2 * this.bytes.length + more);
      this.bytes.copy(longer, 0, 0, this.bytesEnd);
      this.bytes = longer;
    }
    return this.bytesEnd;
  }

  /** Bytes up to here are in use. */
  commit(end: number): void {
    this.bytesEnd = end;
  }

  /** Adds a string to the bytes; returns where it ends. */
  append(text: string): number {
    const start = this.reserve(3 * text.length);
    this.bytesEnd = start + this.bytes.write(text, start);
    return this.bytesEnd;
  }

  private put(kind: number, first: number, second: number, third: number, place: number): number {
    const at = this.length++;
    if (at === this.kinds.length) this.resizeEntries(2 * at);
    this.kinds[at] = kind;
    this.firsts[at] = first;
    this.seconds[at] = second;
    this.thirds[at] = third;
    this.places[at] = place;
    return at;
  }

  private resizeEntries(length: number): void {
    this.kinds = resized(this.kinds, length, FIRST_ENTRIES);
    this.firsts = resized(this.firsts, length, FIRST_ENTRIES);
    this.seconds = resized(this.seconds, length, FIRST_ENTRIES);
    this.thirds = resized(this.thirds, length, FIRST_ENTRIES);
    this.places = resized(this.places, length, FIRST_ENTRIES);
  }

  private resizeAttributes(length: number): void {
    this.names = resized(this.names, length, FIRST_ATTRIBUTES);
    this.froms = resized(this.froms, length, FIRST_ATTRIBUTES);
    this.tos = resized(this.tos, length, FIRST_ATTRIBUTES);
    this.values = resized(this.values, length, FIRST_ATTRIBUTES);
  }
}

/**
 * Writes a DOM on a tape, for pages that a plugin has changed or parsed itself: texts, and elements with the attributes
 * that stages read. Without recursion: a DOM may nest to any depth.
 * @returns the node of each entry that is not an end
 */
export function flatten(root: PageNode, tape: Tape): PageNode[] {
  tape.begin(new Uint8Array(0), 0);
  const tags = new Map<string, number>();
  const nodes: PageNode[] = [];
  // Of the open nodes, by depth: the node, its next child, its entry (-1: it has none).
  const open: PageNode[] = [root];
  const nexts: number[] = [0];
  const entries: number[] = [-1];
  let depth = 0;
  while (depth >= 0) {
    const parent = open[depth]!;
    const child = parent.children?.[nexts[depth]!++];
    if (child === undefined) {
      if (entries[depth]! >= 0) tape.close(entries[depth]!, 0);
      open.length = depth--;
    } else if (child.type === 'text') {
      nodes[tape.length] = child;
      addText(tape, child.data ?? '', parent.type === 'cdata');
    } else if (child.children !== undefined) {
      depth++;
      open[depth] = child;
      nexts[depth] = 0;
      entries[depth] = -1;
      if (!isElement(child)) continue;
      nodes[tape.length] = child;
      entries[depth] = addElement(tape, child, tags);
    }
  }
  return nodes;
}

function addText(tape: Tape, data: string, isSection: boolean): void {
  const start = tape.reserve(0);
  tape.addText(start, tape.append(data), WIDE | VISIBLE | (isSection ? SECTION : 0));
}

function addElement(tape: Tape, { name = '', attribs = {} }: PageNode, tags: Map<string, number>): number {
  const first = tape.nextAttribute;
  for (const key in attribs) {
    const attribute = attributeNumber(key);
    if (attribute === 0) continue;
    const start = tape.reserve(0);
    tape.addAttribute(attribute, start, tape.append(String(attribs[key])));
  }
  let tag = knownTag(name) ?? tags.get(name);
  if (tag === undefined) {
    tag = tape.addTag(name);
    tags.set(name, tag);
  }
  return tape.addElement(tag, first, 0);
}

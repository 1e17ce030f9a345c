import {
  ATTRIBUTE_NAMES,
  attributeNumber,
  hashed,
  lowered,
  NameTable,
  TAG_NAMES,
  type Tape,
  VISIBLE,
  WIDE,
} from 'incrawl/bundled';
import { BYTE_CLASSES, ENDS_ATTRIBUTE_NAME, ENDS_TAG_NAME, ENDS_VALUE, LETTER, WHITE } from './byte-classes.ts';
import { Nesting, type TreeLimits } from './nesting.ts';
import { IN_TEXT, IN_TITLE } from './references.ts';
import { CHARACTER_ELEMENTS, HAS_CHARACTERS, nameOfKnown, TITLE } from './tags.ts';

const DASH = 0x2d;
const SECTION_MARK = Buffer.from('[CDATA[');
const SECTION_END = Buffer.from(']]>');

/** Reads markup other than tags: comments, declarations and instructions. Each method returns where text continues. */
class MarkScanner {
  private readonly nesting: Nesting;
  private isXhtml = false;
  private bytes!: Buffer;
  private length = 0;

  constructor(nesting: Nesting) {
    this.nesting = nesting;
  }

  /** @param bytes of the page, and one behind it */
  begin(bytes: Buffer, isXhtml: boolean): void {
    this.bytes = bytes;
    this.length = bytes.length - 1;
    this.isXhtml = isXhtml;
  }

  bogusComment(start: number): number {
    const end = this.bytes.indexOf(GREATER, start + 1);
    if (end < 0) return this.rest(start);
    this.nesting.comment(start, end);
    return end + 1;
  }

  /** @param at where its end is searched from */
  instruction(start: number, at: number): number {
    const end = at >= this.length ? -1 : this.bytes.indexOf(GREATER, at);
    if (end < 0) return this.rest(start);
    this.nesting.instruction(start - 1, end);
    return end + 1;
  }

  declaration(start: number): number {
    const { bytes } = this;
    const isDash = bytes[start] === DASH;
    if (isDash && bytes[start + 1] === DASH) return this.comment(start + 2);
    const sectionStart = start + SECTION_MARK.length;
    if (this.isXhtml && SECTION_MARK.equals(bytes.subarray(start, sectionStart))) return this.section(sectionStart);
    return this.instruction(start, start + (isDash ? 2 : 1));
  }

  /**
   * Ends with `--!>` too, an error that authors make and browsers forgive (WHATWG HTML, comment end bang state);
   * htmlparser2 reads on to the next `-->`.
   */
  private comment(start: number): number {
    const { bytes, length, nesting } = this;
    // The dashes that open it may be those that close it: `<!-->` and `<!--->`, but not `<!--!>`.
    const isShort = bytes[start] === GREATER || (bytes[start] === DASH && bytes[start + 1] === GREATER);
    const first = isShort ? start - 2 : start;
    for (let end = bytes.indexOf(GREATER, first); end >= 0; end = bytes.indexOf(GREATER, end + 1)) {
      const dashes = bytes[end - 1] === EXCLAMATION ? end - 3 : end - 2;
      if (dashes < first || bytes[dashes] !== DASH || bytes[dashes + 1] !== DASH) continue;
      nesting.comment(start, Math.max(start, dashes));
      return end + 1;
    }
    if (start < length) nesting.comment(start, length);
    return length;
  }

  private section(start: number): number {
    const end = this.bytes.indexOf(SECTION_END, start);
    if (end < 0 && start >= this.length) return this.length;
    this.nesting.section(start, end < 0 ? this.length : end, WIDE | VISIBLE);
    return end < 0 ? this.length : end + SECTION_END.length;
  }

  /** The page ends within markup: the rest is text, as in htmlparser2. */
  rest(start: number): number {
    if (start < this.length) this.nesting.text(start, this.length, WIDE | VISIBLE);
    return this.length;
  }
}

const QUOTE = 0x22;
const AMPERSAND = 0x26;
const APOSTROPHE = 0x27;
const SLASH = 0x2f;
const LESS = 0x3c;
const EQUALS = 0x3d;
const GREATER = 0x3e;
const EXCLAMATION = 0x21;
const QUESTION = 0x3f;
const END_MARK = Buffer.from('</');

const TAGS = new NameTable(TAG_NAMES);
const ATTRIBUTES = new NameTable(ATTRIBUTE_NAMES.slice(1));

/** In addition to WIDE and VISIBLE: the text may have a character reference. */
const REFERRING = 8;
/** What a byte reveals about the text that contains it. */
const TEXT_KINDS = textKinds();

function textKinds(): Uint8Array {
  const kinds = new Uint8Array(256).fill(VISIBLE, 0, 0x80).fill(VISIBLE | WIDE, 0x80);
  for (const white of ' \t\n\v\f\r') kinds[white.charCodeAt(0)] = 0;
  kinds[AMPERSAND] = VISIBLE | REFERRING;
  return kinds;
}

/** The byte ends an attribute value. */
const ENDS = 16;
const QUOTED = TEXT_KINDS.with(QUOTE, ENDS);
const SINGLY_QUOTED = TEXT_KINDS.with(APOSTROPHE, ENDS);
const UNQUOTED = TEXT_KINDS.map((kinds, byte) => ((BYTE_CLASSES[byte]! & ENDS_VALUE) === 0 ? kinds : ENDS));

/**
 * Reads HTML in UTF-8 in time proportional to its length and writes its nodes on a tape. The tokens are those of
 * htmlparser2, which runs every character through a state machine; only texts with unusual references go to it.
 */
export class MarkupScanner {
  private readonly nesting = new Nesting();
  private readonly marks = new MarkScanner(this.nesting);
  private tape!: Tape;
  /** The page. The tape has a `<` behind it, which ends every text. */
  private bytes!: Buffer;
  private length = 0;

  /**
   * @param page valid UTF-8
   * @param isXhtml `<x/>` is a whole element everywhere, and CDATA sections are text. In HTML a section is a bogus
   * comment that ends with the next `>` (WHATWG HTML, markup declaration open state).
   */
  scan(page: Uint8Array, tape: Tape, limits: TreeLimits, isXhtml: boolean): void {
    tape.begin(page, LESS);
    this.nesting.begin(tape, limits, isXhtml);
    this.tape = tape;
    this.length = page.length;
    this.bytes = tape.bytes.subarray(0, page.length + 1);
    this.marks.begin(this.bytes, isXhtml);
    this.scanAll();
    this.nesting.end(page.length);
  }

  private scanAll(): void {
    const { bytes, length, nesting } = this;
    // Start of the current text, the current place of the scan, and what the bytes between reveal about the text.
    let from = 0;
    let at = 0;
    let kinds = 0;
    while (!nesting.isFull) {
      for (let byte = bytes[at]!; byte !== LESS; byte = bytes[++at]!) kinds |= TEXT_KINDS[byte]!;
      if (at >= length) {
        this.text(from, length, kinds);
        return;
      }
      const start = this.startOfMarkup(at);
      if (start < 0) {
        at = -start;
        kinds |= VISIBLE;
        continue;
      }
      this.text(from, at, kinds);
      at = this.markup(bytes[at + 1]!, start);
      from = at;
      kinds = 0;
    }
  }

  /**
   * Where the name or the content of the markup at a `<` begins; if it is not markup, the negated place where the
   * search continues.
   */
  private startOfMarkup(open: number): number {
    const { bytes } = this;
    const byte = bytes[open + 1]!;
    if ((BYTE_CLASSES[byte]! & LETTER) !== 0) return open + 1;
    if (byte === SLASH) {
      const name = this.skipWhite(open + 2);
      return name === this.length || bytes[name] === GREATER ? -name : name;
    }
    return (byte === EXCLAMATION || byte === QUESTION) && open + 1 < this.length ? open + 2 : -open - 1;
  }

  // Each of these reads from a position and returns the position where text continues.

  /** @param first the byte behind the `<` */
  private markup(first: number, start: number): number {
    switch (first) {
      case SLASH:
        return (BYTE_CLASSES[this.bytes[start]!]! & LETTER) === 0 ? this.marks.bogusComment(start) : this.endTag(start);
      case QUESTION:
        return this.marks.instruction(start, start);
      case EXCLAMATION:
        return this.marks.declaration(start);
      default:
        return this.startTag(start);
    }
  }

  private text(from: number, to: number, kinds: number): void {
    if ((kinds & REFERRING) !== 0) this.decoded(from, to, IN_TEXT);
    else if (to > from) this.nesting.text(from, to, kinds);
  }

  private decoded(from: number, to: number, where: number): void {
    const { references } = this.nesting;
    const end = references.decode(this.tape, from, to, where, to < this.length);
    this.nesting.text(references.start, end, WIDE | VISIBLE);
  }

  private startTag(start: number): number {
    const { bytes, length, nesting } = this;
    let hash = 0;
    let all = 0;
    let at = start;
    for (; at < length; at++) {
      const byte = bytes[at]!;
      if ((BYTE_CLASSES[byte]! & ENDS_TAG_NAME) !== 0) break;
      all |= byte;
      hash = hashed(hash, lowered(byte));
    }
    if (at === length) return this.unfinishedName(start);
    const tag = nesting.startTag(all < 0x80 ? TAGS.find(bytes, start, at, hash) : -1, start, at);
    while (at < length) {
      const byte = bytes[at]!;
      if (byte === GREATER) {
        nesting.endOfStartTag(at);
        return HAS_CHARACTERS.has(tag) ? this.characters(at + 1, tag) : at + 1;
      }
      if (byte === SLASH) {
        at = this.skipWhite(at + 1);
        if (at === length) return this.unfinishedTag();
        if (bytes[at] !== GREATER) continue;
        nesting.selfClosing(at);
        return at + 1;
      }
      at = (BYTE_CLASSES[byte]! & WHITE) !== 0 ? at + 1 : this.attribute(at);
    }
    return length;
  }

  /** Returns the position where the tag continues; the end of the page if the attribute does not end. */
  private attribute(start: number): number {
    const { bytes, length, nesting } = this;
    let hash = 0;
    let all = 0;
    let at = start;
    do {
      const byte = bytes[at]!;
      all |= byte;
      hash = hashed(hash, lowered(byte));
      at++;
    } while (at < length && (BYTE_CLASSES[bytes[at]!]! & ENDS_ATTRIBUTE_NAME) === 0);
    // The lower-case name may be ASCII although the written one is not.
    const number =
      all < 0x80
        ? ATTRIBUTES.find(bytes, start, at, hash) + 1
        : attributeNumber(this.tape.string(start, at).toLowerCase());
    const name = number === 0 ? -start : number;
    at = this.skipWhite(at);
    if (at === length || bytes[at] !== EQUALS) {
      nesting.attribute(name, 0, 0);
      return at;
    }
    at = this.skipWhite(at + 1);
    const quote = at < length && (bytes[at] === QUOTE || bytes[at] === APOSTROPHE) ? bytes[at]! : 0;
    const from = quote === 0 ? at : at + 1;
    const valueKinds = quote === QUOTE ? QUOTED : quote === APOSTROPHE ? SINGLY_QUOTED : UNQUOTED;
    let kinds = 0;
    let to = from;
    for (; to < length && kinds < ENDS; to++) kinds |= valueKinds[bytes[to]!]!;
    if (kinds < ENDS) return length;
    to--;
    if ((kinds & REFERRING) === 0) nesting.attribute(name, from, to);
    else nesting.attributeWithReferences(name, from, to, quote === 0 ? '' : String.fromCharCode(quote));
    return quote === 0 ? to : to + 1;
  }

  /** Reads a raw text element and its end tag. */
  private characters(from: number, tag: number): number {
    const { bytes, length, nesting } = this;
    const name = nameOfKnown(tag);
    let end = from;
    let nameEnd = 0;
    do {
      end = bytes.indexOf(END_MARK, end);
      if (end < 0) break;
      nameEnd = end + 2 + name.length;
      if (nameEnd < length && (BYTE_CLASSES[bytes[nameEnd]!]! & ENDS_VALUE) !== 0) {
        if (bytes.toString('latin1', end + 2, nameEnd).toLowerCase() === name) break;
      }
      end += 2;
    } while (end < length);
    const to = end < 0 ? length : end;
    if (to > from) {
      if (tag === TITLE && bytes.subarray(from, to).includes(AMPERSAND)) this.decoded(from, to, IN_TITLE);
      else nesting.text(from, to, WIDE | VISIBLE);
    }
    if (to === length) return length;
    return this.endOfTag(tag, end + 2, nameEnd);
  }

  private endTag(start: number): number {
    const { bytes, length } = this;
    let hash = 0;
    let all = 0;
    let at = start;
    for (; at < length; at++) {
      const byte = bytes[at]!;
      if (byte === GREATER || (BYTE_CLASSES[byte]! & WHITE) !== 0) break;
      all |= byte;
      hash = hashed(hash, lowered(byte));
    }
    if (at === length) return length;
    return this.endOfTag(all < 0x80 ? TAGS.find(bytes, start, at, hash) : -1, start, at);
  }

  /** @param tag of the name in the range; -1: unknown */
  private endOfTag(tag: number, from: number, to: number): number {
    const { bytes, length, nesting } = this;
    const end = bytes[to] === GREATER ? to : bytes.indexOf(GREATER, to);
    nesting.endTag(tag, from, to, end < 0 ? length : end + 1);
    return end < 0 ? this.unfinishedTag() : end + 1;
  }

  // The page ends within markup: handled as htmlparser2 does.

  /** The last character of it becomes text. */
  private unfinishedTag(): number {
    let last = this.length - 1;
    while ((this.bytes[last]! & 0xc0) === 0x80) last--;
    return this.marks.rest(last);
  }

  private unfinishedName(start: number): number {
    const name = this.tape.string(start, this.length).toLowerCase();
    return CHARACTER_ELEMENTS.some((each) => each.startsWith(name)) ? this.marks.rest(start) : this.length;
  }

  private skipWhite(from: number): number {
    const { bytes, length } = this;
    let at = from;
    while (at < length && (BYTE_CLASSES[bytes[at]!]! & WHITE) !== 0) at++;
    return at;
  }
}

import { Tokenizer } from 'htmlparser2';
import type { Tape } from 'incrawl/bundled';
import { BYTE_CLASSES, LETTER } from './byte-classes.ts';

const FLATTEN_AT = 8192;

/**
 * Builds a string from many pieces in bounded memory: V8 keeps `a + b` as a tree of pieces, which for a megabyte of
 * single characters (entities) takes 32 megabytes until the string is read.
 */
class TextBuffer {
  private done = '';
  private tail = '';
  private pieces = 0;

  get isEmpty(): boolean {
    return this.tail === '' && this.done === '';
  }

  add(piece: string): void {
    if (this.tail === '') {
      this.tail = piece;
      return;
    }
    this.tail += piece;
    if (++this.pieces < FLATTEN_AT) return;
    // Reading a character makes the engine replace the tree by its text.
    this.tail.charCodeAt(0);
    this.done += this.tail;
    this.tail = '';
    this.pieces = 0;
  }

  /** The text so far; empties the buffer. */
  take(): string {
    const text = this.done === '' ? this.tail : this.done + this.tail;
    this.done = '';
    this.tail = '';
    this.pieces = 0;
    return text;
  }
}

const nothing = (): void => {};

/**
 * Decodes the character references of a text or an attribute value with htmlparser2's tokenizer, which knows all names
 * and their exceptions.
 */
export class EntityReader {
  private readonly tokenizer: Tokenizer;
  private readonly decoded = new TextBuffer();
  private source = '';

  constructor() {
    const add = (start: number, end: number): void => this.decoded.add(this.source.slice(start, end));
    const addCharacter = (codePoint: number): void => this.decoded.add(String.fromCodePoint(codePoint));
    this.tokenizer = new Tokenizer(
      { decodeEntities: true },
      {
        ontext: add,
        ontextentity: addCharacter,
        onattribdata: add,
        onattribentity: addCharacter,
        onattribend: nothing,
        onattribname: nothing,
        oncdata: nothing,
        onclosetag: nothing,
        oncomment: nothing,
        ondeclaration: nothing,
        onend: nothing,
        onopentagend: nothing,
        onopentagname: nothing,
        onprocessinginstruction: nothing,
        onselfclosingtag: nothing,
      },
    );
  }

  /**
   * @param isEnded whether markup follows: the meaning of a reference without semicolon depends on the next character
   */
  text(source: string, isEnded: boolean): string {
    return isEnded ? this.read(`${source}<`).slice(0, -1) : this.read(source);
  }

  /** @param source between the tags of a `title` */
  title(source: string): string {
    return this.read(`<title>${source}`);
  }

  /** @param quote around the value; empty: none */
  attribute(source: string, quote: string): string {
    return this.read(`<a b=${quote}${source}${quote}>`);
  }

  private read(source: string): string {
    this.source = source;
    this.tokenizer.reset();
    this.tokenizer.write(source);
    this.tokenizer.end();
    return this.decoded.take();
  }
}

/** The meaning of a reference depends on where it is. */
export const IN_TEXT = 0;
export const IN_TITLE = 1;
export const IN_VALUE = 2;

const AMPERSAND = 0x26;
const SEMICOLON = 0x3b;
const HASH = 0x23;
const LESS = 0x3c;
const EQUALS = 0x3d;
/** Longest reference that is looked up, bytes. */
const MAX_NAME = 12;
/** Decoded references kept; a hostile page has millions. */
const MAX_KNOWN = 5_000;

const encoder = new TextEncoder();

/**
 * Decodes character references to the end of a tape. References with a semicolon are looked up. A text with any other
 * reference goes to htmlparser2's tokenizer, which knows all exceptions.
 */
export class References {
  /** Where the text decoded last begins. */
  start = 0;
  private readonly reader = new EntityReader();
  private readonly known: readonly Map<string, Uint8Array>[] = [new Map(), new Map(), new Map()];

  /**
   * Decodes a range of the tape to its end, from {@link start} on.
   * @param isEnded whether markup follows a text
   * @param quote around a value; empty: none
   * @returns its end
   */
  decode(tape: Tape, from: number, to: number, where: number, isEnded: boolean, quote = ''): number {
    const start = tape.reserve(3 * (to - from) + 16);
    this.start = start;
    const end = this.lookUp(tape.bytes, from, to, start, where);
    if (end >= 0) {
      tape.commit(end);
      return end;
    }
    const source = tape.string(from, to);
    if (where === IN_TEXT) return tape.append(this.reader.text(source, isEnded));
    return tape.append(where === IN_TITLE ? this.reader.title(source) : this.reader.attribute(source, quote));
  }

  /** Writes the range from `out` on; returns the end, or -1 if a reference needs the tokenizer. */
  private lookUp(bytes: Buffer, from: number, to: number, start: number, where: number): number {
    let out = start;
    for (let at = from; at < to; at++) {
      const byte = bytes[at]!;
      if (byte !== AMPERSAND) {
        // The tokenizer reads a reference directly after it as text.
        if (byte === LESS && where === IN_TITLE) return -1;
        bytes[out++] = byte;
        continue;
      }
      if (at + 4 < to && isAmp(bytes, at + 1)) {
        bytes[out++] = byte;
        at += 4;
        continue;
      }
      const end = endOfName(bytes, at + 1, to);
      if (end === at + 1 && isPlainAmpersand(bytes[end]!, end < to, where)) bytes[out++] = byte;
      else if (end < to && end > at + 1 && bytes[end] === SEMICOLON) {
        const decoded = this.meaningOf(bytes.toString('latin1', at, end + 1), where);
        for (let i = 0; i < decoded.length; i++) bytes[out++] = decoded[i]!;
        at = end;
      } else return -1;
    }
    return out;
  }

  private meaningOf(name: string, where: number): Uint8Array {
    const known = this.known[where]!;
    const found = known.get(name);
    if (found !== undefined) return found;
    const { reader } = this;
    const text =
      where === IN_TEXT
        ? reader.text(name, true)
        : where === IN_TITLE
          ? reader.title(name)
          : reader.attribute(name, '"');
    const decoded = encoder.encode(text);
    if (known.size < MAX_KNOWN) known.set(name, decoded);
    return decoded;
  }
}

/** `amp;`, by far the most frequent. */
const isAmp = (bytes: Uint8Array, at: number): boolean =>
  bytes[at] === 0x61 && bytes[at + 1] === 0x6d && bytes[at + 2] === 0x70 && bytes[at + 3] === SEMICOLON;

/** An ampersand before a space, another ampersand, or a sign of a query is always a plain ampersand. */
function isPlainAmpersand(next: number, isInside: boolean, where: number): boolean {
  return isInside && (next === 0x20 || next === 0x0a || next === AMPERSAND || (next === EQUALS && where === IN_VALUE));
}

function endOfName(bytes: Uint8Array, from: number, to: number): number {
  const last = Math.min(to, from + MAX_NAME);
  let at = from;
  while (at < last) {
    const byte = bytes[at]!;
    if ((BYTE_CLASSES[byte]! & LETTER) === 0 && !(byte >= 0x30 && byte <= 0x39) && byte !== HASH) break;
    at++;
  }
  return at;
}

import { characterBefore, unitsIn, whiteSpaceAt } from './utf8.ts';

const SPACE = 0x20;
const FIRST_BYTES = 1 << 12;
/** Larger memory is not kept for the next text. */
const KEPT_BYTES = 1 << 18;

/** A text written piece by piece as UTF-8, with its length in UTF-16 units. One object serves many texts. */
export class Utf8Text {
  bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  /** Where it ends in `bytes`; it begins at 0. */
  end = 0;
  units = 0;

  clear(): void {
    if (this.bytes.length > KEPT_BYTES) this.bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
    this.end = 0;
    this.units = 0;
  }

  /** The whole text; valid until the next change. */
  get written(): Uint8Array {
    return this.bytes.subarray(0, this.end);
  }

  get isAscii(): boolean {
    return this.units === this.end;
  }

  /** Adds a character of ASCII. */
  addByte(byte: number): void {
    this.reserve(1);
    this.bytes[this.end++] = byte;
    this.units++;
  }

  /** Adds a range of bytes that has so many units. */
  add(source: Uint8Array, from: number, to: number, units: number): void {
    this.reserve(to - from);
    this.bytes.set(source.subarray(from, to), this.end);
    this.end += to - from;
    this.units += units;
  }

  /** Lone surrogates become U+FFFD. */
  addString(text: string): void {
    this.reserve(3 * text.length);
    this.end += this.bytes.write(text, this.end);
    this.units += text.length;
  }

  /** Adds words that stand one space apart, with a space before them unless the text begins with them. */
  addWords(source: Uint8Array, from: number, to: number, units: number): void {
    if (this.end > 0) this.addByte(SPACE);
    this.add(source, from, to, units);
  }

  /** As {@link addWords}, whatever white space stands between the words and around them. */
  addFolded(source: Uint8Array, from: number, to: number): void {
    this.reserve(to - from + 1);
    const { bytes } = this;
    const start = this.end;
    let end = start;
    let isApart = true;
    for (let at = from; at < to; ) {
      const white = whiteSpaceAt(source, at);
      if (white > 0) {
        isApart = true;
        at += white;
        continue;
      }
      if (isApart && end > 0) bytes[end++] = SPACE;
      isApart = false;
      bytes[end++] = source[at++]!;
    }
    this.end = end;
    this.units += unitsIn(bytes, start, end);
  }

  private reserve(more: number): void {
    if (this.end + more <= this.bytes.length) return;
    const longer = Buffer.allocUnsafeSlow(2 * (this.end + more));
    longer.set(this.bytes.subarray(0, this.end));
    this.bytes = longer;
  }
}

/** A range of bytes without white space at its ends. */
export function trimmed(bytes: Uint8Array, from: number, to: number): readonly [from: number, to: number] {
  let start = from;
  let end = to;
  while (start < end) {
    const white = whiteSpaceAt(bytes, start);
    if (white === 0) break;
    start += white;
  }
  while (start < end) {
    const last = characterBefore(bytes, end);
    if (whiteSpaceAt(bytes, last) === 0) break;
    end = last;
  }
  return [start, end];
}

/** UTF-8 (RFC 3629) for loops that must not allocate strings. Reading expects valid input. */

/** Bytes of the code point that begins with this byte. */
export function lengthFromLead(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

export function codePointAt(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!;
  if (lead < 0x80) return lead;
  const second = bytes[at + 1]! & 0x3f;
  if (lead < 0xe0) return ((lead & 0x1f) << 6) | second;
  const third = bytes[at + 2]! & 0x3f;
  if (lead < 0xf0) return ((lead & 0x0f) << 12) | (second << 6) | third;
  return ((lead & 0x07) << 18) | (second << 12) | (third << 6) | (bytes[at + 3]! & 0x3f);
}

/** Writes a code point at `at`; returns the end of it. */
export function putCodePoint(bytes: Uint8Array, at: number, codePoint: number): number {
  let end = at;
  if (codePoint < 0x80) {
    bytes[end++] = codePoint;
    return end;
  }
  if (codePoint < 0x800) bytes[end++] = 0xc0 | (codePoint >> 6);
  else {
    if (codePoint < 0x10000) bytes[end++] = 0xe0 | (codePoint >> 12);
    else {
      bytes[end++] = 0xf0 | (codePoint >> 18);
      bytes[end++] = 0x80 | ((codePoint >> 12) & 0x3f);
    }
    bytes[end++] = 0x80 | ((codePoint >> 6) & 0x3f);
  }
  bytes[end++] = 0x80 | (codePoint & 0x3f);
  return end;
}

/** UTF-16 units of a range. */
export function unitsIn(bytes: Uint8Array, from: number, to: number): number {
  let units = 0;
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    // Bytes within a character do not count; a four-byte lead counts as a pair.
    if ((byte & 0xc0) !== 0x80) units += byte < 0xf0 ? 1 : 2;
  }
  return units;
}

/** Where the character before a place begins. */
export function characterBefore(bytes: Uint8Array, at: number): number {
  let start = at - 1;
  while ((bytes[start]! & 0xc0) === 0x80) start--;
  return start;
}

/** Length in bytes of the white space (as in `\s`) that begins at a place; 0: none. */
function whiteSpaceAt(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!;
  if (lead < 0x80) return lead === 0x20 || (lead >= 0x09 && lead <= 0x0d) ? 1 : 0;
  if (lead === 0xc2) return bytes[at + 1] === 0xa0 ? 2 : 0;
  if (lead !== 0xe1 && lead !== 0xe2 && lead !== 0xe3 && lead !== 0xef) return 0;
  return isWideSpace(codePointAt(bytes, at)) ? 3 : 0;
}

const isWideSpace = (code: number): boolean => (code >= 0x2000 && code <= 0x200a) || WIDE_SPACES.includes(code);
const WIDE_SPACES = [0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff];

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

  /** Adds a range of bytes that has the given number of units. */
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

  /** Like {@link addWords}, for any white space between the words and around them. */
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

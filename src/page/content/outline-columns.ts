const FIRST_ROWS = 1_024;
/** Longer columns are not kept for the next page. */
const KEPT_ROWS = 1 << 14;

const column = (): Int32Array<ArrayBuffer> => new Int32Array(FIRST_ROWS);

/** The block elements of a page, in document order: a column for each fact. */
export class ElementColumns {
  tag = column();
  /** Its own signs: class words and element signs. */
  signs = column();
  /** Position of the parent element; -1: none. */
  parent = column();
  depth = column();
  /** Equal for elements of one name and class. */
  looks = column();
  /** Number of the group of siblings that look alike, and the size of that group. */
  group = column();
  alike = column();
  /** Characters of all visible text below it, and of its links; its blocks. */
  chars = column();
  linkChars = column();
  blocks = column();
}

/** The blocks of a page, in reading order. */
export class BlockColumns {
  /** Range of its text in {@link Outline.bytes}, and the characters (UTF-16 units) of that. */
  from = column();
  to = column();
  chars = column();
  /** Entry of its first text on the tape. */
  firstText = column();
  /** Whether it has characters beyond ASCII. */
  isWide = column();
  linkChars = column();
  links = column();
  /** Heading level 1 to 6; otherwise 0. */
  heading = column();
  /** Position of the innermost block element around it; -1: none. */
  holder = column();
  /** Visual width: a Chinese or Japanese character counts as three letters. */
  width = column();
  digits = column();
  /** Marks that end or divide sentences, Latin and full-width. */
  marks = column();
  lines = column();
  endsSentence = column();
}

/** Makes room for a row after the first `rows`. */
export function extend(table: ElementColumns | BlockColumns, rows: number): void {
  if (rows < table.chars.length) return;
  const columns = table as unknown as Record<string, Int32Array<ArrayBuffer>>;
  for (const [name, numbers] of Object.entries(columns)) {
    const longer = new Int32Array(2 * rows);
    longer.set(numbers);
    columns[name] = longer;
  }
}

/** Whether a table has grown so long that the next page gets a new one. */
export const isTooLong = ({ chars }: ElementColumns | BlockColumns): boolean => chars.length > KEPT_ROWS;

/** Text was counted for the innermost element only. Ancestors come before their descendants. */
export function addUp({ parent, chars, linkChars, blocks }: ElementColumns, count: number): void {
  for (let at = count - 1; at >= 0; at--) {
    const around = parent[at]!;
    if (around < 0) continue;
    chars[around]! += chars[at]!;
    linkChars[around]! += linkChars[at]!;
    blocks[around]! += blocks[at]!;
  }
}

/** Counts the siblings that look like each element. */
export function countAlike({ parent, looks, group, alike }: ElementColumns, count: number): void {
  const groups = new Map<number, number>();
  const counts = new Int32Array(count);
  for (let at = 0; at < count; at++) {
    const key = (parent[at]! + 1) * 0x10_0000 + looks[at]!;
    const found = groups.get(key) ?? groups.size;
    if (found === groups.size) groups.set(key, found);
    counts[found]!++;
    group[at] = found;
  }
  for (let at = 0; at < count; at++) alike[at] = counts[group[at]!]!;
}

const SPACE = 0x20;
const FEED = 0x0a;
/** Larger buffers are not kept for the next page, bytes. */
const KEPT_BYTES = 1 << 21;

/** What a byte or a character of three bytes is; 0: nothing special. */
const WHITE = 1;
const DIGIT = 2;
const MARK = 3;
const BROAD = 4;
const BRACKET = 5;
const MARKS = '.!?,:;…。！？，、；：।॥،؛؟۔։።។།';
const ASCII_KINDS = kindsOf(128);
/** By character code. Few pages use characters beyond the first 128, so the table is seldom touched. */
const KINDS = kindsOf(0x1_0000);

function kindsOf(size: number): Uint8Array {
  const kinds = new Uint8Array(size);
  for (const white of '\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff') kinds[white.charCodeAt(0)] = WHITE;
  kinds.fill(WHITE, 0x2000, 0x200b);
  kinds.fill(DIGIT, 0x30, 0x3a);
  for (const mark of MARKS) kinds[mark.charCodeAt(0)] = MARK;
  kinds['['.charCodeAt(0)] = BRACKET;
  kinds.fill(BROAD, 0x3040, 0x3100);
  kinds.fill(BROAD, 0x3400, 0xa000);
  kinds.fill(BROAD, 0xf900, 0xfb00);
  return kinds;
}

const ENDS: ReadonlySet<number> = new Set([...'.!?…)"。！？”’」』»“।॥؟۔։።។།'].map((mark) => mark.charCodeAt(0)));

/** The texts of the blocks as UTF-8, a line each, white space folded, with counts of the current one. */
export class BlockText {
  bytes = Buffer.alloc(0);
  /** Of the current block. */
  start = 0;
  end = 0;
  isWide = false;
  digits = 0;
  marks = 0;
  /** Whether it has an opening bracket. */
  hasBracket = false;
  /** Bytes beyond the first of each UTF-16 unit, and the width of broad characters beyond one. */
  private extraBytes = 0;
  private extraWidth = 0;
  private feeds = 0;
  private wantsSpace = false;

  /** @param size of all texts to come, bytes, with a space and a line end for each */
  begin(size: number): void {
    if (this.bytes.length < size || this.bytes.length > Math.max(KEPT_BYTES, 2 * size)) {
      this.bytes = Buffer.allocUnsafeSlow(size + (size >> 2));
    }
    this.start = 0;
    this.end = 0;
    this.startBlock();
  }

  /** Begins the next block after the current one. */
  startBlock(): void {
    if (!this.isEmpty) this.bytes[this.end++] = FEED;
    this.start = this.end;
    this.empty();
  }

  private empty(): void {
    this.end = this.start;
    this.isWide = false;
    this.digits = 0;
    this.marks = 0;
    this.hasBracket = false;
    this.extraBytes = 0;
    this.extraWidth = 0;
    this.feeds = 0;
    this.wantsSpace = false;
  }

  get isEmpty(): boolean {
    return this.end === this.start;
  }

  /** UTF-16 units of the current block. */
  get chars(): number {
    return this.end - this.start - this.extraBytes;
  }

  get width(): number {
    return this.chars + this.extraWidth;
  }

  get lines(): number {
    return this.feeds + 1;
  }

  /** White space between two texts. */
  space(): void {
    if (!this.isEmpty) this.wantsSpace = true;
  }

  /** A line break within a paragraph keeps the block together. */
  breakLine(): void {
    if (!this.isEmpty) {
      this.bytes[this.end++] = FEED;
      this.feeds++;
    }
    this.wantsSpace = false;
  }

  /** Adds a range of ASCII; returns its characters, white space folded and trimmed. */
  addAscii(source: Uint8Array, from: number, to: number): number {
    const { bytes } = this;
    let at = from;
    while (at < to && ASCII_KINDS[source[at]!] === WHITE) at++;
    if (at > from) this.space();
    if (at === to) return 0;
    let end = this.end;
    if (this.wantsSpace) bytes[end++] = SPACE;
    const start = end;
    let isApart = false;
    let digits = 0;
    let marks = 0;
    for (; at < to; at++) {
      const byte = source[at]!;
      const kind = ASCII_KINDS[byte]!;
      if (kind === WHITE) {
        isApart = true;
        continue;
      }
      if (isApart) {
        bytes[end++] = SPACE;
        isApart = false;
      }
      bytes[end++] = byte;
      if (kind === 0) continue;
      if (kind === DIGIT) digits++;
      else if (kind === MARK) marks++;
      else this.hasBracket = true;
    }
    this.digits += digits;
    this.marks += marks;
    this.end = end;
    this.wantsSpace = isApart;
    return end - start;
  }

  /** Like {@link addAscii}, for UTF-8. */
  addWide(source: Uint8Array, from: number, to: number): number {
    const { bytes } = this;
    let end = this.end;
    // Where the text begins; -1: not yet.
    let start = -1;
    const extraBefore = this.extraBytes;
    let isApart = this.wantsSpace;
    for (let at = from; at < to; ) {
      const lead = source[at]!;
      const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
      const kind = length === 4 ? 0 : KINDS[characterAt(source, at, length)]!;
      if (kind === WHITE) {
        isApart = true;
        at += length;
        continue;
      }
      if (isApart && (start >= 0 || end > this.start)) bytes[end++] = SPACE;
      isApart = false;
      if (start < 0) start = end;
      for (const next = at + length; at < next; at++) bytes[end++] = source[at]!;
      if (length > 1) this.isWide = true;
      this.extraBytes += length === 4 ? 2 : length - 1;
      if (kind === DIGIT) this.digits++;
      else if (kind === MARK) this.marks++;
      else if (kind === BROAD) this.extraWidth += 2;
      else if (kind === BRACKET) this.hasBracket = true;
    }
    this.end = end;
    this.wantsSpace = isApart && end > this.start;
    return start < 0 ? 0 : end - start - (this.extraBytes - extraBefore);
  }

  /** Cuts ranges, given as pairs of start and end, out of the current block; the text around them stays apart. */
  cut(ranges: readonly number[]): void {
    if (ranges.length === 0) return;
    const { start, isWide } = this;
    const whole = Uint8Array.from(this.bytes.subarray(start, this.end));
    this.empty();
    let from = 0;
    for (let i = 0; i < ranges.length; i += 2) {
      this.addLines(whole, from, ranges[i]! - start, isWide);
      this.space();
      from = ranges[i + 1]! - start;
    }
    this.addLines(whole, from, whole.length, isWide);
  }

  private addLines(source: Uint8Array, from: number, to: number, isWide: boolean): void {
    for (let at = from; at <= to; at++) {
      if (at < to && source[at] !== FEED) continue;
      if (isWide) this.addWide(source, from, at);
      else this.addAscii(source, from, at);
      if (at < to) this.breakLine();
      from = at + 1;
    }
  }

  /** Removes line breaks from the end. */
  trim(): void {
    while (!this.isEmpty && this.bytes[this.end - 1] === FEED) {
      this.end--;
      this.feeds--;
    }
  }

  get endsSentence(): boolean {
    const { bytes, end } = this;
    if (bytes[end - 1]! < 0x80) return ENDS.has(bytes[end - 1]!);
    if (bytes[end - 2]! >= 0xc0 && bytes[end - 2]! < 0xe0) return ENDS.has(characterAt(bytes, end - 2, 2));
    return bytes[end - 3]! >= 0xe0 && bytes[end - 3]! < 0xf0 && ENDS.has(characterAt(bytes, end - 3, 3));
  }
}

/** The code of a character of up to three bytes. */
function characterAt(bytes: Uint8Array, at: number, length: number): number {
  const lead = bytes[at]!;
  if (length === 1) return lead;
  if (length === 2) return ((lead & 0x1f) << 6) | (bytes[at + 1]! & 0x3f);
  return ((lead & 0x0f) << 12) | ((bytes[at + 1]! & 0x3f) << 6) | (bytes[at + 2]! & 0x3f);
}

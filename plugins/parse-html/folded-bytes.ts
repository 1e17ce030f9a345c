import { cutText } from 'incrawl/plugin';

const SPACE = 0x20;
const FEED = 0x0a;
/** First and second byte of a no-break space. */
const NO_BREAK = 0xc2;
const NO_BREAK_SECOND = 0xa0;
/** A larger buffer is not kept for the next text. */
const KEPT_BYTES = 1 << 20;

/** Collects text as rendered: white space collapsed to one space, one line break where a block begins or ends. */
export class FoldedBytes {
  private readonly size: number;
  private bytes: Buffer;
  private end = 0;
  /** UTF-16 units of the text, and their maximum. */
  private units = 0;
  private maxUnits = 0;
  /** What must precede the next character; 0: nothing. */
  private gap = 0;
  private isWide = false;

  /** @param size of most texts, bytes */
  constructor(size: number) {
    this.size = size;
    this.bytes = Buffer.allocUnsafeSlow(size);
  }

  /** Empties it for the next text. */
  begin(maxUnits: number): void {
    this.end = 0;
    this.units = 0;
    this.maxUnits = maxUnits;
    this.gap = 0;
    this.isWide = false;
    if (this.bytes.length > KEPT_BYTES) this.bytes = Buffer.allocUnsafeSlow(this.size);
  }

  get text(): string {
    const text = this.bytes.toString(this.isWide ? 'utf8' : 'latin1', 0, this.end);
    return cutText(text, this.maxUnits);
  }

  space(): void {
    if (this.gap === 0) this.gap = SPACE;
  }

  breakLine(): void {
    this.gap = FEED;
  }

  /** Adds a range of UTF-8. */
  add(source: Uint8Array, from: number, to: number): void {
    if (this.units >= this.maxUnits) return;
    this.reserve(to - from + 1);
    const { bytes, end: start } = this;
    let { end, gap } = this;
    let extraBytes = 0;
    let all = 0;
    for (let at = from; at < to; at++) {
      const byte = source[at]!;
      if (byte <= SPACE && (byte === SPACE || (byte >= 0x09 && byte <= 0x0d))) {
        if (gap === 0) gap = SPACE;
        continue;
      }
      if (byte >= 0x80) {
        if (byte === NO_BREAK && source[at + 1] === NO_BREAK_SECOND) {
          if (gap === 0) gap = SPACE;
          at++;
          continue;
        }
        // Two units for four bytes, one for fewer.
        if (byte < 0xc0) extraBytes++;
        else if (byte >= 0xf0) extraBytes--;
        all |= byte;
      }
      if (gap !== 0) {
        if (end > 0) bytes[end++] = gap;
        gap = 0;
      }
      bytes[end++] = byte;
    }
    if (all >= 0x80) this.isWide = true;
    this.units += end - start - extraBytes;
    this.end = end;
    this.gap = gap;
  }

  private reserve(more: number): void {
    if (this.end + more <= this.bytes.length) return;
    const longer = Buffer.allocUnsafeSlow(2 * this.bytes.length + more);
    this.bytes.copy(longer, 0, 0, this.end);
    this.bytes = longer;
  }
}

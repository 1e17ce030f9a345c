import { VISIBLE, WIDE } from 'incrawl/plugin';
import type { Nesting } from './nesting.ts';

const DASH = 0x2d;
const GREATER = 0x3e;
const EXCLAMATION = 0x21;
const SECTION_MARK = Buffer.from('[CDATA[');
const SECTION_END = Buffer.from(']]>');

/** Reads markup that is no tag: comments, declarations and instructions. Each method returns where text continues. */
export class MarkScanner {
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

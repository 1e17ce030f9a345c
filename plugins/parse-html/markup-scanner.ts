import { EntityReader } from './entity-reader.ts';
import type { MarkupEvents } from './markup-events.ts';

/** Raw text elements; in a `title` references are decoded. */
export const CHARACTER_ELEMENTS: readonly string[] = ['script', 'style', 'title', 'textarea', 'xmp'];

const QUOTE = 0x22;
const AMPERSAND = '&';
const APOSTROPHE = 0x27;
const SLASH = 0x2f;
const EQUALS = 0x3d;
const GREATER = 0x3e;
const EXCLAMATION = 0x21;
const QUESTION = 0x3f;
const BRACKET = 0x5b;
const DASH = 0x2d;
const SECTION = 'CDATA[';
/**
 * The second one is an error that authors make and browsers forgive (WHATWG HTML, comment end bang state); htmlparser2
 * reads on to the next `-->`.
 */
const COMMENT_END = /--!?>/g;

const WHITE = 1;
const LETTER = 2;
const ENDS_TAG_NAME = 4;
const ENDS_ATTRIBUTE_NAME = 8;
const ENDS_VALUE = 16;
const CLASSES = characterClasses();

function characterClasses(): Uint8Array {
  const classes = new Uint8Array(128);
  for (const white of ' \t\n\f\r') {
    classes[white.charCodeAt(0)] = WHITE | ENDS_TAG_NAME | ENDS_ATTRIBUTE_NAME | ENDS_VALUE;
  }
  classes[SLASH] = ENDS_TAG_NAME | ENDS_ATTRIBUTE_NAME;
  classes[GREATER] = ENDS_TAG_NAME | ENDS_ATTRIBUTE_NAME | ENDS_VALUE;
  classes[EQUALS] = ENDS_ATTRIBUTE_NAME;
  for (let upper = 0x41; upper <= 0x5a; upper++) classes[upper] = classes[upper + 0x20] = LETTER;
  return classes;
}

/** No character (NaN) is of none. */
const isOf = (code: number, kinds: number): boolean => code < 128 && ((CLASSES[code] as number) & kinds) !== 0;

/**
 * Reads HTML in time proportional to its length. It reports the same tokens as htmlparser2's tokenizer, which runs
 * every character through a state machine; here `indexOf` finds the next `<` or quote, and only texts with references
 * go to that tokenizer.
 */
export function scanMarkup(content: string, events: MarkupEvents): void {
  new MarkupScanner(content, events).scan();
}

class MarkupScanner {
  private readonly content: string;
  private readonly events: MarkupEvents;
  private readonly length: number;
  private entities: EntityReader | null = null;
  /** The first `&` at or after the last position searched. */
  private nextAmpersand = -1;

  constructor(content: string, events: MarkupEvents) {
    this.content = content;
    this.events = events;
    this.length = content.length;
  }

  scan(): void {
    const { content, events, length } = this;
    // Start of the current text, and the position from which the next `<` is searched.
    let from = 0;
    let at = 0;
    while (from < length && !events.isFull) {
      const open = content.indexOf('<', at);
      if (open < 0) {
        this.text(from, length);
        return;
      }
      const next = this.markupAt(from, open);
      at = Math.abs(next);
      if (next > 0) from = next;
    }
  }

  /**
   * Reports the text from `from` on and the markup at `open`. Returns the start of the next text, or, negated, the
   * position to search on from when `open` is no markup.
   */
  private markupAt(from: number, open: number): number {
    const code = this.content.charCodeAt(open + 1);
    if (isOf(code, LETTER)) {
      this.text(from, open);
      return this.openTag(open + 1);
    }
    if (code === SLASH) {
      const name = this.skipWhite(open + 2);
      const first = this.content.charCodeAt(name);
      if (name === this.length || first === GREATER) return -name;
      this.text(from, open);
      return isOf(first, LETTER) ? this.closeTag(name) : this.bogusComment(name);
    }
    if (code !== EXCLAMATION && code !== QUESTION) return -open - 1;
    this.text(from, open);
    return code === QUESTION ? this.instruction(open + 2) : this.declaration(open + 2);
  }

  /** Reports the text between two positions. */
  private text(from: number, to: number): void {
    if (to <= from) return;
    const data = this.content.slice(from, to);
    this.events.text(this.hasReference(from, to) ? this.decoder().text(data, to < this.length) : data);
  }

  private hasReference(from: number, to: number): boolean {
    if (this.nextAmpersand < from) {
      const found = this.content.indexOf(AMPERSAND, from);
      this.nextAmpersand = found < 0 ? this.length : found;
    }
    return this.nextAmpersand < to;
  }

  private decoder(): EntityReader {
    this.entities ??= new EntityReader();
    return this.entities;
  }

  // Each of these reads from a position and returns the position where text continues.

  private openTag(start: number): number {
    const { content, events, length } = this;
    let at = this.skipUntil(ENDS_TAG_NAME, start + 1);
    if (at === length) return this.unfinishedName(start);
    const characters = events.openTagName(start, at);
    while (at < length) {
      const code = content.charCodeAt(at);
      if (code === GREATER) {
        events.openTagEnd(at);
        return characters === null ? at + 1 : this.characters(at + 1, characters);
      }
      if (code === SLASH) {
        at = this.skipWhite(at + 1);
        if (at === length) return this.unfinishedTag();
        if (content.charCodeAt(at) !== GREATER) continue;
        events.selfClosingTag(at);
        return at + 1;
      }
      at = isOf(code, WHITE) ? at + 1 : this.attribute(at);
    }
    return length;
  }

  /** Returns the position where the tag continues; the end of the content where the attribute does not end. */
  private attribute(start: number): number {
    const { content, events, length } = this;
    const nameEnd = this.skipUntil(ENDS_ATTRIBUTE_NAME, start + 1);
    const sign = this.skipWhite(nameEnd);
    if (content.charCodeAt(sign) !== EQUALS) {
      events.attribute(start, nameEnd, '');
      return sign;
    }
    const at = this.skipWhite(sign + 1);
    const quote = content.charCodeAt(at);
    const isQuoted = quote === QUOTE || quote === APOSTROPHE;
    const from = isQuoted ? at + 1 : at;
    const end = isQuoted ? content.indexOf(quote === QUOTE ? '"' : "'", from) : this.skipUntil(ENDS_VALUE, from);
    if (end < 0 || end === length) return length;
    const data = content.slice(from, end);
    const written = isQuoted ? content.charAt(at) : '';
    events.attribute(start, nameEnd, this.hasReference(from, end) ? this.decoder().attribute(data, written) : data);
    return isQuoted ? end + 1 : end;
  }

  /** Reads a raw text element and its end tag. */
  private characters(from: number, name: string): number {
    const { content, events, length } = this;
    let end = from;
    let nameEnd = 0;
    do {
      end = content.indexOf('</', end);
      if (end < 0) break;
      nameEnd = end + 2 + name.length;
      if (isOf(content.charCodeAt(nameEnd), WHITE) || content.charCodeAt(nameEnd) === GREATER) {
        if (content.slice(end + 2, nameEnd).toLowerCase() === name) break;
      }
      end += 2;
    } while (end < length);
    const to = end < 0 ? length : end;
    const data = content.slice(from, to);
    if (data !== '') events.text(name === 'title' && this.hasReference(from, to) ? this.decoder().title(data) : data);
    if (to === length) return length;
    events.closeTag(end + 2, nameEnd);
    return this.afterEndTag(nameEnd);
  }

  private closeTag(name: number): number {
    const { content, events, length } = this;
    let end = name + 1;
    while (end < length && content.charCodeAt(end) !== GREATER && !isOf(content.charCodeAt(end), WHITE)) end++;
    if (end === length) return length;
    events.closeTag(name, end);
    return this.afterEndTag(end);
  }

  private afterEndTag(at: number): number {
    const end = this.content.indexOf('>', at);
    return end < 0 ? this.unfinishedTag() : end + 1;
  }

  private bogusComment(start: number): number {
    const end = this.content.indexOf('>', start + 1);
    if (end < 0) return this.rest(start);
    this.events.comment(this.content.slice(start, end));
    return end + 1;
  }

  private instruction(start: number): number {
    const end = this.content.indexOf('>', start);
    if (end < 0) return this.rest(start);
    this.events.processingInstruction(this.content.slice(start, end));
    return end + 1;
  }

  private declaration(start: number): number {
    const { content, events, length } = this;
    const first = content.charCodeAt(start);
    const second = content.charCodeAt(start + 1);
    if (first === DASH && second === DASH) return this.comment(start + 2);
    let at = start + (first === DASH ? 2 : 1);
    if (first === BRACKET) {
      let known = 0;
      while (known < SECTION.length && content.charCodeAt(at) === SECTION.charCodeAt(known)) {
        known++;
        at++;
      }
      if (known === SECTION.length) return this.section(at);
    }
    const end = at >= length ? -1 : content.indexOf('>', at);
    if (end < 0) return this.rest(start);
    events.declaration(content.slice(start, end));
    return end + 1;
  }

  private comment(start: number): number {
    const { content, events, length } = this;
    // The dashes that open it may be those that close it: `<!-->` and `<!--->`, but not `<!--!>`.
    const isShort = content.startsWith('>', start) || content.startsWith('->', start);
    COMMENT_END.lastIndex = isShort ? start - 2 : start;
    const found = COMMENT_END.exec(content);
    if (found === null && start >= length) return length;
    events.comment(content.slice(start, found === null ? length : Math.max(start, found.index)));
    return found === null ? length : COMMENT_END.lastIndex;
  }

  private section(start: number): number {
    const end = this.content.indexOf(']]>', start);
    if (end < 0 && start >= this.length) return this.length;
    this.events.cdata(this.content.slice(start, end < 0 ? this.length : end));
    return end < 0 ? this.length : end + 3;
  }

  // The content ends within markup: handled as htmlparser2 does.

  private rest(start: number): number {
    if (start < this.length) this.events.text(this.content.slice(start));
    return this.length;
  }

  private unfinishedTag(): number {
    return this.rest(this.length - 1);
  }

  private unfinishedName(start: number): number {
    const name = this.content.slice(start).toLowerCase();
    return CHARACTER_ELEMENTS.some((each) => each.startsWith(name)) ? this.rest(start) : this.length;
  }

  private skipWhite(from: number): number {
    let at = from;
    while (isOf(this.content.charCodeAt(at), WHITE)) at++;
    return at;
  }

  private skipUntil(kinds: number, from: number): number {
    const { content, length } = this;
    let at = from;
    while (at < length && !isOf(content.charCodeAt(at), kinds)) at++;
    return at;
  }
}

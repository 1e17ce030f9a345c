import { asciiSlice, utf8Slice } from '../tape/interned-texts.ts';
import { ATTRIBUTE, KNOWN_TAGS, TagTable, tagNumber } from '../tape/name-table.ts';
import { CLOSE, type Tape, TEXT } from '../tape/tape.ts';
import {
  createKindReader,
  createSignReader,
  HIDDEN,
  NOSCRIPT,
  type PageKinds,
  SILENT,
  type SignReader,
} from './element-signs.ts';
import { addUp, BlockColumns, BlockText, countAlike, ElementColumns, extend, isTooLong } from './outline-columns.ts';

/**
 * A shortcode of WordPress (Shortcode API) that no plugin replaced, in UTF-8 read as Latin-1: `[gallery ids="1,2"]`,
 * `[vc_row]`, `[/caption]`. Names in brackets are common in texts, so one without quoted or numeric attributes counts
 * only if its name is known: those of the core, of forms, and of page builders, which share prefixes.
 */
const SHORTCODE = shortcode();
/** A longer match is text. */
const MAX_BYTES = 2_000;

function shortcode(): RegExp {
  // Values end at the first quote, so that the work is linear.
  const curly = '\\xe2\\x80[\\x98-\\x9f\\xb2\\xb3]';
  const quoted = `"[^"\\[\\]]*"|'[^'\\[\\]]*'|${curly}(?:(?!${curly})[^\\[\\]])*${curly}`;
  const value = `(?:${quoted}|\\d[\\d,.%]*(?=[\\s/\\]]))`;
  const name =
    '(?:(?:wp_)?caption|gallery|playlist|embed|audio|video|contact-form(?:-7)?|gravityform|wpforms|mc4wp_form|rev_slider|(?:vc|et_pb|fusion|av|su|nectar|mk|elementor|woocommerce|siteorigin)[_-]\\w+)';
  const attributes = `(?:\\s+[A-Za-z_][\\w-]*=${value})+`;
  return new RegExp(`\\[(?:/${name}|${name}(?:\\s[^\\[\\]]*)?|[A-Za-z][\\w-]*${attributes})\\s*/?\\]`, 'g');
}

/**
 * The shortcodes in a range of UTF-8, as pairs of start and end.
 * @param from where a bracket opens
 */
function shortcodeRanges(bytes: Buffer, from: number, to: number): readonly number[] {
  const ranges: number[] = [];
  for (const match of asciiSlice(bytes, from, to).matchAll(SHORTCODE)) {
    if (match[0].length <= MAX_BYTES) ranges.push(from + match.index, from + match.index + match[0].length);
  }
  return ranges;
}

/** The block elements of a page and the runs of text between two block boundaries. Valid until the next page. */
export interface Outline {
  readonly blockCount: number;
  readonly blocks: BlockColumns;
  readonly elementCount: number;
  readonly elements: ElementColumns;
  readonly kinds: PageKinds;
  /** The page declares what it is, and that is not an article. */
  readonly isOtherKind: boolean;
  /** The texts of the blocks. */
  readonly bytes: Buffer;
  /** The text of `title`, UTF-8. */
  readonly title: Buffer;
  textOf(block: number): string;
}

interface OutlineLimits {
  readonly maxBlocks: number;
  readonly maxChars: number;
}

const OUTLINE_LIMITS: OutlineLimits = Object.freeze({ maxBlocks: 20_000, maxChars: 2_000_000 });

const PLAIN = 0;
const ANCHOR = 1;
const BLOCK = 2;
/** Elements that begin a block: the level of a heading plus one, 1 for others. */
const LEVELS = new TagTable(
  'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main nav noscript ol p pre section summary table tbody tfoot thead tr td th ul'
    .split(' ')
    .map((name) => [name, /^h[1-6]$/.test(name) ? Number(name[1]) + 1 : 1]),
);
/** Code is shown as it is written. */
const CODE = TagTable.of(['code', 'kbd', 'pre', 'samp', 'tt', 'var']);
const A = tagNumber('a');
const BR = tagNumber('br');
const BODY = tagNumber('body');
const HTML = tagNumber('html');
const META = tagNumber('meta');
const SCRIPT = tagNumber('script');
const TITLE = tagNumber('title');

/** Reads outlines; reusable for any number of pages, one at a time. */
export class OutlineReader implements Outline {
  elements = new ElementColumns();
  blocks = new BlockColumns();
  elementCount = 0;
  blockCount = 0;
  kinds: PageKinds = { article: false, product: false, forum: false, list: false, manual: false };
  title: Buffer = Buffer.alloc(0);
  isOtherKind = false;
  private readonly limits: OutlineLimits;
  private readonly signsOf: SignReader;
  private readonly text = new BlockText();
  private readKind = createKindReader();
  /** Numbers of the pairs of class and tag. */
  private readonly looks = new Map<number, number>();
  /** For the open elements: what they are, by depth; the level of the enclosing heading, by depth of block elements. */
  private open = new Uint8Array(1_024);
  private headings = new Uint8Array(1_024);
  private depth = 0;
  /** The current block element; -1: none. */
  private holder = -1;
  /** Number of open elements that hide their content, and of open anchors. */
  private hiding = 0;
  private anchors = 0;
  private linkChars = 0;
  private links = 0;
  /** Entry of the first text of the current block; -1: it has none yet. */
  private firstText = -1;
  /** Whether the current block has inline code. */
  private hasCode = false;
  private total = 0;

  constructor(signsOf: SignReader = createSignReader(), limits: OutlineLimits = OUTLINE_LIMITS) {
    this.limits = limits;
    this.signsOf = signsOf;
  }

  get bytes(): Buffer {
    return this.text.bytes;
  }

  textOf(block: number): string {
    const { isWide, from, to } = this.blocks;
    const slice = isWide[block] === 1 ? utf8Slice : asciiSlice;
    return slice(this.bytes, from[block]!, to[block]!);
  }

  /** @param onText receives each text and its block */
  read(tape: Tape, onText?: (text: number, block: number) => void): Outline {
    this.begin(tape);
    for (let at = 0; at < tape.length; at++) {
      const kind = tape.kindAt(at);
      if (kind === TEXT) {
        this.addText(tape, at);
        onText?.(at, this.blockCount);
      } else if (kind === CLOSE) this.leave();
      else if (kind >= 0) at = this.enter(tape, at, kind);
    }
    this.flush();
    addUp(this.elements, this.elementCount);
    countAlike(this.elements, this.elementCount);
    this.kinds = this.readKind.kinds();
    this.isOtherKind = this.readKind.isOther();
    this.title = Buffer.from(this.readKind.title());
    return this;
  }

  private begin(tape: Tape): void {
    this.text.begin(tape.size + 2 * tape.length);
    if (isTooLong(this.elements)) this.elements = new ElementColumns();
    if (isTooLong(this.blocks)) this.blocks = new BlockColumns();
    this.elementCount = 0;
    this.blockCount = 0;
    this.readKind = createKindReader();
    this.looks.clear();
    this.depth = 0;
    this.holder = -1;
    this.hiding = 0;
    this.anchors = 0;
    this.firstText = -1;
    this.hasCode = false;
    this.total = 0;
  }

  private addText(tape: Tape, at: number): void {
    const from = tape.textStart(at);
    let to = tape.textEnd(at);
    const left = this.limits.maxChars - this.total;
    if (to - from > left) {
      if (left <= 0) return;
      to = endOfUnits(tape.bytes, from, to, left);
    }
    if (this.blockCount >= this.limits.maxBlocks) return;
    const { text } = this;
    if (!tape.isVisible(at)) {
      if (to > from) text.space();
      return;
    }
    const chars = tape.isWide(at) ? text.addWide(tape.bytes, from, to) : text.addAscii(tape.bytes, from, to);
    this.total += chars;
    if (this.anchors > 0) this.linkChars += chars;
    if (this.firstText < 0) this.firstText = at;
  }

  /** Where the walk continues: at the element, or at its end if its content is skipped. */
  private enter(tape: Tape, at: number, tag: number): number {
    const signs = this.signsOf(tape, at);
    if ((signs & SILENT) !== 0) {
      if (tag === META || tag === SCRIPT || tag === TITLE) this.readKind(tape, at);
      return tape.closeOf(at);
    }
    if (tag === HTML || tag === BODY) this.readKind(tape, at);
    if (tag === BR) {
      this.text.breakLine();
      return tape.closeOf(at);
    }
    const level = LEVELS.at(tag);
    if (level > 0) this.startElement(tape, at, signs, level - 1);
    else if ((signs & HIDDEN) !== 0) return tape.closeOf(at);
    else {
      this.hasCode ||= CODE.has(tag);
      this.startInline(tag === A);
    }
    return at;
  }

  private startInline(isAnchor: boolean): void {
    this.openAs(isAnchor ? ANCHOR : PLAIN);
    if (!isAnchor) return;
    this.anchors++;
    this.links++;
  }

  private startElement(tape: Tape, at: number, signs: number, level: number): void {
    this.flush();
    const { elements, holder: parent } = this;
    const element = this.elementCount++;
    extend(elements, element);
    const depth = parent < 0 ? 0 : elements.depth[parent]! + 1;
    elements.tag[element] = tape.kindAt(at);
    elements.signs[element] = signs;
    elements.parent[element] = parent;
    elements.depth[element] = depth;
    elements.looks[element] = this.looksOf(tape, at);
    elements.chars[element] = 0;
    elements.linkChars[element] = 0;
    elements.blocks[element] = 0;
    if (depth === this.headings.length) this.headings = longer(this.headings);
    this.headings[depth] = level === 0 && depth > 0 ? this.headings[depth - 1]! : level;
    if ((signs & (HIDDEN | NOSCRIPT)) !== 0) this.hiding++;
    this.holder = element;
    this.openAs(BLOCK);
  }

  private openAs(kind: number): void {
    if (this.depth === this.open.length) this.open = longer(this.open);
    this.open[this.depth++] = kind;
  }

  private leave(): void {
    const kind = this.open[--this.depth];
    if (kind === ANCHOR) this.anchors--;
    else if (kind === BLOCK) {
      this.flush();
      const { elements, holder } = this;
      if ((elements.signs[holder]! & (HIDDEN | NOSCRIPT)) !== 0) this.hiding--;
      this.holder = elements.parent[holder]!;
    }
  }

  private looksOf(tape: Tape, at: number): number {
    const classes = tape.find(at, ATTRIBUTE.class);
    const key = (classes < 0 ? 0 : tape.internedAt(classes) + 1) * KNOWN_TAGS + tape.kindAt(at);
    const known = this.looks.get(key);
    if (known !== undefined) return known;
    const looks = this.looks.size;
    this.looks.set(key, looks);
    return looks;
  }

  /** Ends the current block. */
  private flush(): void {
    const { text, blocks, elements, holder } = this;
    if (text.hasBracket && !this.isCode()) text.cut(shortcodeRanges(text.bytes, text.start, text.end));
    if (!text.isEmpty) {
      text.trim();
      const block = this.blockCount++;
      extend(blocks, block);
      const { chars } = text;
      const linkChars = Math.min(this.linkChars, chars);
      blocks.from[block] = text.start;
      blocks.to[block] = text.end;
      blocks.chars[block] = chars;
      blocks.firstText[block] = this.firstText;
      blocks.isWide[block] = Number(text.isWide);
      blocks.linkChars[block] = linkChars;
      blocks.links[block] = this.links;
      blocks.heading[block] = holder < 0 ? 0 : this.headings[elements.depth[holder]!]!;
      blocks.holder[block] = holder;
      blocks.width[block] = text.width;
      blocks.digits[block] = text.digits;
      blocks.marks[block] = text.marks;
      blocks.lines[block] = text.lines;
      blocks.endsSentence[block] = Number(text.endsSentence);
      if (this.hiding === 0 && holder >= 0) {
        elements.chars[holder]! += chars;
        elements.linkChars[holder]! += linkChars;
        elements.blocks[holder]!++;
      }
    }
    text.startBlock();
    this.linkChars = 0;
    this.links = 0;
    this.firstText = -1;
    this.hasCode = false;
  }

  private isCode(): boolean {
    const { tag, parent } = this.elements;
    for (let at = this.holder; at >= 0; at = parent[at]!) if (CODE.has(tag[at]!)) return true;
    return this.hasCode;
  }
}

function longer(before: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const numbers = new Uint8Array(2 * before.length);
  numbers.set(before);
  return numbers;
}

/** Where the given number of UTF-16 units of a range ends, one less if that would split a pair. */
function endOfUnits(bytes: Uint8Array, from: number, to: number, units: number): number {
  let left = units;
  let at = from;
  while (at < to) {
    const lead = bytes[at]!;
    left -= lead < 0xf0 ? 1 : 2;
    if (left < 0) break;
    at += lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  }
  return at;
}

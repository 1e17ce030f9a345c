// page/: pages, for their own sake: tape, main content, metadata, text, likeness, difference, Markdown.

import { type BlockType, nthOf, type PageBlock, placeOf } from './page-block.ts';
import { asciiSlice, resized, utf8Slice } from './tape/interned-texts.ts';
import type { Tape } from './tape/tape.ts';
import { Utf8Text } from './text/utf8.ts';

const FIRST_ROWS = 256;
/** Number of blocks on either side of a range that are evidence about it. */
const BESIDE = 3;
/** Longer columns are not kept for the next page. */
const KEPT_ROWS = 1 << 12;

const TYPES: readonly BlockType[] = ['title', 'main', 'topic', 'noise'];
export const MAIN_BLOCK = TYPES.indexOf('main');
export const TOPIC_BLOCK = TYPES.indexOf('topic');
export const NOISE_BLOCK = TYPES.indexOf('noise');

/** A block as it is added; its text stands in the bytes of the table. */
export interface BlockRow {
  readonly type: number;
  /** Number of its path, and its own number among the blocks of that. */
  readonly path: number;
  readonly nth: number;
  /** Entry of its first text on the tape, and of the first one behind it. */
  readonly firstText: number;
  readonly endText: number;
  readonly from: number;
  readonly to: number;
  readonly chars: number;
  readonly isWide: number;
  readonly isFolded: number;
  readonly links: number;
  readonly anchorChars: number;
  readonly certainty: number;
}

/**
 * The reported blocks of a page, as columns over UTF-8. {@link PageBlock} objects are made from it on demand. One table
 * serves many pages.
 */
export class BlockTable {
  count = 0;
  /** Where the blocks were found; `null`: they came as objects. */
  tape: Tape | null = null;
  /** Whether the page declares itself an article rather than a list. */
  isArticle = false;
  /** For each block: its type, the number of its place, and its text (range, UTF-16 units, and what is known of it). */
  types = column();
  places = column();
  starts = column();
  ends = column();
  chars = column();
  /** Whether it has characters beyond ASCII. */
  isWide = column();
  /** UTF-16 units inside links. */
  anchorChars = column();
  /** Whether its only white space is single spaces between words. */
  isFolded = column();
  /** Probability of being content; NaN: none was given. */
  certainty = new Float64Array(FIRST_ROWS);
  /** Its number among the blocks with the same path, from 1. */
  nths = column();
  readonly placeNames: string[] = [];
  /** Texts inside links, of topic blocks. */
  readonly anchorTexts: string[] = [];
  private firstTexts = column();
  private endTexts = column();
  private paths = column();
  private links = column();
  private readonly pathNames: string[] = [];
  private readonly placeOfPath: number[] = [];
  private readonly placeNumbers = new Map<string, number>();
  private readonly texts = new Utf8Text();

  /** The texts. */
  get bytes(): Buffer {
    return this.texts.bytes;
  }

  /** UTF-16 units of the main content outside links; of all blocks where none is main content. */
  get ownChars(): number {
    let [main, all, hasMain] = [0, 0, false];
    for (let at = 0; at < this.count; at++) {
      const own = this.chars[at]! - this.anchorChars[at]!;
      all += own;
      if (this.types[at] !== MAIN_BLOCK) continue;
      main += own;
      hasMain = true;
    }
    return hasMain ? main : all;
  }

  clear(): void {
    if (this.types.length > KEPT_ROWS) this.resize(0);
    this.count = 0;
    this.tape = null;
    this.isArticle = false;
    this.texts.clear();
    this.placeNames.length = 0;
    this.anchorTexts.length = 0;
    this.pathNames.length = 0;
    this.placeOfPath.length = 0;
    this.placeNumbers.clear();
  }

  /** The bytes that the rows added next refer to. */
  setBytes(bytes: Uint8Array, length: number): void {
    this.texts.clear();
    this.texts.add(bytes, 0, length, 0);
  }

  /** Assigns a number to a path, without the count of a block; the caller keeps it. */
  addPath(path: string): number {
    this.placeOfPath.push(this.placeNumber(placeOf(path)));
    return this.pathNames.push(path) - 1;
  }

  add(row: BlockRow): void {
    const at = this.put(row.type, this.placeOfPath[row.path]!, row.certainty);
    this.starts[at] = row.from;
    this.ends[at] = row.to;
    this.chars[at] = row.chars;
    this.isWide[at] = row.isWide;
    this.isFolded[at] = row.isFolded;
    this.paths[at] = row.path;
    this.nths[at] = row.nth;
    this.firstTexts[at] = row.firstText;
    this.endTexts[at] = row.endText;
    this.links[at] = row.links;
    this.anchorChars[at] = row.anchorChars;
  }

  /** Becomes a table of other blocks. */
  fill(blocks: readonly PageBlock[]): this {
    this.clear();
    for (const { type, path, text, certainty, links, anchorChars, anchorText } of blocks) {
      const at = this.put(TYPES.indexOf(type), this.placeNumber(placeOf(path)), certainty ?? Number.NaN);
      this.starts[at] = this.texts.end;
      this.texts.addString(text);
      this.ends[at] = this.texts.end;
      this.chars[at] = text.length;
      this.isWide[at] = Number(this.ends[at]! - this.starts[at]! > text.length);
      this.isFolded[at] = 0;
      this.nths[at] = nthOf(path);
      this.links[at] = links;
      this.anchorChars[at] = anchorChars;
      if (type === 'topic') this.anchorTexts.push(anchorText ?? '');
    }
    return this;
  }

  /** The added blocks, as objects. */
  list(): PageBlock[] {
    return Array.from({ length: this.count }, (_, at) => ({
      type: TYPES[this.types[at]!]!,
      path: `${this.pathNames[this.paths[at]!]}:${this.nths[at]}`,
      text: this.textOf(at),
      links: this.links[at]!,
      anchorChars: this.anchorChars[at]!,
      certainty: this.certainty[at]!,
    }));
  }

  textOf(at: number): string {
    const slice = this.isWide[at] === 1 ? utf8Slice : asciiSlice;
    return slice(this.bytes, this.starts[at]!, this.ends[at]!);
  }

  /**
   * The greatest certainty among the blocks that have a text between two entries of {@link tape}. NaN: there is no such
   * block, or the blocks were not found on a tape.
   */
  certaintyWithin(from: number, to: number): number {
    if (this.tape === null) return Number.NaN;
    const first = this.blockAt(from);
    let greatest = Number.NaN;
    for (let at = first; at < this.count && this.firstTexts[at]! < to; at++) {
      if (this.endTexts[at]! > from && !(this.certainty[at]! <= greatest)) greatest = this.certainty[at]!;
    }
    return greatest;
  }

  /**
   * The mean certainty of the blocks on either side of a range between two entries of {@link tape}; NaN: the blocks
   * were not found on a tape.
   */
  certaintyBeside(from: number, to: number): number {
    if (this.tape === null) return Number.NaN;
    let before = this.blockAt(from);
    if (before < this.count && this.endTexts[before]! <= from) before++;
    let behind = before;
    while (behind < this.count && this.firstTexts[behind]! < to) behind++;
    return (this.meanCertainty(before - BESIDE, before) + this.meanCertainty(behind, behind + BESIDE)) / 2;
  }

  /** The last block that begins at or before an entry: blocks are in the order of their texts. 0 where none does. */
  private blockAt(entry: number): number {
    let low = 0;
    for (let high = this.count; low < high; ) {
      const middle = (low + high) >>> 1;
      if (this.firstTexts[middle]! <= entry) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  private meanCertainty(from: number, to: number): number {
    const first = Math.max(0, from);
    const end = Math.min(this.count, to);
    let sum = 0;
    for (let at = first; at < end; at++) sum += this.certainty[at]!;
    return first < end ? sum / (end - first) : 0;
  }

  /** Texts of the main blocks, a line each. */
  mainText(): string {
    const lines: string[] = [];
    for (let at = 0; at < this.count; at++) if (this.types[at] === MAIN_BLOCK) lines.push(this.textOf(at));
    return lines.join('\n');
  }

  private placeNumber(name: string): number {
    const known = this.placeNumbers.get(name);
    if (known !== undefined) return known;
    const number = this.placeNames.push(name) - 1;
    this.placeNumbers.set(name, number);
    return number;
  }

  private put(type: number, place: number, certainty: number): number {
    const at = this.count++;
    if (at === this.types.length) this.resize(2 * at);
    this.types[at] = type;
    this.places[at] = place;
    this.certainty[at] = certainty;
    return at;
  }

  private resize(rows: number): void {
    const longer = (before: Int32Array): Int32Array<ArrayBuffer> => resized(before, rows, FIRST_ROWS);
    this.types = longer(this.types);
    this.places = longer(this.places);
    this.starts = longer(this.starts);
    this.ends = longer(this.ends);
    this.chars = longer(this.chars);
    this.isWide = longer(this.isWide);
    this.isFolded = longer(this.isFolded);
    this.paths = longer(this.paths);
    this.nths = longer(this.nths);
    this.firstTexts = longer(this.firstTexts);
    this.endTexts = longer(this.endTexts);
    this.links = longer(this.links);
    this.anchorChars = longer(this.anchorChars);
    const certainty = new Float64Array(this.types.length);
    if (rows > 0) certainty.set(this.certainty);
    this.certainty = certainty;
  }
}

function column(): Int32Array<ArrayBuffer> {
  return new Int32Array(FIRST_ROWS);
}

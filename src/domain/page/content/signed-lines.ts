import { type BlockTable, MAIN_BLOCK, TOPIC_BLOCK } from '../block-table.ts';
import { isProse, isSteadyLine } from '../prose/prose-lines.ts';
import { unitsIn } from '../text/utf8.ts';
import { trimmed, Utf8Text } from '../text/utf8-text.ts';
import { certainBlocks, isJudged, LEAST_CERTAIN, LEAST_PROSE } from './signed-text.ts';

/** Blocks with more of their text inside links are teasers and adverts as a rule. */
const MOST_ANCHORS = 0.15;

const FEED = 0x0a;

/**
 * The lines of a page that are signed, ranges of UTF-8. All of them are signed for change: the content without blocks
 * that are less certain than the rest or link, and without short lines that are no sentences. For likeness, only
 * those that are sentences. Where a choice leaves too little, as on lists, product pages and tables, it is not made.
 */
export class SignedLines {
  bytes: Uint8Array = new Uint8Array(0);
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  private readonly isSentence: boolean[] = [];
  private readonly isSteady: boolean[] = [];
  private readonly units: number[] = [];
  private readonly whole = new Utf8Text();
  private isProse = false;

  get count(): number {
    return this.starts.length;
  }

  /** Whether a line is signed for likeness, too. */
  isLiked(line: number): boolean {
    return !this.isProse || this.isSentence[line]!;
  }

  /** Takes the lines of a page: of its main content, or of all its text without one. */
  fill(page: { readonly mainText: string | null; readonly text: string }, blocks: BlockTable): this {
    this.clear();
    const hasTopics = blocks.types.subarray(0, blocks.count).includes(TOPIC_BLOCK);
    const isFound = page.mainText !== null && isJudged(blocks);
    if (!hasTopics && isFound && this.addBlocks(blocks, LEAST_CERTAIN * page.mainText.length)) this.choose();
    else {
      // Anchors of topic blocks are signed by themselves, so that their text is not counted a second time.
      this.addText(hasTopics ? blocks.mainText() : (page.mainText ?? page.text));
      if (!hasTopics) this.choose();
    }
    return this;
  }

  private clear(): void {
    this.starts.length = 0;
    this.ends.length = 0;
    this.isSentence.length = 0;
    this.isSteady.length = 0;
    this.units.length = 0;
    this.isProse = false;
  }

  private addText(text: string): void {
    const { whole } = this;
    whole.clear();
    whole.addString(text);
    this.bytes = whole.bytes;
    this.addLines(0, whole.end, !whole.isAscii);
  }

  /** Takes the main blocks, the sure ones if they are enough. Returns false where all are fewer than `least`. */
  private addBlocks(blocks: BlockTable, least: number): boolean {
    const { count, types, chars, anchorChars } = blocks;
    const isSure = certainBlocks(blocks);
    let main = 0;
    let sure = 0;
    for (let at = 0; at < count; at++) {
      if (types[at] !== MAIN_BLOCK) continue;
      main += chars[at]! + 1;
      if (anchorChars[at]! > MOST_ANCHORS * chars[at]!) isSure[at] = 0;
      if (isSure[at] === 1) sure += chars[at]! + 1;
    }
    if (main - 1 < least) return false;
    this.bytes = blocks.bytes;
    for (let at = 0; at < count; at++) {
      if (types[at] === MAIN_BLOCK && (sure - 1 < least || isSure[at] === 1)) this.addBlock(blocks, at);
    }
    return true;
  }

  private addBlock({ starts, ends, chars, isWide, isFolded }: BlockTable, at: number): void {
    if (isFolded[at] === 1) this.addLine(starts[at]!, ends[at]!, chars[at]!);
    else this.addLines(starts[at]!, ends[at]!, isWide[at] === 1);
  }

  private addLines(from: number, to: number, isWide: boolean): void {
    const { bytes } = this;
    for (let start = from, end = from; start < to; start = ++end) {
      while (end < to && bytes[end] !== FEED) end++;
      const [first, last] = trimmed(bytes, start, end);
      if (first < last) this.addLine(first, last, isWide ? unitsIn(bytes, first, last) : last - first);
    }
  }

  private addLine(from: number, to: number, units: number): void {
    this.starts.push(from);
    this.ends.push(to);
    this.units.push(units);
    const isSentence = isProse(this.bytes, from, to, units);
    this.isSentence.push(isSentence);
    this.isSteady.push(isSentence || isSteadyLine(this.bytes, from, to, units));
  }

  /** Leaves lines out, unless those that stay are too few. */
  private choose(): void {
    const { starts, ends, units, isSentence, isSteady } = this;
    let all = 0;
    let kept = 0;
    let prose = 0;
    for (let line = 0; line < units.length; line++) {
      const size = units[line]! + 1;
      all += size;
      if (isSentence[line]!) prose += size;
      if (isSteady[line]!) kept += size;
    }
    this.isProse = prose > 0 && prose >= LEAST_PROSE * all;
    if (kept === all || kept < LEAST_PROSE * all) return;
    let count = 0;
    for (let line = 0; line < units.length; line++) {
      if (!isSteady[line]!) continue;
      starts[count] = starts[line]!;
      ends[count] = ends[line]!;
      isSentence[count] = isSentence[line]!;
      count++;
    }
    starts.length = count;
    ends.length = count;
    isSentence.length = count;
  }
}

import { type BlockTable, MAIN_BLOCK, TOPIC_BLOCK } from '../block-table.ts';
import { addProse, addProseOf, isProse, isSteadyLine } from '../prose/prose.ts';
import { trimmed, Utf8Text, unitsIn } from '../text/utf8.ts';

/** If the certain blocks are a smaller share of the main content, all of it is signed. */
const LEAST_CERTAIN = 0.3;
/** If prose is a smaller share of the rest, lines of all kinds are signed. */
const LEAST_PROSE = 0.6;
/** Blocks whose odds of being content are this many times below those of the typical block are left out. */
const DOUBT = 8;

const FEED = 0x0a;
const content = new Utf8Text();
const prose = new Utf8Text();

/**
 * The signed text of a page, UTF-8: the part of its main content (or of all its text without one) that stays the same
 * when nothing was edited. Valid until the next call.
 *
 * Extraction takes doubtful blocks so as to lose nothing. A signature leaves them out, or another advert would make
 * another page. So it skips blocks less certain than the rest, and lines without sentences: bylines, dates, counters,
 * teasers, captions. Where that leaves too little, as on lists, product pages and tables, everything is signed.
 */
export function signedText(
  page: { readonly mainText: string | null; readonly text: string },
  blocks: BlockTable,
): Uint8Array {
  const whole = page.mainText ?? page.text;
  if (page.mainText !== null && isJudged(blocks)) {
    const isCertain = certainBlocks(blocks);
    if (charsOf(blocks, isCertain) >= LEAST_CERTAIN * whole.length) return proseOrAll(blocks, isCertain);
  }
  content.clear();
  content.addString(whole);
  prose.clear();
  addProse(prose, content.bytes, 0, content.end, !content.isAscii);
  return prose.units >= LEAST_PROSE * content.units ? prose.written : content.written;
}

/** UTF-16 units of the chosen blocks, one line each. */
function charsOf({ count, chars }: BlockTable, isChosen: Uint8Array): number {
  let sum = -1;
  for (let at = 0; at < count; at++) if (isChosen[at] === 1) sum += chars[at]! + 1;
  return Math.max(0, sum);
}

function proseOrAll(blocks: BlockTable, isChosen: Uint8Array): Uint8Array {
  prose.clear();
  for (let at = 0; at < blocks.count; at++) if (isChosen[at] === 1) addProseOf(blocks, at, prose);
  if (isProseSigned(prose.units, blocks, isChosen)) return prose.written;
  content.clear();
  for (let at = 0; at < blocks.count; at++) {
    if (isChosen[at] === 0) continue;
    if (content.end > 0) content.addByte(FEED);
    content.add(blocks.bytes, blocks.starts[at]!, blocks.ends[at]!, blocks.chars[at]!);
  }
  return content.written;
}

/** Whether the sentences of these blocks, `units` long, are signed, rather than all their text. */
export const isProseSigned = (units: number, blocks: BlockTable, isChosen: Uint8Array): boolean =>
  units >= LEAST_PROSE * charsOf(blocks, isChosen);

/** Whether the blocks have known certainties. */
function isJudged({ count, certainty }: BlockTable): boolean {
  for (let at = 0; at < count; at++) if (!Number.isNaN(certainty[at])) return true;
  return false;
}

/** 1 for blocks of the main content about as certain as the typical one; for all of them without probabilities. */
export function certainBlocks({ count, types, chars, certainty }: BlockTable): Uint8Array {
  const main: number[] = [];
  let total = 0;
  for (let at = 0; at < count; at++) {
    if (types[at] !== MAIN_BLOCK) continue;
    main.push(at);
    total += chars[at]!;
  }
  const certaintyOf = (at: number): number => certainty[at]! || 0;
  const least = oddsOf(typicalCertainty(main, chars, certaintyOf, total)) / DOUBT;
  const isCertain = new Uint8Array(count);
  for (const at of main) isCertain[at] = Number(oddsOf(certaintyOf(at)) >= least);
  return isCertain;
}

/** A nearly certain block must not make its neighbours doubtful. */
const MOST = 0.98;
const oddsOf = (certainty: number): number => certainty / (1 - Math.min(certainty, MOST));

/** The median over characters, by partition around a pivot (C. A. R. Hoare 1961) rather than by sorting all. */
function typicalCertainty(
  main: readonly number[],
  chars: Int32Array,
  certaintyOf: (at: number) => number,
  total: number,
): number {
  let rows = main;
  let left = total / 2;
  while (rows.length > 0) {
    const pivot = certaintyOf(rows[rows.length >>> 1]!);
    const above: number[] = [];
    const below: number[] = [];
    let charsAbove = 0;
    let charsAlike = 0;
    for (const at of rows) {
      const certainty = certaintyOf(at);
      if (certainty > pivot) {
        above.push(at);
        charsAbove += chars[at]!;
      } else if (certainty < pivot) below.push(at);
      else charsAlike += chars[at]!;
    }
    if (above.length > 0 && left <= charsAbove) {
      rows = above;
      continue;
    }
    left -= charsAbove + charsAlike;
    if (left <= 0) return pivot;
    rows = below;
  }
  return 0;
}

/** Blocks with a larger share of their text inside links are usually teasers and adverts. */
const MOST_ANCHORS = 0.15;

/**
 * The lines of a page that are signed, as ranges of UTF-8. All of them are signed for change: the content without
 * blocks that are less certain than the rest or that link, and without short lines that are not sentences. Only
 * sentences are signed for likeness. A choice that leaves too little, as on lists, product pages and tables, is not
 * made.
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
      // Anchors of topic blocks are signed separately, so their text is left out here.
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

  /**
   * Takes the main blocks, or only the certain ones if they are enough. Returns false if even all are fewer than
   * `least`.
   */
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

  /** Leaves lines out unless too few would stay. */
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

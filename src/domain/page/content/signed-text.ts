import { type BlockTable, MAIN_BLOCK } from '../block-table.ts';
import { addProse, addProseOf } from '../prose/prose-lines.ts';
import { Utf8Text } from '../text/utf8-text.ts';

/** Certain blocks must be this share of the main content, or all of it is signed. */
export const LEAST_CERTAIN = 0.3;
/** Prose must be this share of the rest, or lines of all kinds are signed. */
export const LEAST_PROSE = 0.6;
/** Blocks whose odds to be content are this many times below those of the typical one are left out. */
const DOUBT = 8;

const FEED = 0x0a;
const content = new Utf8Text();
const prose = new Utf8Text();

/**
 * The signed text of a page, UTF-8: the part of its main content (or of all its text without one) that stays when
 * nothing was edited. Valid until the next call.
 *
 * Extraction takes doubtful blocks to lose nothing; a signature leaves them out, or another advert makes another page.
 * So blocks less certain than the rest are skipped, and lines without sentences: bylines, dates, counters, teasers,
 * captions. Where that leaves too little, as on lists, product pages and tables, everything is signed.
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

/** Of some blocks, a line each. */
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

/** Whether the sentences of these blocks are signed, so many units, or all their text. */
export const isProseSigned = (units: number, blocks: BlockTable, isChosen: Uint8Array): boolean =>
  units >= LEAST_PROSE * charsOf(blocks, isChosen);

/** Whether certainties of the blocks are known. */
export function isJudged({ count, certainty }: BlockTable): boolean {
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

/** An all but certain block must not make those beside it doubtful. */
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

// domain/page/content/: main content, found by decision trees over blocks of text.
import { TAIL, textHints } from '../text/text-hints.ts';
import type { PageShape } from './page-shape.ts';
import type { Outline } from './text-blocks.ts';

/** Context of a block beyond its neighbours, for the features. */
export interface BlockContext {
  /** See text-hints.ts. */
  readonly hints: Uint8Array;
  /** Blocks of the page with the same text (compared by its beginning), itself included. */
  readonly copies: Float64Array;
  /**
   * Number of blocks since the last label that announces a tail, and to the nearest long text before and after;
   * bounded.
   */
  readonly sinceTail: Float64Array;
  readonly sinceLong: Float64Array;
  readonly untilLong: Float64Array;
  /** Share of the page's long texts before it, and after it. */
  readonly longBefore: Float64Array;
  readonly longAfter: Float64Array;
  /** Width of the text outside links from its heading to the next. */
  readonly section: Float64Array;
}

const FAR = 30;
const LONG = 120;

/** Texts with an equal beginning of this length count as equal. */
const BEGIN = 80;

export function blockContext({ blocks }: Outline, { shapes, isShown }: PageShape): BlockContext {
  const { length } = blocks;
  const hints = new Uint8Array(length);
  const copies = new Float64Array(length);
  const sinceTail = new Float64Array(length);
  const sinceLong = new Float64Array(length);
  const untilLong = new Float64Array(length);
  const longBefore = new Float64Array(length);
  const longAfter = new Float64Array(length);
  const section = new Float64Array(length);
  /** Where each beginning was first met, the same of each block, and how many there are. */
  const places = new Map<string, number>();
  const first = new Int32Array(length);
  const counts = new Int32Array(length);
  let lastTail = -FAR;
  let lastLong = -FAR;
  let long = 0;
  let sectionStart = 0;
  let sectionWidth = 0;
  for (let i = 0; i < length; i++) {
    const { text, linkChars, heading } = blocks[i]!;
    const shape = shapes[i]!;
    const { width } = shape;
    hints[i] = textHints(text, shape);
    const begin = text.length > BEGIN ? text.slice(0, BEGIN) : text;
    const known = places.get(begin);
    first[i] = known ?? i;
    if (known === undefined) places.set(begin, i);
    counts[first[i]!]!++;
    if ((hints[i]! & TAIL) !== 0) lastTail = i;
    sinceTail[i] = Math.min(FAR, i - lastTail);
    sinceLong[i] = Math.min(FAR, i - lastLong);
    longBefore[i] = long;
    const isLong = width > LONG && linkChars < 0.3 * text.length && isShown[i] === 1;
    if (isLong) {
      lastLong = i;
      long += width;
    }
    if (heading > 0 && (i === 0 || blocks[i - 1]!.heading === 0)) {
      section.fill(sectionWidth, sectionStart, i);
      sectionStart = i;
      sectionWidth = 0;
    }
    sectionWidth += width * (1 - linkChars / text.length);
  }
  section.fill(sectionWidth, sectionStart, length);
  lastLong = length + FAR;
  for (let i = length - 1; i >= 0; i--) {
    const { text, linkChars } = blocks[i]!;
    const { width } = shapes[i]!;
    copies[i] = counts[first[i]!]!;
    untilLong[i] = Math.min(FAR, lastLong - i);
    const isLong = width > LONG && linkChars < 0.3 * text.length && isShown[i] === 1;
    if (isLong) lastLong = i;
    longAfter[i] = Math.max(0, long - longBefore[i]! - (isLong ? width : 0)) / (long + 1);
    longBefore[i]! /= long + 1;
  }
  return { hints, copies, sinceTail, sinceLong, untilLong, longBefore, longAfter, section };
}

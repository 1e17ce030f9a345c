// page/prose/: which lines are prose, and where the prose and the headline of a page stand.

import type { BlockTable } from '../block-table.ts';
import { HIDDEN, NOSCRIPT } from '../content/element-signs.ts';
import type { Outline } from '../content/outline.ts';
import type { PageShape } from '../content/page-shape.ts';
import { TagTable } from '../tape/name-table.ts';
import { characterBefore, codePointAt, lengthFromLead, trimmed, type Utf8Text, unitsIn } from '../text/utf8.ts';

/** Narrower blocks may occur in any title. */
const LEAST_TITLE_WIDTH = 12;

/** 1 for each block that is a part of the page's title: most often the headline. */
export function titledBlocks({ blockCount, blocks, bytes, title }: Outline): Uint8Array {
  const titled = new Uint8Array(blockCount);
  const starts = TITLE_STARTS.fill(0);
  for (let at = 0; at + 2 < title.length; at++) starts[startAt(title, at)] = 1;
  for (let i = 0; i < blockCount; i++) {
    const from = blocks.from[i]!;
    const to = blocks.to[i]!;
    if (blocks.width[i]! < LEAST_TITLE_WIDTH || to - from > title.length || starts[startAt(bytes, from)] === 0)
      continue;
    titled[i] = Number(title.includes(bytes.subarray(from, to)));
  }
  return titled;
}

/** A table of what the title contains saves most searches. */
const STARTS = 4_096;
const TITLE_STARTS = new Uint8Array(STARTS);
const startAt = (bytes: Uint8Array, at: number): number =>
  (bytes[at]! ^ (bytes[at + 1]! << 3) ^ (bytes[at + 2]! << 6)) & (STARTS - 1);

/** Longer lines are prose even without a full stop. */
const LONG_LINE = 200;
/** Shorter lines are no prose. */
const LEAST_LINE = 15;
const LEAST_WIDE_LINE = 8;
/** A short line with digits usually holds a date, a price or a count. */
const SHORT_LINE = 40;

const FEED = 0x0a;
/** From here on characters are broad; the leads of their bytes are not below. */
const FIRST_BROAD = 0x2e80;

const codesOf = (characters: string): ReadonlySet<number> =>
  new Set([...characters].map((character) => character.codePointAt(0) as number));
/** Ends of sentences in current scripts, and the characters that may follow them. */
const ENDS = codesOf('.!?…:;。！？．：；।۔؟։።။។།');
const CLOSERS = codesOf('"\'”’»)]」』）】');

/** Shorter lines that are not sentences are usually dates, counters, bylines and captions, UTF-16 units. */
const LEAST_STEADY_LINE = 60;

/** Decides whether to take a line, given as a range without white space at its ends and its UTF-16 units. */
type LineRule = (bytes: Uint8Array, from: number, to: number, units: number) => boolean;

/** {@link addProse} of a block. */
export function addProseOf(
  { bytes, starts, ends, chars, isWide, isFolded }: BlockTable,
  at: number,
  prose: Utf8Text,
  isTaken: LineRule = isProse,
): void {
  const from = starts[at]!;
  const to = ends[at]!;
  if (isFolded[at] === 0) addProse(prose, bytes, from, to, isWide[at] === 1, isTaken);
  else if (isTaken(bytes, from, to, chars[at]!)) addLine(prose, bytes, from, to, chars[at]!);
}

/**
 * Adds the lines of a range that are sentences, or that another rule takes, each ended by a line feed. `isWide`: the
 * range has characters beyond ASCII.
 */
export function addProse(
  prose: Utf8Text,
  bytes: Uint8Array,
  from: number,
  to: number,
  isWide: boolean,
  isTaken: LineRule = isProse,
): void {
  for (let start = from, end = from; start < to; start = ++end) {
    while (end < to && bytes[end] !== FEED) end++;
    if (end - start < LEAST_WIDE_LINE) continue;
    const [first, last] = trimmed(bytes, start, end);
    const units = isWide ? unitsIn(bytes, first, last) : last - first;
    if (isTaken(bytes, first, last, units)) addLine(prose, bytes, first, last, units);
  }
}

function addLine(prose: Utf8Text, bytes: Uint8Array, from: number, to: number, units: number): void {
  prose.add(bytes, from, to, units);
  prose.addByte(FEED);
}

/** Whether a line is signed for change: a sentence, or longer than a date, a counter or a byline. */
export const isSteadyLine: LineRule = (bytes, from, to, units) =>
  units >= LEAST_STEADY_LINE || isProse(bytes, from, to, units);

/** Whether a line consists of sentences. */
export function isProse(bytes: Uint8Array, from: number, to: number, units: number): boolean {
  if (units >= LONG_LINE) return true;
  if (units < LEAST_WIDE_LINE) return false;
  const isBroad = to - from > units && isBroadInTheMiddle(bytes, from, units >> 1);
  if (units < LEAST_LINE && !isBroad) return false;
  let last = characterBefore(bytes, to);
  while (last > from && CLOSERS.has(codePointAt(bytes, last))) last = characterBefore(bytes, last);
  if (!ENDS.has(codePointAt(bytes, last))) return false;
  return units >= SHORT_LINE || isBroad || !hasDigit(bytes, from, to);
}

/** Whether the character `units` after a place is broad, or half of a surrogate pair. */
function isBroadInTheMiddle(bytes: Uint8Array, from: number, units: number): boolean {
  let at = from;
  let left = units;
  while (left > 0) {
    const length = lengthFromLead(bytes[at]!);
    left -= length === 4 ? 2 : 1;
    if (left >= 0) at += length;
  }
  return codePointAt(bytes, at) >= FIRST_BROAD;
}

function hasDigit(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at]! >= 0x30 && bytes[at]! <= 0x39) return true;
  return false;
}

/** Where the prose of a page stands: the blocks of text outside links, and the element that holds most of them. */
export interface Prose {
  /** Width of its widest block. */
  readonly widest: number;
  /** Score of each element: its prose, that of its children, and half of that of their children. */
  readonly scores: Float64Array;
  /** The highest score. */
  readonly most: number;
  /** Levels from each element up to the nearest one that holds the core, too, and from there down to the core. */
  readonly up: Int32Array;
  readonly down: Int32Array;
  /** Share of the prose of the page in elements that look like each element. */
  readonly alike: Float64Array;
  /** First and last block of prose below the core; without a core, those of the page. */
  readonly first: number;
  readonly last: number;
}

/** Most of a block that may be links. */
const MOST_LINKED = 0.3;
/** Narrower blocks are labels. */
const LEAST_WIDTH = 25;
/** Blocks as wide as this count in full, narrower ones in proportion: a long paragraph says more than many teasers. */
const FULL_WIDTH = 300;
/** An element with this part of the best score that lies deeper is as good. */
const DEEPER = 0.999;
/** Text in these stands for the element around them. */
const LINES = TagTable.of('p li dd dt blockquote pre h1 h2 h3 h4 h5 h6'.split(' '));

export function proseOf({ blockCount, blocks, elementCount, elements }: Outline, { isShown }: PageShape): Prose {
  const { parent, tag, looks, signs } = elements;
  const own = new Float64Array(blockCount);
  const scores = new Float64Array(elementCount);
  const ofLooks = new Float64Array(elementCount);
  let widest = 0;
  let all = 0;
  for (let i = 0; i < blockCount; i++) {
    const width = blocks.width[i]!;
    if (isShown[i] === 0 || width < LEAST_WIDTH || blocks.heading[i]! > 0) continue;
    const linked = blocks.linkChars[i]! / blocks.chars[i]!;
    if (linked > MOST_LINKED) continue;
    if (width > widest) widest = width;
    own[i] = width * (1 - linked) * Math.min(1, width / FULL_WIDTH);
    all += own[i]!;
    let at = blocks.holder[i]!;
    if (at < 0) continue;
    ofLooks[looks[at]!]! += own[i]!;
    if (LINES.has(tag[at]!) && parent[at]! >= 0) at = parent[at]!;
    for (let level = 0; level < 3 && at >= 0; level++, at = parent[at]!)
      scores[at]! += level < 2 ? own[i]! : own[i]! / 2;
  }
  let core = -1;
  let most = 0;
  for (let at = 0; at < elementCount; at++) {
    if (scores[at]! < DEEPER * most || scores[at] === 0 || (signs[at]! & (HIDDEN | NOSCRIPT)) !== 0) continue;
    core = at;
    most = Math.max(most, scores[at]!);
  }
  const up = new Int32Array(elementCount);
  const down = new Int32Array(elementCount).fill(-1);
  for (let at = core, levels = 0; at >= 0; at = parent[at]!, levels++) down[at] = levels;
  const alike = new Float64Array(elementCount);
  const isBelow = new Uint8Array(elementCount);
  for (let at = 0; at < elementCount; at++) {
    const around = parent[at]!;
    if (down[at]! < 0) {
      up[at] = around < 0 ? 1 : up[around]! + 1;
      down[at] = around < 0 ? 0 : down[around]!;
    }
    alike[at] = ofLooks[looks[at]!]! / (all + 1);
    isBelow[at] = Number(at === core || (around >= 0 && isBelow[around] === 1));
  }
  let first = -1;
  let last = blockCount - 1;
  for (let i = 0; i < blockCount; i++) {
    if (own[i] === 0 || blocks.holder[i]! < 0 || isBelow[blocks.holder[i]!] === 0) continue;
    if (first < 0) first = i;
    last = i;
  }
  return { widest, scores, most, up, down, alike, first: Math.max(0, first), last };
}

// domain/page/prose/: which lines are prose, and where the prose and the headline of a page stand.
import type { BlockTable } from '../block-table.ts';
import { characterBefore, codePointAt, lengthFromLead, unitsIn } from '../text/utf8.ts';
import { trimmed, type Utf8Text } from '../text/utf8-text.ts';

/** Longer lines are prose even without a full stop. */
const LONG_LINE = 200;
/** Shorter lines are no prose. */
const LEAST_LINE = 15;
const LEAST_WIDE_LINE = 8;
/** A short line with digits holds a date, a price or a count as a rule. */
const SHORT_LINE = 40;

const FEED = 0x0a;
/** From here on characters are broad; the leads of their bytes are not below. */
const FIRST_BROAD = 0x2e80;

const codesOf = (characters: string): ReadonlySet<number> =>
  new Set([...characters].map((character) => character.codePointAt(0) as number));
/** Ends of sentences in current scripts, and the characters that may follow them. */
const ENDS = codesOf('.!?…:;。！？．：；।۔؟։።။។།');
const CLOSERS = codesOf('"\'”’»)]」』）】');

/** Shorter lines that are no sentences are dates, counters, bylines and captions as a rule, UTF-16 units. */
const LEAST_STEADY_LINE = 60;

/** Which lines are taken: of a range without white space at its ends, and of its UTF-16 units. */
export type LineRule = (bytes: Uint8Array, from: number, to: number, units: number) => boolean;

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
 * Adds the lines of a range that are sentences, or that another rule takes, each ended by a line feed. `isWide`: it has
 * more than ASCII.
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

/** Whether a line is signed for change: sentences, and what is longer than a date, a counter or a byline. */
export const isSteadyLine: LineRule = (bytes, from, to, units) =>
  units >= LEAST_STEADY_LINE || isProse(bytes, from, to, units);

/** Whether a line is sentences. */
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

/** Whether the character so many units behind a place is broad, or one of a pair. */
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

import { utf8Slice } from '../tape/slices.ts';
import type { Utf8Text } from '../text/utf8.ts';

const SEED = 0x811c9dc5;
const PRIME = 0x01000193;
/** UTF-16 units hashed at a time; the last word of each part ends in zeros. */
const PART = 8_192;
const encoder = new TextEncoder();

/**
 * Fingerprint of a text, 32 bits: FNV-1a (Fowler, Noll, Vo) over UTF-8, four bytes a step, which is several times as
 * fast as over the characters of a string.
 */
export function printOf(text: Utf8Text): number {
  const { bytes, end, units } = text;
  if (text.isAscii || units <= PART) return hashed(SEED ^ units, bytes, end) >>> 0;
  // Parts of a text with wide characters end where its string would be cut.
  const string = utf8Slice(bytes, 0, end);
  let hash = SEED ^ units;
  for (let from = 0; from < units; from += PART) {
    const part = encoder.encode(string.slice(from, from + PART));
    hash = hashed(hash, part, part.length);
  }
  return hash >>> 0;
}

function hashed(before: number, bytes: Uint8Array, end: number, start = 0): number {
  let hash = before;
  let at = start;
  for (; at + 3 < end; at += 4) {
    hash = stepped(hash, bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
  }
  if (at === end) return hash;
  let last = 0;
  for (let shift = 0; at < end; at++, shift += 8) last |= bytes[at]! << shift;
  return stepped(hash, last);
}

function stepped(hash: number, word: number): number {
  const next = Math.imul(hash ^ word, PRIME);
  return next ^ (next >>> 15);
}

/** As {@link printOf}, of a range of bytes; equal to it for ASCII. */
export const rangePrintOf = (bytes: Uint8Array, from: number, to: number): number =>
  hashed(SEED ^ (to - from), bytes, to, from) >>> 0;

/** Print of texts in their order; of one alone its own. */
export const joinedPrint = (prints: readonly number[]): number =>
  prints.length === 1 ? prints[0]! : prints.reduce(stepped, SEED) >>> 0;

/** Bits of a print of words. */
export const PRINT_BITS = 24;

/** As {@link printOf}, {@link PRINT_BITS} wide. */
export const shortPrintOf = (text: Utf8Text): number => printOf(text) >>> (32 - PRINT_BITS);

import { lowerCaseOfAsciiWords } from '../text/word-scan.ts';
import { RABIN_EMPTY_HIGH, RABIN_EMPTY_LOW, RABIN_HIGH, RABIN_LOW } from './rabin.ts';

const SPACE = 0x20;
const WORD_BYTES = lowerCaseOfAsciiWords();

/** Most words of a text of so many bytes. */
export const mostWords = (length: number): number => (length + 2) >> 1;

/** Fingerprints of the words, and of the shingles that end with each, in two lanes. */
export interface Fingerprints {
  readonly high: Int32Array;
  readonly low: Int32Array;
  readonly wordHigh: Int32Array;
  readonly wordLow: Int32Array;
}

/**
 * Finds the words of an ASCII text and their fingerprints in one pass: what the word scanner finds in such a text, by
 * the three states of the shingler. Returns the number of words.
 */
export function fingerprintAscii(
  text: Uint8Array,
  length: number,
  { high, low, wordHigh, wordLow }: Fingerprints,
): number {
  const tableHigh = RABIN_HIGH;
  const tableLow = RABIN_LOW;
  let high1 = RABIN_EMPTY_HIGH;
  let low1 = RABIN_EMPTY_LOW;
  let high2 = high1;
  let low2 = low1;
  let high3 = high1;
  let low3 = low1;
  let words = 0;
  for (let at = 0; at < length; at++) {
    let byte = WORD_BYTES[text[at]!]!;
    if (byte === 0) continue;
    if (words > 0) {
      let index = (low2 ^ SPACE) & 255;
      low3 = ((low2 >>> 8) | (high2 << 24)) ^ tableLow[index]!;
      high3 = (high2 >>> 8) ^ tableHigh[index]!;
      index = (low1 ^ SPACE) & 255;
      low2 = ((low1 >>> 8) | (high1 << 24)) ^ tableLow[index]!;
      high2 = (high1 >>> 8) ^ tableHigh[index]!;
      low1 = RABIN_EMPTY_LOW;
      high1 = RABIN_EMPTY_HIGH;
      // Until there are enough words, all states begin at the first one.
      if (words === 1) {
        low3 = low2;
        high3 = high2;
      }
    }
    do {
      let index = (low1 ^ byte) & 255;
      low1 = ((low1 >>> 8) | (high1 << 24)) ^ tableLow[index]!;
      high1 = (high1 >>> 8) ^ tableHigh[index]!;
      index = (low2 ^ byte) & 255;
      low2 = ((low2 >>> 8) | (high2 << 24)) ^ tableLow[index]!;
      high2 = (high2 >>> 8) ^ tableHigh[index]!;
      index = (low3 ^ byte) & 255;
      low3 = ((low3 >>> 8) | (high3 << 24)) ^ tableLow[index]!;
      high3 = (high3 >>> 8) ^ tableHigh[index]!;
      byte = ++at < length ? WORD_BYTES[text[at]!]! : 0;
    } while (byte !== 0);
    wordHigh[words] = high1;
    wordLow[words] = low1;
    high[words] = high3;
    low[words] = low3;
    words++;
  }
  return words;
}

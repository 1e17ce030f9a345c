import type { WordList } from '../text/word-scan.ts';
import { fingerprintAscii, mostWords } from './fingerprint-ascii.ts';
import { RABIN_EMPTY_HIGH, RABIN_EMPTY_LOW, RABIN_HIGH, RABIN_LOW } from './rabin.ts';

/** Words in a shingle. Part of the name of every signature made from them. */
export const SHINGLE_SIZE = 3;

/** Distinct shingles: their Rabin fingerprints in two lanes, and their weights. */
export interface WeightedShingles {
  readonly high: Int32Array;
  readonly low: Int32Array;
  readonly weight: Float64Array;
  readonly count: number;
}

export interface Shingler {
  /**
   * The set of 3-word shingles, each weighing `featureWeight` plus the term frequencies of its words within this list
   * (each frequency counted up to `tfCap`). Fewer than three words make one shingle. The answer is valid until the next
   * call.
   */
  shingle(words: WordList, featureWeight: number, tfCap?: number): WeightedShingles;
  /** As {@link shingle}, of the words of the first bytes of an ASCII text: no list of them is made. */
  shingleAscii(text: Uint8Array, length: number, featureWeight: number, tfCap?: number): WeightedShingles;
}

const SPACE = 0x20;
const KEPT_WORDS = 1 << 17;

/**
 * Fingerprints are computed word by word, without building shingles: three Rabin states run side by side over the
 * bytes, begun at the last, the last but one and the last but two words. The state of the last word alone identifies
 * the word, so that counting terms needs no strings either.
 */
export function createShingler(): Shingler {
  let kept = buffersFor(4096);
  const buffersOf = (words: number): Buffers => {
    if (words <= kept.capacity) return kept;
    const buffers = buffersFor(words);
    if (buffers.capacity <= KEPT_WORDS) kept = buffers;
    return buffers;
  };
  const weighed = (words: number, buffers: Buffers, featureWeight: number, tfCap: number): WeightedShingles => {
    countTerms(words, buffers);
    const count = weigh(words, buffers, featureWeight, tfCap);
    return { high: buffers.high, low: buffers.low, weight: buffers.weight, count };
  };
  return {
    shingle: (words, featureWeight, tfCap = Number.POSITIVE_INFINITY) => {
      const buffers = buffersOf(words.count);
      fingerprint(words, buffers);
      return weighed(words.count, buffers, featureWeight, tfCap);
    },
    shingleAscii: (text, length, featureWeight, tfCap = Number.POSITIVE_INFINITY) => {
      const buffers = buffersOf(mostWords(length));
      return weighed(fingerprintAscii(text, length, buffers), buffers, featureWeight, tfCap);
    },
  };
}

interface Buffers {
  readonly capacity: number;
  /** Fingerprints of the shingles that end with each word, later of the distinct ones. */
  readonly high: Int32Array;
  readonly low: Int32Array;
  readonly weight: Float64Array;
  /** Fingerprints of the words, later of the distinct ones. */
  readonly wordHigh: Int32Array;
  readonly wordLow: Int32Array;
  /** Number of the distinct word at each position. */
  readonly term: Int32Array;
  readonly frequency: Int32Array;
  /** Open addressing, twice as many slots as words: index + 1 of the entry, 0 for an empty slot. */
  readonly slots: Int32Array;
}

function buffersFor(words: number): Buffers {
  const capacity = 2 ** Math.ceil(Math.log2(words));
  const lane = (): Int32Array => new Int32Array(capacity);
  return {
    capacity,
    high: lane(),
    low: lane(),
    weight: new Float64Array(capacity),
    wordHigh: lane(),
    wordLow: lane(),
    term: lane(),
    frequency: lane(),
    slots: new Int32Array(2 * capacity),
  };
}

function fingerprint({ bytes, ends, count }: WordList, { high, low, wordHigh, wordLow }: Buffers): void {
  const tableHigh = RABIN_HIGH;
  const tableLow = RABIN_LOW;
  let high1 = RABIN_EMPTY_HIGH;
  let low1 = RABIN_EMPTY_LOW;
  let high2 = high1;
  let low2 = low1;
  let high3 = high1;
  let low3 = low1;
  let at = 0;
  for (let word = 0; word < count; word++) {
    if (word > 0) {
      // Each state goes on to the next word with the space between; a new one begins.
      let index = (low2 ^ SPACE) & 255;
      low3 = ((low2 >>> 8) | (high2 << 24)) ^ tableLow[index]!;
      high3 = (high2 >>> 8) ^ tableHigh[index]!;
      index = (low1 ^ SPACE) & 255;
      low2 = ((low1 >>> 8) | (high1 << 24)) ^ tableLow[index]!;
      high2 = (high1 >>> 8) ^ tableHigh[index]!;
      low1 = RABIN_EMPTY_LOW;
      high1 = RABIN_EMPTY_HIGH;
      // Until there are enough words, all states begin at the first one.
      if (word === 1) {
        low3 = low2;
        high3 = high2;
      }
    }
    for (const end = ends[word]!; at < end; at++) {
      const byte = bytes[at]!;
      let index = (low1 ^ byte) & 255;
      low1 = ((low1 >>> 8) | (high1 << 24)) ^ tableLow[index]!;
      high1 = (high1 >>> 8) ^ tableHigh[index]!;
      index = (low2 ^ byte) & 255;
      low2 = ((low2 >>> 8) | (high2 << 24)) ^ tableLow[index]!;
      high2 = (high2 >>> 8) ^ tableHigh[index]!;
      index = (low3 ^ byte) & 255;
      low3 = ((low3 >>> 8) | (high3 << 24)) ^ tableLow[index]!;
      high3 = (high3 >>> 8) ^ tableHigh[index]!;
    }
    wordHigh[word] = high1;
    wordLow[word] = low1;
    high[word] = high3;
    low[word] = low3;
  }
}

/** Numbers the distinct words and counts them. */
function countTerms(count: number, { wordHigh, wordLow, term, frequency, slots }: Buffers): void {
  const mask = emptySlots(slots, count);
  let terms = 0;
  for (let word = 0; word < count; word++) {
    const high = wordHigh[word]!;
    const low = wordLow[word]!;
    let slot = (high ^ low) & mask;
    while (true) {
      const found = slots[slot]! - 1;
      if (found < 0) {
        wordHigh[terms] = high;
        wordLow[terms] = low;
        frequency[terms] = 1;
        term[word] = terms;
        slots[slot] = ++terms;
        break;
      }
      if (wordHigh[found] === high && wordLow[found] === low) {
        frequency[found]!++;
        term[word] = found;
        break;
      }
      slot = (slot + 1) & mask;
    }
  }
}

/** Keeps each distinct shingle once, with its weight; returns how many there are. */
function weigh(count: number, buffers: Buffers, featureWeight: number, tfCap: number): number {
  const { high, low, weight, term, frequency, slots } = buffers;
  const mask = emptySlots(slots, count);
  const size = Math.min(SHINGLE_SIZE, count);
  let distinct = 0;
  for (let last = Math.max(0, size - 1); last < count; last++) {
    const itsHigh = high[last]!;
    const itsLow = low[last]!;
    let slot = (itsHigh ^ itsLow) & mask;
    let found = slots[slot]! - 1;
    while (found >= 0 && (high[found] !== itsHigh || low[found] !== itsLow)) {
      slot = (slot + 1) & mask;
      found = slots[slot]! - 1;
    }
    if (found >= 0) continue;
    let sum = featureWeight;
    for (let word = last - size + 1; word <= last; word++) sum += Math.min(tfCap, frequency[term[word]!]!);
    high[distinct] = itsHigh;
    low[distinct] = itsLow;
    weight[distinct] = sum;
    slots[slot] = ++distinct;
  }
  return distinct;
}

/** Clears as many slots as `count` entries need; returns their mask. */
function emptySlots(slots: Int32Array, count: number): number {
  const size = Math.min(slots.length, 2 ** Math.ceil(Math.log2(2 * count + 2)));
  slots.fill(0, 0, size);
  return size - 1;
}

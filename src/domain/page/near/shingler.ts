import type { WordList, WordSink } from '../text/word-scan.ts';
import { WordFingerprints } from './word-fingerprints.ts';

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
  /** Begins a list of words, which takes them from a finder ({@link createWordFinder}). */
  begin(): WordSink;
  /**
   * The set of 3-word shingles of the words since {@link begin}, each weighing `featureWeight` plus the term
   * frequencies of its words within this list (each frequency counted up to `tfCap`). Fewer than three words make one
   * shingle. Uses the list up; the answer is valid until the next one begins.
   */
  weigh(featureWeight: number, tfCap?: number): WeightedShingles;
  /** As {@link weigh}, of a list of words. */
  shingle(words: WordList, featureWeight: number, tfCap?: number): WeightedShingles;
}

/** The fingerprint of a word alone identifies it, so that counting terms needs no strings. */
export function createShingler(): Shingler {
  const words = new WordFingerprints();
  let tables = tablesFor(words.high.length);
  const begin = (): WordSink => {
    words.clear();
    return words;
  };
  const weigh = (featureWeight: number, tfCap = Number.POSITIVE_INFINITY): WeightedShingles => {
    if (tables.weight.length !== words.high.length) tables = tablesFor(words.high.length);
    countTerms(words, tables);
    const count = weighDistinct(words, tables, featureWeight, tfCap);
    return { high: words.high, low: words.low, weight: tables.weight, count };
  };
  return {
    begin,
    weigh,
    shingle: ({ bytes, ends, count }, featureWeight, tfCap) => {
      const sink = begin();
      for (let word = 0, from = 0; word < count; from = ends[word++]!) {
        sink.add(bytes, from, ends[word]!);
        sink.endWord();
      }
      return weigh(featureWeight, tfCap);
    },
  };
}

interface Tables {
  readonly weight: Float64Array;
  /** Number of the distinct word at each position. */
  readonly term: Int32Array;
  readonly frequency: Int32Array;
  /** Open addressing, twice as many slots as words: index + 1 of the entry, 0 for an empty slot. */
  readonly slots: Int32Array;
}

const tablesFor = (words: number): Tables => ({
  weight: new Float64Array(words),
  term: new Int32Array(words),
  frequency: new Int32Array(words),
  slots: new Int32Array(2 * words),
});

/** Numbers the distinct words, whose fingerprints are gathered in front, and counts them. */
function countTerms({ count, wordHigh, wordLow }: WordFingerprints, { term, frequency, slots }: Tables): void {
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
function weighDistinct(words: WordFingerprints, tables: Tables, featureWeight: number, tfCap: number): number {
  const { count, high, low } = words;
  const { weight, term, frequency, slots } = tables;
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

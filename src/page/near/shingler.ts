import type { WordList, WordSink } from '../text/word-scan.ts';
import { type FingerprintedWords, WordFingerprints, WordRuns } from './word-fingerprints.ts';

/** Word shingles (A. Z. Broder, "On the resemblance and containment of documents", 1997). */

/**
 * The set of the runs of `size` consecutive words, each joined by single spaces. Fewer words than `size` give one
 * shingle of all of them; no words give none. The plain form, for tools and tests; signatures use {@link
 * createShingler}.
 */
export function shingles(words: readonly string[], size: number): Set<string> {
  if (!Number.isInteger(size) || size < 1) {
    throw new RangeError(`shingle size must be a whole number from 1, not ${String(size)}`);
  }
  const found = new Set<string>();
  if (words.length > 0 && words.length < size) found.add(words.join(' '));
  for (let at = 0; at + size <= words.length; at++) found.add(words.slice(at, at + size).join(' '));
  return found;
}

/**
 * Broder's resemblance: the size of the intersection over that of the union, 0..1. Two empty sets resemble each other
 * fully.
 */
export function resemblance(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 && b.size === 0) return 1;
  let common = 0;
  for (const each of a) if (b.has(each)) common++;
  return common / (a.size + b.size - common);
}

/** Default number of words in a shingle. Part of the name of every signature made from them. */
export const SHINGLE_SIZE = 3;

export interface ShinglerOptions {
  /** Words in a shingle, 1 or more; default {@link SHINGLE_SIZE}, which costs least. */
  readonly words?: number;
  /** Words of a language, in lower case, that are ignored. Default: none. */
  readonly stopWords?: (lang: string | null) => ReadonlySet<string>;
}

/** Distinct shingles: their Rabin fingerprints in two lanes, and their weights. */
export interface WeightedShingles {
  readonly high: Int32Array;
  readonly low: Int32Array;
  readonly weight: Float64Array;
  /** Words of the longest marked line that each occurs in ({@link Shingler.endLine}); 0: it occurs in none. */
  readonly lineWords: Int32Array;
  readonly count: number;
}

export interface Shingler {
  /**
   * Begins a list of words, which takes them from a finder ({@link createWordFinder}).
   * @param lang language of the text, whose stop words are left out if the shingler has such
   */
  begin(lang?: string | null): WordSink;
  /** Ends a line: no shingle has words on both sides. If never called, the whole list is one line without a mark. */
  endLine(isMarked: boolean): void;
  /**
   * The set of shingles of the words since {@link begin}, each weighing `featureWeight` plus the term frequencies of
   * its words within this list (each frequency counted up to `tfCap`). A line of fewer words than a shingle makes one
   * shingle. Uses the list up; the answer is valid until the next one begins.
   */
  weigh(featureWeight: number, tfCap?: number): WeightedShingles;
  /** As {@link weigh}, of a list of words. */
  shingle(words: WordList, featureWeight: number, tfCap?: number): WeightedShingles;
}

/** A word is identified by its fingerprint, so that counting terms needs no strings. */
export function createShingler({ words: size = SHINGLE_SIZE, stopWords }: ShinglerOptions = {}): Shingler {
  if (!Number.isInteger(size) || size < 1) {
    throw new RangeError(`words of a shingle must be a whole number from 1, not ${String(size)}`);
  }
  const words: FingerprintedWords =
    size === SHINGLE_SIZE && stopWords === undefined ? new WordFingerprints() : new WordRuns(size);
  let tables = tablesFor(words.high.length);
  const lines: Line[] = [];
  let lineStart = 0;
  const begin = (lang: string | null = null): WordSink => {
    words.clear(stopWords?.(lang));
    lines.length = 0;
    lineStart = 0;
    return words;
  };
  const endLine = (isMarked: boolean): void => {
    if (words.count > lineStart) lines.push({ to: words.count, isMarked });
    lineStart = words.count;
    words.beginLine();
  };
  const weigh = (featureWeight: number, tfCap = Number.POSITIVE_INFINITY): WeightedShingles => {
    if (tables.weight.length !== words.high.length) tables = tablesFor(words.high.length);
    endLine(false);
    if (tfCap > 0) countTerms(words, tables);
    const count = weighDistinct(words, lines, tables, size, featureWeight, tfCap);
    return { high: words.high, low: words.low, weight: tables.weight, lineWords: tables.lineWords, count };
  };
  return {
    begin,
    endLine,
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

interface Line {
  /** Number of the word behind it. */
  readonly to: number;
  readonly isMarked: boolean;
}

interface Tables {
  readonly weight: Float64Array;
  readonly lineWords: Int32Array;
  /** Number of the distinct word at each position. */
  readonly term: Int32Array;
  readonly frequency: Int32Array;
  /** Open addressing, twice as many slots as words: index + 1 of the entry, 0 for an empty slot. */
  readonly slots: Int32Array;
}

const tablesFor = (words: number): Tables => ({
  weight: new Float64Array(words),
  lineWords: new Int32Array(words),
  term: new Int32Array(words),
  frequency: new Int32Array(words),
  slots: new Int32Array(2 * words),
});

/** Numbers and counts the distinct words; their fingerprints are moved to the front. */
function countTerms({ count, wordHigh, wordLow }: FingerprintedWords, { term, frequency, slots }: Tables): void {
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
function weighDistinct(
  words: FingerprintedWords,
  lines: readonly Line[],
  tables: Tables,
  shingleWords: number,
  featureWeight: number,
  tfCap: number,
): number {
  const { count, high, low } = words;
  const { weight, lineWords, slots } = tables;
  const mask = emptySlots(slots, count);
  let distinct = 0;
  let from = 0;
  for (const { to, isMarked } of lines) {
    const marked = isMarked ? to - from : 0;
    const size = Math.min(shingleWords, to - from);
    for (let last = from + size - 1; last < to; last++) {
      const itsHigh = high[last]!;
      const itsLow = low[last]!;
      let slot = (itsHigh ^ itsLow) & mask;
      let found = slots[slot]! - 1;
      while (found >= 0 && (high[found] !== itsHigh || low[found] !== itsLow)) {
        slot = (slot + 1) & mask;
        found = slots[slot]! - 1;
      }
      if (found >= 0) {
        if (marked > lineWords[found]!) lineWords[found] = marked;
        continue;
      }
      high[distinct] = itsHigh;
      low[distinct] = itsLow;
      weight[distinct] = tfCap > 0 ? featureWeight + frequencies(tables, last, size, tfCap) : featureWeight;
      lineWords[distinct] = marked;
      slots[slot] = ++distinct;
    }
    from = to;
  }
  return distinct;
}

/** The sum of the frequencies of the words of a shingle. */
function frequencies({ term, frequency }: Tables, last: number, size: number, tfCap: number): number {
  let sum = 0;
  for (let word = last - size + 1; word <= last; word++) sum += Math.min(tfCap, frequency[term[word]!]!);
  return sum;
}

/** Clears as many slots as `count` entries need; returns their mask. */
function emptySlots(slots: Int32Array, count: number): number {
  const size = Math.min(slots.length, 2 ** Math.ceil(Math.log2(2 * count + 2)));
  slots.fill(0, 0, size);
  return size - 1;
}

import { lowerCaseOfAsciiWords, type WordSink } from '../text/word-scan.ts';
import { RABIN_EMPTY_HIGH, RABIN_EMPTY_LOW, RABIN_HIGH, RABIN_LOW } from './hashes.ts';

const FIRST_BYTES = 1 << 15;
/** Longer arrays are not kept for the next text. */
const KEPT_BYTES = 1 << 18;

const NO_WORDS: ReadonlySet<number> = new Set();

/**
 * Like {@link WordFingerprints}, for runs of any number of words, and without stop words. It keeps the words of a line,
 * separated by single spaces, and reads each run from there: its time grows with the length of runs.
 */
export class WordRuns implements FingerprintedWords {
  count = 0;
  high = new Int32Array(FIRST_WORDS);
  low = new Int32Array(FIRST_WORDS);
  wordHigh = new Int32Array(FIRST_WORDS);
  wordLow = new Int32Array(FIRST_WORDS);
  private readonly size: number;
  /** Where each word begins in the line. */
  private starts = new Int32Array(FIRST_WORDS);
  private line = new Uint8Array(FIRST_BYTES);
  private wordStart = 0;
  private end = 0;
  private lineStart = 0;
  private stopWords = NO_WORDS;
  private readonly known = new WeakMap<ReadonlySet<string>, ReadonlySet<number>>();
  private printHigh = 0;
  private printLow = 0;

  /** @param size words in a run */
  constructor(size: number) {
    this.size = size;
  }

  /** @param stopWords words of the next text that are ignored, in lower case */
  clear(stopWords?: ReadonlySet<string>): void {
    if (this.high.length > KEPT_WORDS) {
      for (const name of LANES) this[name] = new Int32Array(FIRST_WORDS);
    }
    if (this.line.length > KEPT_BYTES) this.line = new Uint8Array(FIRST_BYTES);
    this.stopWords = stopWords === undefined || stopWords.size === 0 ? NO_WORDS : this.keysOf(stopWords);
    this.count = 0;
    this.beginLine();
  }

  beginLine(): void {
    this.lineStart = this.count;
    this.wordStart = 0;
    this.end = 0;
  }

  takeAscii(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    while (at < to) {
      const letters = at;
      while (at < to && ASCII_WORDS[bytes[at]!] !== 0) at++;
      if (at > letters) this.addLower(bytes, letters, at);
      if (at === to || bytes[at]! >= 0x80) break;
      this.endWord();
      at++;
    }
    return at;
  }

  add(bytes: Uint8Array, from: number, to: number): void {
    this.reserve(to - from);
    for (let at = from; at < to; at++) this.line[this.end++] = bytes[at]!;
  }

  endWord(): void {
    if (this.end === this.wordStart) return;
    this.print(this.line, this.wordStart, this.end);
    if (this.stopWords.size > 0 && this.stopWords.has(keyOf(this.printHigh, this.printLow))) {
      this.end = this.wordStart;
      return;
    }
    const word = this.count++;
    if (word === this.high.length) this.extend(2 * word);
    this.starts[word] = this.wordStart;
    this.wordHigh[word] = this.printHigh;
    this.wordLow[word] = this.printLow;
    const first = Math.max(this.lineStart, this.count - this.size);
    if (first < word) this.print(this.line, this.starts[first]!, this.end);
    this.high[word] = this.printHigh;
    this.low[word] = this.printLow;
    this.reserve(1);
    this.line[this.end++] = SPACE;
    this.wordStart = this.end;
  }

  private addLower(bytes: Uint8Array, from: number, to: number): void {
    this.reserve(to - from);
    for (let at = from; at < to; at++) this.line[this.end++] = ASCII_WORDS[bytes[at]!]!;
  }

  /** The Rabin fingerprint of some bytes, into `printHigh` and `printLow`. */
  private print(bytes: Uint8Array, from: number, to: number): void {
    let high = RABIN_EMPTY_HIGH;
    let low = RABIN_EMPTY_LOW;
    for (let at = from; at < to; at++) {
      const index = (low ^ bytes[at]!) & 255;
      low = ((low >>> 8) | (high << 24)) ^ RABIN_LOW[index]!;
      high = (high >>> 8) ^ RABIN_HIGH[index]!;
    }
    this.printHigh = high;
    this.printLow = low;
  }

  private keysOf(words: ReadonlySet<string>): ReadonlySet<number> {
    const known = this.known.get(words);
    if (known !== undefined) return known;
    const keys = new Set<number>();
    for (const word of words) {
      const bytes = Buffer.from(word);
      this.print(bytes, 0, bytes.length);
      keys.add(keyOf(this.printHigh, this.printLow));
    }
    this.known.set(words, keys);
    return keys;
  }

  private extend(words: number): void {
    for (const name of LANES) {
      const longer = new Int32Array(words);
      longer.set(this[name]);
      this[name] = longer;
    }
  }

  private reserve(bytes: number): void {
    if (this.end + bytes <= this.line.length) return;
    const longer = new Uint8Array(2 * (this.end + bytes));
    longer.set(this.line.subarray(0, this.end));
    this.line = longer;
  }
}

const LANES = ['high', 'low', 'wordHigh', 'wordLow', 'starts'] as const;

/** 53 bits of a fingerprint, as a number. */
const keyOf = (high: number, low: number): number => (high >>> 0) * 2 ** 21 + (low >>> 11);

const SPACE = 0x20;
const ASCII_WORDS = lowerCaseOfAsciiWords();
/** Each byte unchanged, except that letters are in lower case. */
const LETTERS = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const FIRST_WORDS = 1 << 12;
/** Longer arrays are not kept for the next text. */
const KEPT_WORDS = 1 << 15;

const lane = (words: number): Int32Array<ArrayBuffer> => new Int32Array(words);

/** Takes the words of a text; provides their Rabin fingerprints, and those of the runs of words that end with each. */
export interface FingerprintedWords extends WordSink {
  readonly count: number;
  /** Fingerprints of the runs, in two lanes. A run at the beginning of a line has fewer words. */
  readonly high: Int32Array;
  readonly low: Int32Array;
  readonly wordHigh: Int32Array;
  readonly wordLow: Int32Array;
  /** Begins a text. */
  clear(stopWords?: ReadonlySet<string>): void;
  /** The runs of the following words contain no earlier word. */
  beginLine(): void;
}

/**
 * Rabin fingerprints, in two lanes, of the words of a text and of the shingles of up to three words that end with each.
 * They are computed byte by byte, without building words or shingles. Three states run side by side, started at the
 * last, the second last and the third last word of a line.
 */
export class WordFingerprints implements FingerprintedWords {
  count = 0;
  high = lane(FIRST_WORDS);
  low = lane(FIRST_WORDS);
  wordHigh = lane(FIRST_WORDS);
  wordLow = lane(FIRST_WORDS);
  private isInside = false;
  private lineStart = 0;
  private high1 = 0;
  private low1 = 0;
  private high2 = 0;
  private low2 = 0;
  private high3 = 0;
  private low3 = 0;

  clear(): void {
    if (this.high.length > KEPT_WORDS) {
      this.high = lane(FIRST_WORDS);
      this.low = lane(FIRST_WORDS);
      this.wordHigh = lane(FIRST_WORDS);
      this.wordLow = lane(FIRST_WORDS);
    }
    this.count = 0;
    this.beginLine();
  }

  beginLine(): void {
    this.isInside = false;
    this.lineStart = this.count;
    this.high1 = RABIN_EMPTY_HIGH;
    this.low1 = RABIN_EMPTY_LOW;
    this.high2 = RABIN_EMPTY_HIGH;
    this.low2 = RABIN_EMPTY_LOW;
    this.high3 = RABIN_EMPTY_HIGH;
    this.low3 = RABIN_EMPTY_LOW;
  }

  takeAscii(bytes: Uint8Array, from: number, to: number): number {
    return this.take(bytes, from, to, ASCII_WORDS);
  }

  add(bytes: Uint8Array, from: number, to: number): void {
    this.take(bytes, from, to, LETTERS);
  }

  endWord(): void {
    if (!this.isInside) return;
    this.isInside = false;
    const word = this.count++;
    if (word === this.high.length) this.extend(2 * word);
    this.wordHigh[word] = this.high1;
    this.wordLow[word] = this.low1;
    this.high[word] = this.high3;
    this.low[word] = this.low3;
  }

  /**
   * Processes the bytes for which a table has letters. Other ASCII bytes end a word; a byte beyond ASCII ends the walk.
   */
  private take(bytes: Uint8Array, from: number, to: number, letters: Uint8Array): number {
    const tableHigh = RABIN_HIGH;
    const tableLow = RABIN_LOW;
    let { high1, low1, high2, low2, high3, low3, isInside, count } = this;
    const { lineStart } = this;
    let at = from;
    while (at < to) {
      let byte = letters[bytes[at]!]!;
      if (byte === 0) {
        if (bytes[at]! >= 0x80) break;
        at++;
        if (!isInside) continue;
        isInside = false;
        if (count === this.high.length) this.extend(2 * count);
        this.wordHigh[count] = high1;
        this.wordLow[count] = low1;
        this.high[count] = high3;
        this.low[count] = low3;
        count++;
        continue;
      }
      if (!isInside && count > lineStart) {
        // Each state continues over the space to the next word, and a new state starts.
        let index = (low2 ^ SPACE) & 255;
        low3 = ((low2 >>> 8) | (high2 << 24)) ^ tableLow[index]!;
        high3 = (high2 >>> 8) ^ tableHigh[index]!;
        index = (low1 ^ SPACE) & 255;
        low2 = ((low1 >>> 8) | (high1 << 24)) ^ tableLow[index]!;
        high2 = (high1 >>> 8) ^ tableHigh[index]!;
        low1 = RABIN_EMPTY_LOW;
        high1 = RABIN_EMPTY_HIGH;
        // Until there are enough words, all states begin at the first one.
        if (count === lineStart + 1) {
          low3 = low2;
          high3 = high2;
        }
      }
      isInside = true;
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
        byte = ++at < to ? letters[bytes[at]!]! : 0;
      } while (byte !== 0);
    }
    this.high1 = high1;
    this.low1 = low1;
    this.high2 = high2;
    this.low2 = low2;
    this.high3 = high3;
    this.low3 = low3;
    this.isInside = isInside;
    this.count = count;
    return at;
  }

  private extend(words: number): void {
    for (const name of ['high', 'low', 'wordHigh', 'wordLow'] as const) {
      const longer = lane(words);
      longer.set(this[name]);
      this[name] = longer;
    }
  }
}

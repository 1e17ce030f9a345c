import { lowerCaseOfAsciiWords } from '../text/word-scan.ts';
import { RABIN_EMPTY_HIGH, RABIN_EMPTY_LOW, RABIN_HIGH, RABIN_LOW } from './rabin.ts';
import type { FingerprintedWords } from './word-fingerprints.ts';

const SPACE = 0x20;
const ASCII_WORDS = lowerCaseOfAsciiWords();
const FIRST_WORDS = 1 << 12;
const FIRST_BYTES = 1 << 15;
/** Longer arrays are not kept for the next text. */
const KEPT_WORDS = 1 << 15;
const KEPT_BYTES = 1 << 18;

const NO_WORDS: ReadonlySet<number> = new Set();

/**
 * As {@link WordFingerprints}, for runs of any number of words, and without stop words. It keeps the words of a line,
 * one space apart, and reads each run from there: its time grows with the length of runs.
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

  /** @param stopWords words of the next text that are as if they were not there, in lower case */
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

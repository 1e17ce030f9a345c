import { lowerCaseOfAsciiWords, type WordSink } from '../text/word-scan.ts';
import { RABIN_EMPTY_HIGH, RABIN_EMPTY_LOW, RABIN_HIGH, RABIN_LOW } from './rabin.ts';

const SPACE = 0x20;
const ASCII_WORDS = lowerCaseOfAsciiWords();
/** Every byte as it is, of letters in lower case. */
const LETTERS = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const FIRST_WORDS = 1 << 12;
/** Longer arrays are not kept for the next text. */
const KEPT_WORDS = 1 << 15;

const lane = (words: number): Int32Array<ArrayBuffer> => new Int32Array(words);

/** Takes the words of a text; has their Rabin fingerprints, and those of the runs of words that end with each. */
export interface FingerprintedWords extends WordSink {
  readonly count: number;
  /** Of runs, in two lanes. A run at the begin of a line has fewer words. */
  readonly high: Int32Array;
  readonly low: Int32Array;
  readonly wordHigh: Int32Array;
  readonly wordLow: Int32Array;
  /** Begins a text. */
  clear(stopWords?: ReadonlySet<string>): void;
  /** The runs of the words to come have no word of those before. */
  beginLine(): void;
}

/**
 * Rabin fingerprints, in two lanes, of the words of a text, and of the shingles of up to three words that end with
 * each. They are computed byte by byte, without building words or shingles: three states run side by side, begun at the
 * last, the last but one and the last but two words of a line.
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

  /** Goes on with the bytes for which a table has letters; those without end a word, and beyond ASCII the walk. */
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

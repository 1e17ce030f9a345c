import { createCharacterBlocks, SEPARATOR, SPACED, UNSPACED } from './character-classes.ts';
import { codePointAt, lengthFromLead, putCodePoint } from './utf8.ts';
import { Utf8Text } from './utf8-text.ts';

/** Takes the words of a text as they are found, in lower case. */
export interface WordSink {
  /**
   * Takes the words of ASCII from a place on, by {@link lowerCaseOfAsciiWords}. Returns where they end: before the
   * first other byte, the word there unfinished, or at `to`.
   */
  takeAscii(bytes: Uint8Array, from: number, to: number): number;
  /** Adds letters, UTF-8 in lower case, to the current word. */
  add(bytes: Uint8Array, from: number, to: number): void;
  /** Ends the current word, if there is one. */
  endWord(): void;
}

/** Gives the words of a range of UTF-8 to a sink. */
export type WordFinder = (bytes: Uint8Array, from: number, to: number, sink: WordSink) => void;

/** Splits a text of an unspaced script into words; text between words comes as separate pieces. */
export type TextCutter = (text: string) => Iterable<string>;

/**
 * Longest piece given to the segmenter, UTF-8 bytes: 400 characters of most such scripts. Its time per character grows
 * with the length.
 */
const SEGMENT_BYTES = 1200;
/** Letters given to a sink at a time, bytes. */
const LETTER_BYTES = 256;

/**
 * Words of scripts with spaces are runs of letters, marks and digits, found by a plain scan; Chinese, Japanese, Thai
 * and the like are split by `Intl.Segmenter`, whose dictionary comes with the ICU of the runtime. So `don't` is two
 * words, whichever apostrophe it has, and `3.14` is two.
 *
 * `cut` replaces the segmenter; it must then be part of the name of every signature made from the words.
 *
 * The scan runs over UTF-8 because reading a typed array is several times as fast as `charCodeAt`.
 */
export function createWordFinder(cut?: TextCutter): WordFinder {
  const decoder = new TextDecoder();
  const blockOf = createCharacterBlocks();
  const letters = new Uint8Array(LETTER_BYTES);
  let size = 0;
  let segmenter: Intl.Segmenter | undefined;

  const classOf = (codePoint: number): number => blockOf(codePoint >>> 8).classes[codePoint & 255]!;
  const flush = (sink: WordSink): void => {
    if (size > 0) sink.add(letters, 0, size);
    size = 0;
  };
  const putLower = (codePoint: number, sink: WordSink): void => {
    if (size + 4 > LETTER_BYTES) flush(sink);
    size = putCodePoint(letters, size, blockOf(codePoint >>> 8).lower[codePoint & 255]!);
  };
  const endWord = (sink: WordSink): void => {
    flush(sink);
    sink.endWord();
  };

  const putWord = (word: string, sink: WordSink): void => {
    for (const character of word) {
      const codePoint = character.codePointAt(0)!;
      if (classOf(codePoint) !== SEPARATOR) putLower(codePoint, sink);
    }
    endWord(sink);
  };

  /** Splits the run without spaced words that begins at `from`; returns its end. */
  const segment = (source: Uint8Array, from: number, end: number, sink: WordSink): number => {
    const limit = Math.min(end, from + SEGMENT_BYTES);
    let to = from;
    // Where a longer stretch may be cut without cutting a word.
    let pause = from;
    while (to < limit) {
      const found = classOf(codePointAt(source, to));
      if (found === SPACED) break;
      to += lengthFromLead(source[to]!);
      if (found === SEPARATOR) pause = to;
    }
    if (to >= limit && to < end && pause > from) to = pause;
    const stretch = decoder.decode(source.subarray(from, to));
    if (cut !== undefined) {
      for (const piece of cut(stretch)) putWord(piece, sink);
      return to;
    }
    segmenter ??= new Intl.Segmenter('zh', { granularity: 'word' });
    for (const piece of segmenter.segment(stretch)) if (piece.isWordLike === true) putWord(piece.segment, sink);
    return to;
  };

  /** Takes what is no ASCII; returns where ASCII goes on. */
  const takeOthers = (source: Uint8Array, from: number, end: number, sink: WordSink): number => {
    let at = from;
    while (at < end && source[at]! >= 0x80) {
      const codePoint = codePointAt(source, at);
      const found = classOf(codePoint);
      if (found === UNSPACED) {
        endWord(sink);
        return segment(source, at, end, sink);
      }
      if (found === SPACED) putLower(codePoint, sink);
      else endWord(sink);
      at += lengthFromLead(source[at]!);
    }
    flush(sink);
    return at;
  };

  return (bytes, from, to, sink) => {
    let at = sink.takeAscii(bytes, from, to);
    while (at < to) at = sink.takeAscii(bytes, takeOthers(bytes, at, to, sink), to);
    sink.endWord();
  };
}

/** The words of a text in order, in lower case, as UTF-8 without separators. */
export interface WordList {
  readonly bytes: Uint8Array;
  /** End of each word in `bytes`; the next one begins there. */
  readonly ends: ArrayLike<number>;
  readonly count: number;
}

export interface WordScanner {
  /** Splits a text into words. The result is valid until the next call, which reuses its arrays. */
  scan(text: string | Uint8Array): WordList;
}

/** Lists words, for tools that need them one by one. `cut` as in {@link createWordFinder}. */
export function createWordScanner(cut?: TextCutter): WordScanner {
  const find = createWordFinder(cut);
  const source = new Utf8Text();
  const words = new ListedWords();
  return {
    scan: (text) => {
      words.clear();
      if (typeof text === 'string') {
        source.clear();
        source.addString(text);
      }
      const bytes = typeof text === 'string' ? source.written : text;
      find(bytes, 0, bytes.length, words);
      return words;
    },
  };
}

class ListedWords implements WordList, WordSink {
  ends: number[] = [];
  private readonly text = new Utf8Text();

  get bytes(): Uint8Array {
    return this.text.bytes;
  }

  get count(): number {
    return this.ends.length;
  }

  clear(): void {
    this.text.clear();
    this.ends = [];
  }

  takeAscii(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    for (; at < to && bytes[at]! < 0x80; at++) {
      const lower = ASCII_WORDS[bytes[at]!]!;
      if (lower === 0) this.endWord();
      else this.text.addByte(lower);
    }
    return at;
  }

  add(bytes: Uint8Array, from: number, to: number): void {
    this.text.add(bytes, from, to, 0);
  }

  endWord(): void {
    if (this.text.end > (this.ends.at(-1) ?? 0)) this.ends.push(this.text.end);
  }
}

/** Lower case of each byte that is an ASCII word character, 0 for all others. */
export function lowerCaseOfAsciiWords(): Uint8Array {
  const table = new Uint8Array(256);
  for (const character of 'abcdefghijklmnopqrstuvwxyz0123456789') {
    table[character.charCodeAt(0)] = character.charCodeAt(0);
    table[character.toUpperCase().charCodeAt(0)] = character.charCodeAt(0);
  }
  return table;
}

const ASCII_WORDS = lowerCaseOfAsciiWords();

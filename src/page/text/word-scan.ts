import { codePointAt, lengthFromLead, putCodePoint, Utf8Text } from './utf8.ts';

/** Classes of code points for the word scanner. */
const SEPARATOR = 0;
/** Letter, mark or digit of a script that puts spaces between words. */
const SPACED = 1;
/** The same for a script without such spaces; a dictionary must split it into words. */
const UNSPACED = 2;

interface CharacterBlock {
  /** Class per code point. */
  readonly classes: Uint8Array;
  /** The code point in lower case. */
  readonly lower: Uint32Array;
}

// Variation selectors are marks too, but they stand after symbols.
const WORD_CHARACTER = /(?!\p{VS})[\p{L}\p{Mn}\p{Mc}\p{N}]/u;
const UNSPACED_SCRIPT = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;

/** Classes and lower case from Unicode for the 256 code points from `block * 256`; made on first use and kept. */
function createCharacterBlocks(): (block: number) => CharacterBlock {
  const blocks: (CharacterBlock | undefined)[] = [];
  return (block) => {
    blocks[block] ??= characterBlock(block);
    return blocks[block]!;
  };
}

function characterBlock(block: number): CharacterBlock {
  const classes = new Uint8Array(256);
  const lower = new Uint32Array(256);
  for (let index = 0; index < 256; index++) {
    const character = String.fromCodePoint(block * 256 + index);
    if (WORD_CHARACTER.test(character)) classes[index] = UNSPACED_SCRIPT.test(character) ? UNSPACED : SPACED;
    // Some become two code points (a dotted capital I); the first is the letter, the rest marks.
    lower[index] = character.toLowerCase().codePointAt(0)!;
  }
  return { classes, lower };
}

/** Takes the words of a text as they are found, in lower case. */
export interface WordSink {
  /**
   * Takes ASCII words from a place on, by {@link lowerCaseOfAsciiWords}. Returns where it stopped: before the first
   * non-ASCII byte, with the word there unfinished, or at `to`.
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
    // Where a longer stretch may be split without splitting a word.
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

  /** Takes text beyond ASCII; returns where ASCII continues. */
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

/** Words of a text in order, lower case; stop words left out where a set of them is given. */
export type WordCutter = (text: string, stopWords?: ReadonlySet<string>) => string[];

/** {@link createWordScanner} with strings for words, for comparing and showing them. */
export function createWordCutter(scanner: WordScanner = createWordScanner()): WordCutter {
  const decoder = new TextDecoder();
  return (text, stopWords) => {
    const { bytes, ends, count } = scanner.scan(text);
    const words: string[] = [];
    for (let i = 0, from = 0; i < count; i++) {
      const to = ends[i] as number;
      const word = decoder.decode(bytes.subarray(from, to));
      from = to;
      if (stopWords?.has(word) !== true) words.push(word);
    }
    return words;
  };
}

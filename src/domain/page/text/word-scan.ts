import { createCharacterBlocks, SEPARATOR, SPACED, UNSPACED } from './character-classes.ts';
import { codePointAt, lengthFromLead, putCodePoint } from './utf8.ts';

/** The words of a text in order, in lower case, as UTF-8 without separators. */
export interface WordList {
  readonly bytes: Uint8Array;
  /** End of each word in `bytes`; the next one begins there. */
  readonly ends: Int32Array;
  readonly count: number;
}

export interface WordScanner {
  /** Splits a text into words. The result is valid until the next call, which reuses its arrays. */
  scan(text: string): WordList;
}

/** Splits a text of an unspaced script into words; text between words comes as separate pieces. */
export type TextCutter = (text: string) => Iterable<string>;

interface Buffers {
  /** The text as UTF-8. */
  readonly source: Uint8Array;
  readonly bytes: Uint8Array;
  readonly ends: Int32Array;
}

/**
 * Longest piece given to the segmenter, UTF-8 bytes: 400 characters of most such scripts. Its time per character grows
 * with the length.
 */
const SEGMENT_BYTES = 1200;
/** Buffers for a longer text are not kept. */
const KEPT_LENGTH = 1 << 18;

/**
 * Words of scripts with spaces are runs of letters, marks and digits, found by a plain scan; Chinese, Japanese, Thai
 * and the like are split by `Intl.Segmenter`, whose dictionary comes with the ICU of the runtime. So `don't` is two
 * words, whichever apostrophe it has, and `3.14` is two.
 *
 * `cut` replaces the segmenter; it must then be part of the name of every signature made from the words.
 *
 * The scan runs over UTF-8 because reading a typed array is several times as fast as `charCodeAt`.
 */
export function createWordScanner(cut?: TextCutter): WordScanner {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const blockOf = createCharacterBlocks();
  const asciiWord = lowerCaseOfAsciiWords();
  let segmenter: Intl.Segmenter | undefined;
  let buffers = buffersFor(4096);
  let count = 0;
  /** End of what has been written, and of the last whole word in it. */
  let size = 0;
  let wordStart = 0;

  const endWord = (): void => {
    if (size > wordStart) buffers.ends[count++] = size;
    wordStart = size;
  };
  const classOf = (codePoint: number): number => blockOf(codePoint >>> 8).classes[codePoint & 255]!;
  const putLower = (codePoint: number): void => {
    size = putCodePoint(buffers.bytes, size, blockOf(codePoint >>> 8).lower[codePoint & 255]!);
  };

  const putWord = (word: string): void => {
    for (const character of word) {
      const codePoint = character.codePointAt(0)!;
      if (classOf(codePoint) !== SEPARATOR) putLower(codePoint);
    }
    endWord();
  };

  /** Splits the run without spaced words that begins at `from`; returns its end. */
  const segment = (from: number, length: number): number => {
    endWord();
    const { source } = buffers;
    const limit = Math.min(length, from + SEGMENT_BYTES);
    let to = from;
    // Where a longer stretch may be cut without cutting a word.
    let pause = from;
    while (to < limit) {
      const found = classOf(codePointAt(source, to));
      if (found === SPACED) break;
      to += lengthFromLead(source[to]!);
      if (found === SEPARATOR) pause = to;
    }
    if (to >= limit && to < length && pause > from) to = pause;
    const stretch = decoder.decode(source.subarray(from, to));
    if (cut !== undefined) {
      for (const piece of cut(stretch)) putWord(piece);
      return to;
    }
    segmenter ??= new Intl.Segmenter('zh', { granularity: 'word' });
    for (const piece of segmenter.segment(stretch)) if (piece.isWordLike === true) putWord(piece.segment);
    return to;
  };

  const scanSource = (length: number): void => {
    const { source, bytes } = buffers;
    let at = 0;
    while (at < length) {
      // Nearly all of most texts: a tight loop over local variables.
      let end = size;
      let lower = asciiWord[source[at]!]!;
      while (lower !== 0) {
        bytes[end++] = lower;
        lower = ++at < length ? asciiWord[source[at]!]! : 0;
      }
      size = end;
      if (at === length) break;
      if (source[at]! < 128) {
        endWord();
        at++;
        continue;
      }
      const codePoint = codePointAt(source, at);
      const found = classOf(codePoint);
      if (found === UNSPACED) {
        at = segment(at, length);
        continue;
      }
      if (found === SPACED) putLower(codePoint);
      else endWord();
      at += lengthFromLead(source[at]!);
    }
    endWord();
  };

  return {
    scan: (text) => {
      const kept = buffers;
      if (kept.ends.length <= text.length) buffers = buffersFor(text.length + 1);
      size = 0;
      wordStart = 0;
      count = 0;
      scanSource(encoder.encodeInto(text, buffers.source).written);
      const { bytes, ends } = buffers;
      if (ends.length > KEPT_LENGTH) buffers = kept;
      return { bytes, ends, count };
    },
  };
}

function buffersFor(length: number): Buffers {
  const capacity = 2 ** Math.ceil(Math.log2(length));
  // Three bytes a UTF-16 unit at most; lower case may be longer than upper case, but no longer than that.
  const bytes = (): Uint8Array => new Uint8Array(3 * capacity);
  return { source: bytes(), bytes: bytes(), ends: new Int32Array(capacity) };
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

import { diffSequences } from './sequence-diff.ts';

export interface WordEdit {
  readonly op: 'equal' | 'delete' | 'insert';
  /** With the white space after its words. Equal text is that of the later version. */
  readonly text: string;
}

export interface WordDiff {
  /**
   * In reading order; a deletion stands before the insertion that replaces it, and no two neighbours have the same
   * `op`.
   */
  readonly edits: readonly WordEdit[];
  /** Words of each kind; punctuation is not counted. */
  readonly equal: number;
  readonly deleted: number;
  readonly inserted: number;
}

/** Scripts that put no spaces between words: each character, with its marks, is compared alone. */
const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const WORD = "\\p{L}\\p{N}\\p{M}_'\u2019";
const TOKEN = new RegExp(`[${UNSPACED}]\\p{M}*|(?:(?![${UNSPACED}])[${WORD}])+|\\S`, 'gu');
const SPEAKING = /[\p{L}\p{N}]/u;

/**
 * The difference of two texts, word by word. White space alone is no difference. Work is bounded by the length of both
 * texts; for texts with little in common the result may not be the shortest.
 */
export function wordDiff(before: string, after: string): WordDiff {
  return tokenDiff(before, after, TOKEN);
}

/** As {@link wordDiff}, by what stands between white space: shows where white space was added or left out. */
export function spacingDiff(before: string, after: string): WordDiff {
  return tokenDiff(before, after, /\S+/gu);
}

function tokenDiff(before: string, after: string, token: RegExp): WordDiff {
  const numbers = new Map<string, number>();
  const a = tokensOf(before, numbers, token);
  const b = tokensOf(after, numbers, token);
  const { deleted, inserted } = diffSequences(a.numbers, b.numbers);
  swallowPunctuation(a, deleted, inserted);
  const counts = { equal: 0, delete: 0, insert: 0 };
  const edits: WordEdit[] = [];
  const add = (op: WordEdit['op'], tokens: Tokens, from: number, to: number): void => {
    if (from === to) return;
    for (let i = from; i < to; i++) counts[op] += tokens.speaks[i] as number;
    const start = from === 0 ? 0 : (tokens.starts[from] as number);
    edits.push({ op, text: tokens.text.slice(start, tokens.starts[to] ?? tokens.text.length) });
  };
  let i = 0;
  let j = 0;
  while (i < a.numbers.length || j < b.numbers.length) {
    const [iStart, jStart] = [i, j];
    while (i < a.numbers.length && j < b.numbers.length && !deleted[i] && !inserted[j]) {
      i++;
      j++;
    }
    add('equal', b, jStart, j);
    const [iChanged, jChanged] = [i, j];
    while (deleted[i]) i++;
    while (inserted[j]) j++;
    add('delete', a, iChanged, i);
    add('insert', b, jChanged, j);
    // Both sequences have the same number of unchanged elements, so one of them always moves.
    if (i === iStart && j === jStart) throw new TypeError('the marks of a difference do not fit its texts');
  }
  return { edits, equal: counts.equal, deleted: counts.delete, inserted: counts.insert };
}

interface Tokens {
  readonly text: string;
  readonly numbers: Int32Array;
  /** Where each begins in the text. */
  readonly starts: readonly number[];
  /** 1: it has a letter or a digit. */
  readonly speaks: Uint8Array;
}

function tokensOf(text: string, numbers: Map<string, number>, pattern: RegExp): Tokens {
  const starts: number[] = [];
  const found: number[] = [];
  const speaks: number[] = [];
  for (const { 0: token, index } of text.matchAll(pattern)) {
    let number = numbers.get(token);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(token, number);
    }
    starts.push(index);
    found.push(number);
    speaks.push(SPEAKING.test(token) ? 1 : 0);
  }
  return { text, numbers: Int32Array.from(found), starts, speaks: Uint8Array.from(speaks) };
}

/** A comma that both texts have by chance, between changed words, joins the change: the result reads better. */
function swallowPunctuation(a: Tokens, deleted: Uint8Array, inserted: Uint8Array): void {
  let j = 0;
  let i = 0;
  while (i < deleted.length || j < inserted.length) {
    while (deleted[i]) i++;
    while (inserted[j]) j++;
    const isAfterChange = (deleted[i - 1] ?? 0) + (inserted[j - 1] ?? 0) > 0;
    let length = 0;
    let isSilent = true;
    while (
      i + length < deleted.length &&
      j + length < inserted.length &&
      !deleted[i + length] &&
      !inserted[j + length]
    ) {
      isSilent &&= a.speaks[i + length] === 0;
      length++;
    }
    const isBeforeChange = (deleted[i + length] ?? 0) + (inserted[j + length] ?? 0) > 0;
    if (isSilent && isAfterChange && isBeforeChange) {
      deleted.fill(1, i, i + length);
      inserted.fill(1, j, j + length);
    }
    i += length;
    j += length;
    if (length === 0 && !deleted[i] && !inserted[j]) break;
  }
}

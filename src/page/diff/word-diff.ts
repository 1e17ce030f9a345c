/**
 * Differences of two sequences by E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (Algorithmica 1,
 * 1986), in its linear-space form. Searches that exceed the cost limit are cut where they came furthest, as in GNU
 * diff: the result is then valid, but may not be the shortest.
 */
interface SequenceMarks {
  /** 1 for each element of the first sequence that the second lacks. */
  readonly deleted: Uint8Array;
  /** 1 for each element of the second sequence that the first lacks. */
  readonly inserted: Uint8Array;
}

/** Steps of one search from each end; work is bounded by this times the length of both sequences. */
const MAX_SEARCH_STEPS = 1_024;

/** Elements are equal when their numbers are. */
export function diffSequences(a: Int32Array, b: Int32Array, maxSteps = MAX_SEARCH_STEPS): SequenceMarks {
  const deleted = new Uint8Array(a.length);
  const inserted = new Uint8Array(b.length);
  const search = new MiddleSearch(a, b, Math.max(1, maxSteps));
  // An explicit stack: sequences that differ everywhere would recurse deeply.
  const open: Box[] = [{ aLow: 0, aHigh: a.length, bLow: 0, bHigh: b.length }];
  for (let box = open.pop(); box !== undefined; box = open.pop()) {
    const { aLow, aHigh, bLow, bHigh } = trimmed(a, b, box);
    if (aLow === aHigh) inserted.fill(1, bLow, bHigh);
    else if (bLow === bHigh) deleted.fill(1, aLow, aHigh);
    else {
      const { x, y } = search.middle({ aLow, aHigh, bLow, bHigh });
      open.push({ aLow, aHigh: x, bLow, bHigh: y }, { aLow: x, aHigh, bLow: y, bHigh });
    }
  }
  return { deleted, inserted };
}

interface Box {
  readonly aLow: number;
  readonly aHigh: number;
  readonly bLow: number;
  readonly bHigh: number;
}

/** Without the common prefix and suffix. */
function trimmed(a: Int32Array, b: Int32Array, { aLow, aHigh, bLow, bHigh }: Box): Box {
  let [aStart, aEnd, bStart, bEnd] = [aLow, aHigh, bLow, bHigh];
  while (aStart < aEnd && bStart < bEnd && a[aStart] === b[bStart]) {
    aStart++;
    bStart++;
  }
  while (aStart < aEnd && bStart < bEnd && a[aEnd - 1] === b[bEnd - 1]) {
    aEnd--;
    bEnd--;
  }
  return { aLow: aStart, aHigh: aEnd, bLow: bStart, bHigh: bEnd };
}

/** Looks for a point on a shortest path from corner to corner, from both at once. */
class MiddleSearch {
  private readonly a: Int32Array;
  private readonly b: Int32Array;
  private readonly maxSteps: number;
  /** Furthest position in `a` reached on each diagonal (x - y), from the beginning and from the end. */
  private readonly forward: Int32Array;
  private readonly backward: Int32Array;
  private readonly zero: number;

  constructor(a: Int32Array, b: Int32Array, maxSteps: number) {
    this.a = a;
    this.b = b;
    this.maxSteps = Math.min(maxSteps, a.length + b.length + 1);
    this.zero = this.maxSteps + 1;
    this.forward = new Int32Array(2 * this.zero + 1);
    this.backward = new Int32Array(2 * this.zero + 1);
  }

  /** In a box whose first elements differ, and whose last ones do. Never one of the two corners. */
  middle(box: Box): { readonly x: number; readonly y: number } {
    const { forward, backward, zero } = this;
    const width = box.aHigh - box.aLow;
    const height = box.bHigh - box.bLow;
    const delta = width - height;
    const isOdd = (delta & 1) !== 0;
    forward[zero + 1] = 0;
    backward[zero + 1] = 0;
    for (let d = 0; d <= this.maxSteps; d++) {
      // Diagonals are numbered from the search's own corner: forwards x - y, backwards the same seen from the end.
      for (let k = -d; k <= d; k += 2) {
        if (k < -height || k > width) continue;
        const x = this.advance(forward, k, d, box, 1);
        const other = delta - k;
        if (isOdd && Math.abs(other) < d && x + (backward[zero + other] as number) >= width) {
          return { x: box.aLow + x, y: box.bLow + x - k };
        }
      }
      for (let k = -d; k <= d; k += 2) {
        if (k < -height || k > width) continue;
        const x = this.advance(backward, k, d, box, -1);
        const other = delta - k;
        if (!isOdd && Math.abs(other) <= d && x + (forward[zero + other] as number) >= width) {
          return { x: box.aHigh - x, y: box.bHigh - (x - k) };
        }
      }
    }
    return this.furthest(box);
  }

  /** Makes one more edit on diagonal `k`, then follows equal elements; returns the position reached. */
  private advance(reached: Int32Array, k: number, d: number, box: Box, direction: 1 | -1): number {
    const { a, b, zero } = this;
    const width = box.aHigh - box.aLow;
    const height = box.bHigh - box.bLow;
    const below = reached[zero + k + 1] as number;
    const above = (reached[zero + k - 1] as number) + 1;
    let x = k === -d || (k !== d && above <= below) ? below : above;
    // A neighbour that lies outside the box was not reached in this search.
    if (k === width && k !== -d) x = above;
    if (k === -height && k !== d) x = below;
    let y = x - k;
    if (direction === 1) {
      while (x < width && y < height && a[box.aLow + x] === b[box.bLow + y]) {
        x++;
        y++;
      }
    } else {
      while (x < width && y < height && a[box.aHigh - 1 - x] === b[box.bHigh - 1 - y]) {
        x++;
        y++;
      }
    }
    reached[zero + k] = x;
    return x;
  }

  /** The point on the longer path among the last diagonals of both searches. */
  private furthest(box: Box): { readonly x: number; readonly y: number } {
    const { forward, backward, zero, maxSteps } = this;
    const width = box.aHigh - box.aLow;
    const height = box.bHigh - box.bLow;
    let best = { x: box.aLow, y: box.bLow };
    let way = 0;
    for (let k = -maxSteps; k <= maxSteps; k += 2) {
      if (k < -height || k > width) continue;
      for (const [reached, isForward] of [
        [forward, true],
        [backward, false],
      ] as const) {
        const x = Math.min(reached[zero + k] as number, width, height + k);
        const y = x - k;
        if (x < 0 || y < 0 || x + y <= way || x + y >= width + height) continue;
        way = x + y;
        best = isForward ? { x: box.aLow + x, y: box.bLow + y } : { x: box.aHigh - x, y: box.bHigh - y };
      }
    }
    return best;
  }
}

export interface WordEdit {
  readonly op: 'equal' | 'delete' | 'insert';
  /** Includes the white space after its words. Equal text is that of the later version. */
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

/** Scripts that put no spaces between words: each character, with its marks, is compared by itself. */
const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const WORD = "\\p{L}\\p{N}\\p{M}_'\u2019";
const TOKEN = new RegExp(`[${UNSPACED}]\\p{M}*|(?:(?![${UNSPACED}])[${WORD}])+|\\S`, 'gu');
const SPEAKING = /[\p{L}\p{N}]/u;

/**
 * The difference of two texts, word by word. A difference only in white space is none. Work is bounded by the length of
 * both texts; for texts with little in common the result may not be the shortest.
 */
export function wordDiff(before: string, after: string): WordDiff {
  return tokenDiff(before, after, TOKEN);
}

/** Like {@link wordDiff}, but compares runs between white space: shows where white space was added or removed. */
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

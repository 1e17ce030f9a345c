/** Bins of the histogram that bounds a common subsequence from above. */
const BINS = 32;
const ASCII = 128;

/**
 * One text made ready to be compared with many: the bits of its characters' positions, so that a comparison takes one
 * step a character and 32 positions (M. Crochemore et al., A fast and practical bit-vector algorithm for the longest
 * common subsequence problem, 2001).
 */
export class LcsPattern {
  readonly text: string;
  readonly #words: number;
  readonly #ascii: Int32Array;
  readonly #others: Map<number, Int32Array> | null;
  readonly #bins: Uint16Array;
  readonly #row: Int32Array;

  constructor(text: string) {
    this.text = text;
    this.#words = Math.max(1, Math.ceil(text.length / 32));
    this.#ascii = new Int32Array(ASCII * this.#words);
    this.#row = new Int32Array(this.#words);
    let others: Map<number, Int32Array> | null = null;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code < ASCII) this.#ascii[code * this.#words + (i >>> 5)]! |= 1 << (i & 31);
      else {
        others ??= new Map();
        let mask = others.get(code);
        if (mask === undefined) {
          mask = new Int32Array(this.#words);
          others.set(code, mask);
        }
        mask[i >>> 5]! |= 1 << (i & 31);
      }
    }
    this.#others = others;
    this.#bins = binsOf(text);
  }

  /** Length of the longest common subsequence, in UTF-16 units. */
  lcs(other: string): number {
    const words = this.#words;
    const row = this.#row.fill(-1);
    for (let i = 0; i < other.length; i++) {
      const code = other.charCodeAt(i);
      let mask: Int32Array | undefined = this.#ascii;
      let at = code * words;
      if (code >= ASCII) {
        mask = this.#others?.get(code);
        at = 0;
        if (mask === undefined) continue;
      }
      let carry = 0;
      for (let w = 0; w < words; w++) {
        const value = row[w]!;
        const both = value & mask[at + w]!;
        const sum = (value >>> 0) + (both >>> 0) + carry;
        carry = sum > 0xffff_ffff ? 1 : 0;
        row[w] = sum | 0 | (value & ~both);
      }
    }
    let zeros = 0;
    for (let w = 0; w < words; w++) {
      const left = this.text.length - 32 * w;
      zeros += ones(left >= 32 ? ~row[w]! : ~row[w]! & ((1 << left) - 1));
    }
    return zeros;
  }

  /**
   * Mean of the shares that the longest common subsequence has of the two lengths; 1 for two empty texts, 0 for one.
   */
  similarity(other: string): number {
    const { length } = this.text;
    if (length === 0 || other.length === 0) return length === other.length ? 1 : 0;
    return meanShare(this.lcs(other), length, other.length);
  }

  /** No similarity is above it; costs a small part of one. @param bins `binsOf(other)` */
  similarityBound(otherLength: number, bins: Uint16Array): number {
    const { length } = this.text;
    if (length === 0 || otherLength === 0) return 1;
    let common = 0;
    for (let i = 0; i < BINS; i++) {
      common += Math.min(this.#bins[i]!, bins[i]!);
    }
    return meanShare(common, length, otherLength);
  }
}

export interface NearestPattern {
  /** Place of the pattern in the list. */
  readonly at: number;
  readonly similarity: number;
}

/**
 * The pattern most similar to a text, the first of several; `null`: none is as similar as `least`. The upper bounds
 * skip only comparisons that cannot win.
 */
export function nearestPattern(text: string, patterns: readonly LcsPattern[], least: number): NearestPattern | null {
  const bins = binsOf(text);
  let at = -1;
  let best = least;
  for (const [i, pattern] of patterns.entries()) {
    const bound = pattern.similarityBound(text.length, bins);
    if (at < 0 ? bound < best : bound <= best) continue;
    const similarity = pattern.similarity(text);
    if (at < 0 ? similarity < best : similarity <= best) continue;
    at = i;
    best = similarity;
    if (similarity === 1) break;
  }
  return at < 0 ? null : { at, similarity: best };
}

/** How often characters fall into each bin. */
export function binsOf(text: string): Uint16Array {
  const bins = new Uint16Array(BINS);
  for (let i = 0; i < text.length; i++) bins[text.charCodeAt(i) & (BINS - 1)]! += 1;
  return bins;
}

export function lcsSimilarity(a: string, b: string): number {
  return new LcsPattern(a).similarity(b);
}

function meanShare(common: number, a: number, b: number): number {
  return (common / a + common / b) / 2;
}

function ones(word: number): number {
  let bits = word - ((word >>> 1) & 0x5555_5555);
  bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333);
  return (((bits + (bits >>> 4)) & 0x0f0f_0f0f) * 0x0101_0101) >>> 24;
}

import { setBits } from '../../../../page/near/hamming.ts';
import { readSketch, SKETCH_WORDS, wordsOverlap } from '../../../../page/near/page-dimensions.ts';

/** Prints remembered of a family. */
const KEPT = 32;
/** Bits in which prints of like pages differ at most, as for duplicates. */
const NEAR = 3;
/**
 * Likeness of texts from which one has nothing new beside the other: pages of a calendar that differ in their dates.
 * Pages of one template that each tell something of their own are mostly below it.
 */
const LIKE = 0.8;
/** Hex digits of a print. */
const PRINT_DIGITS = 16;

/**
 * The last visits to a family: 64-bit prints (signatures of pages, digests of bodies, hashes of targets), and sketches
 * of the texts where pages have one.
 */
export class RecentPrints {
  readonly #high = new Uint32Array(KEPT);
  readonly #low = new Uint32Array(KEPT);
  readonly #sketches: string[] = [];
  /** The same as words; made when the first page with a sketch comes. */
  #words: Int32Array | null = null;
  #count = 0;
  /** How many were added since they were last taken. */
  #fresh = 0;

  /** @param visits earlier ones as {@link prints} gives them, the oldest first */
  constructor(visits: readonly string[] = []) {
    for (const visit of visits) this.#add(visit.slice(0, PRINT_DIGITS), visit.slice(PRINT_DIGITS) || null);
    this.#fresh = 0;
  }

  /** Those remembered, the oldest first: 16 hex digits each, and those of the sketch where there is one. */
  prints(): string[] {
    return this.#last(Math.min(this.#count, KEPT));
  }

  /** Those remembered since the last call, the oldest first. */
  takeFresh(): string[] {
    const fresh = this.#last(Math.min(this.#fresh, KEPT));
    this.#fresh = 0;
    return fresh;
  }

  #last(known: number): string[] {
    return Array.from({ length: known }, (_, i) => {
      const at = (this.#count - known + i) % KEPT;
      return hex(this.#high[at]!) + hex(this.#low[at]!) + this.#sketches[at]!;
    });
  }

  /**
   * Whether a page is near one of the last, by its print or by its text; one that is not is remembered.
   * @param print 16 hex digits
   */
  isNear(print: string, sketch: string | null = null): boolean {
    const [high, low] = wordsOf(print);
    const known = Math.min(this.#count, KEPT);
    for (let i = 0; i < known; i++) {
      if (setBits(high ^ this.#high[i]!) + setBits(low ^ this.#low[i]!) <= NEAR) return true;
    }
    if (sketch !== null && this.#isLike(sketch, known)) return true;
    this.#add(print, sketch);
    return false;
  }

  #isLike(sketch: string, known: number): boolean {
    const words = this.#words;
    if (words === null) return false;
    readSketch(sketch, OWN);
    for (let i = 0; i < known; i++) {
      const overlap = wordsOverlap(OWN, 0, words, i * SKETCH_WORDS);
      if (overlap !== null && overlap.likeness >= LIKE) return true;
    }
    return false;
  }

  #add(print: string, sketch: string | null): void {
    const at = this.#count % KEPT;
    const [high, low] = wordsOf(print);
    this.#high[at] = high;
    this.#low[at] = low;
    this.#sketches[at] = sketch ?? '';
    if (sketch !== null) this.#words ??= new Int32Array(KEPT * SKETCH_WORDS);
    if (this.#words !== null) readSketch(sketch, this.#words, at * SKETCH_WORDS);
    this.#count++;
    this.#fresh++;
  }
}

const OWN = new Int32Array(SKETCH_WORDS);

const wordsOf = (print: string): [high: number, low: number] => [
  Number.parseInt(print.slice(0, 8), 16),
  Number.parseInt(print.slice(8, 16), 16),
];

const hex = (word: number): string => word.toString(16).padStart(8, '0');

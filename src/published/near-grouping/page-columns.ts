import type { RowBlock } from '../../core/domain/crawl/near/group-rows.ts';
import type { Preference } from '../../core/domain/crawl/states/duplicate.ts';
import { readSketch, SKETCH_WORDS } from '../../page/near/page-dimensions.ts';

/** One page, its fingerprint under the mask of its scope. */
export interface PageRow {
  readonly number: number;
  readonly high: number;
  readonly low: number;
  readonly scope: number;
  readonly chars: number;
  readonly site: number;
  readonly sketch: string | null;
  readonly score: number;
  readonly foundAt: number;
  readonly urlChars: number;
  readonly isHttps: boolean;
  readonly isIncoming: boolean;
}

/** Bytes of a page: two doubles, eight words, a sketch. */
const ROW_BYTES = 16 + 4 * (8 + SKETCH_WORDS);
const IS_HTTPS = 1;
const IS_INCOMING = 2;

/** The data of pages for grouping, in the columns of one buffer, which can be stored as it is. */
export class PageColumns implements RowBlock {
  size = 0;
  readonly capacity: number;
  /** All columns. */
  readonly bytes: Uint8Array;
  readonly number: Int32Array;
  readonly high: Int32Array;
  readonly low: Int32Array;
  readonly scope: Int32Array;
  readonly chars: Int32Array;
  readonly site: Int32Array;
  readonly sketches: Int32Array;
  readonly #urlChars: Int32Array;
  readonly #flags: Int32Array;
  readonly #score: Float64Array;
  readonly #foundAt: Float64Array;

  /** @param isShared whether threads share the buffer */
  constructor(capacity: number, isShared = false) {
    this.capacity = capacity;
    const buffer = isShared ? new SharedArrayBuffer(capacity * ROW_BYTES) : new ArrayBuffer(capacity * ROW_BYTES);
    this.bytes = new Uint8Array(buffer);
    this.#score = new Float64Array(buffer, 0, capacity);
    this.#foundAt = new Float64Array(buffer, 8 * capacity, capacity);
    const words = (column: number) => new Int32Array(buffer, (16 + 4 * column) * capacity, capacity);
    this.number = words(0);
    this.high = words(1);
    this.low = words(2);
    this.scope = words(3);
    this.#urlChars = words(4);
    this.#flags = words(5);
    this.chars = words(6);
    this.site = words(7);
    this.sketches = new Int32Array(buffer, (16 + 4 * 8) * capacity, SKETCH_WORDS * capacity);
  }

  get isFull(): boolean {
    return this.size === this.capacity;
  }

  isIncoming(row: number): boolean {
    return (this.#flags[row]! & IS_INCOMING) !== 0;
  }

  add(page: PageRow): void {
    const at = this.size++;
    this.number[at] = page.number;
    this.high[at] = page.high;
    this.low[at] = page.low;
    this.scope[at] = page.scope;
    this.chars[at] = page.chars;
    this.site[at] = page.site;
    readSketch(page.sketch, this.sketches, SKETCH_WORDS * at);
    this.#urlChars[at] = page.urlChars;
    this.#flags[at] = (page.isHttps ? IS_HTTPS : 0) | (page.isIncoming ? IS_INCOMING : 0);
    this.#score[at] = page.score;
    this.#foundAt[at] = page.foundAt;
  }

  /** Appends a row of another block. */
  addFrom(other: PageColumns, row: number): void {
    const at = this.size++;
    this.number[at] = other.number[row]!;
    this.high[at] = other.high[row]!;
    this.low[at] = other.low[row]!;
    this.scope[at] = other.scope[row]!;
    this.chars[at] = other.chars[row]!;
    this.site[at] = other.site[row]!;
    this.sketches.set(other.sketches.subarray(SKETCH_WORDS * row, SKETCH_WORDS * (row + 1)), SKETCH_WORDS * at);
    this.#urlChars[at] = other.#urlChars[row]!;
    this.#flags[at] = other.#flags[row]!;
    this.#score[at] = other.#score[row]!;
    this.#foundAt[at] = other.#foundAt[row]!;
  }

  /** Rows in the order of preference. */
  inOrder(isBefore: PageOrder): Uint32Array {
    return Uint32Array.from({ length: this.size }, (_, row) => row).sort((a, b) => isBefore(this, a, this, b));
  }

  /** Incoming pages first; pages equal by all criteria are ordered by number. */
  static order(prefer: readonly Preference[]): PageOrder {
    const by: Readonly<Record<Preference, PageOrder>> = {
      score: (a, i, b, j) => b.#score[j]! - a.#score[i]!,
      https: (a, i, b, j) => (b.#flags[j]! & IS_HTTPS) - (a.#flags[i]! & IS_HTTPS),
      shortest: (a, i, b, j) => a.#urlChars[i]! - b.#urlChars[j]!,
      oldest: (a, i, b, j) => a.#foundAt[i]! - b.#foundAt[j]!,
    };
    const criteria = prefer.map((name) => by[name]);
    return (a, i, b, j) => {
      const incoming = (b.#flags[j]! & IS_INCOMING) - (a.#flags[i]! & IS_INCOMING);
      if (incoming !== 0) return incoming;
      for (const criterion of criteria) {
        const difference = criterion(a, i, b, j);
        if (difference !== 0) return difference;
      }
      return a.number[i]! - b.number[j]!;
    };
  }
}

/** Negative when row `i` of `a` goes before row `j` of `b`. */
export type PageOrder = (a: PageColumns, i: number, b: PageColumns, j: number) => number;

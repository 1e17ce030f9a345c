import { setBits } from '../../page/near/hamming.ts';

/** Prints remembered of a family. */
const KEPT = 32;
/** Bits in which prints of like pages differ at most, as for duplicates. */
const NEAR = 3;

/** The last 64-bit prints of the visits to a family: signatures of pages, digests of bodies, hashes of targets. */
export class RecentPrints {
  readonly #high = new Uint32Array(KEPT);
  readonly #low = new Uint32Array(KEPT);
  #count = 0;
  /** How many were added since they were last taken. */
  #fresh = 0;

  /** @param prints of earlier visits, 16 hex digits each, the oldest first */
  constructor(prints: readonly string[] = []) {
    for (const print of prints) this.#add(...wordsOf(print));
    this.#fresh = 0;
  }

  /** Those remembered, the oldest first. */
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
      return hex(this.#high[at]!) + hex(this.#low[at]!);
    });
  }

  /** Whether a print is near one of the last; one that is not is remembered. @param print 16 hex digits */
  isNear(print: string): boolean {
    const [high, low] = wordsOf(print);
    const known = Math.min(this.#count, KEPT);
    for (let i = 0; i < known; i++) {
      if (setBits(high ^ this.#high[i]!) + setBits(low ^ this.#low[i]!) <= NEAR) return true;
    }
    this.#add(high, low);
    return false;
  }

  #add(high: number, low: number): void {
    this.#high[this.#count % KEPT] = high;
    this.#low[this.#count % KEPT] = low;
    this.#count++;
    this.#fresh++;
  }
}

const wordsOf = (print: string): [high: number, low: number] => [
  Number.parseInt(print.slice(0, 8), 16),
  Number.parseInt(print.slice(8, 16), 16),
];

const hex = (word: number): string => word.toString(16).padStart(8, '0');

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

  /** Whether a print is near one of the last; one that is not is remembered. @param print 16 hex digits */
  isNear(print: string): boolean {
    const high = Number.parseInt(print.slice(0, 8), 16);
    const low = Number.parseInt(print.slice(8, 16), 16);
    const known = Math.min(this.#count, KEPT);
    for (let i = 0; i < known; i++) {
      if (setBits(high ^ this.#high[i]!) + setBits(low ^ this.#low[i]!) <= NEAR) return true;
    }
    this.#high[this.#count % KEPT] = high;
    this.#low[this.#count % KEPT] = low;
    this.#count++;
    return false;
  }
}

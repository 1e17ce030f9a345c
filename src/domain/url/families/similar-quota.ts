import { urlSignature } from './url-features.ts';

/**
 * Counts URLs by signature. The first `quota` of each pass unchanged, later ones are only deferred: unlike in the
 * published filter, features count together, and no URL is lost.
 */
export class SimilarQuota {
  readonly #quota: number;
  readonly #maxSignatures: number;
  readonly #counts = new Map<string, number>();

  /** @param maxSignatures further signatures are let in uncounted: bounds memory */
  constructor(quota: number, maxSignatures: number) {
    this.#quota = quota;
    this.#maxSignatures = maxSignatures;
  }

  /** Counts a URL; returns whether it is beyond the quota of its signature. */
  add(url: string): boolean {
    const signature = urlSignature(url);
    const count = this.#counts.get(signature);
    if (count === undefined) {
      if (this.#counts.size < this.#maxSignatures) this.#counts.set(signature, 1);
      return this.#quota < 1;
    }
    this.#counts.set(signature, count + 1);
    return count >= this.#quota;
  }

  countOf(url: string): number {
    return this.#counts.get(urlSignature(url)) ?? 0;
  }
}

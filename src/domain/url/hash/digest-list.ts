// domain/url/hash/: digests of URLs, and the partition of a host.
import { copyDigest, DIGEST_WORDS } from './url-digest.ts';

/** Digests in one growing array. */
export class DigestList {
  #words = new Uint32Array(16 * DIGEST_WORDS);
  #length = 0;

  /** Copies one digest of `digests`, at word `at`. */
  push(digests: Uint32Array, at: number): void {
    if (this.#length === this.#words.length) this.#grow(this.#length + DIGEST_WORDS);
    copyDigest(digests, at, this.#words, this.#length);
    this.#length += DIGEST_WORDS;
  }

  append(digests: Uint32Array): void {
    const length = this.#length + digests.length;
    if (length > this.#words.length) this.#grow(length);
    this.#words.set(digests, this.#length);
    this.#length = length;
  }

  /** A view: it holds until the next `push`. */
  words(): Uint32Array {
    return this.#words.subarray(0, this.#length);
  }

  get count(): number {
    return this.#length / DIGEST_WORDS;
  }

  has(digests: Uint32Array, at: number): boolean {
    const words = this.#words;
    for (let own = 0; own < this.#length; own += DIGEST_WORDS) {
      if (words[own] === digests[at] && words[own + 1] === digests[at + 1] && words[own + 2] === digests[at + 2]) {
        if (words[own + 3] === digests[at + 3]) return true;
      }
    }
    return false;
  }

  #grow(least: number): void {
    const words = new Uint32Array(Math.max(least, 2 * this.#words.length));
    words.set(this.words());
    this.#words = words;
  }
}

// core/domain/url/cache/: caches of URLs that were seen lately or often.

import { murmur3 } from '../../../../page/near/murmur3.ts';

/** Links from a seed that are told apart; all beyond count as that many. */
const MAX_DEPTH = 255;
/** Seed of the hash by which a slot knows its URL, other than that of its place. */
const TAG_SEED = 0x9747b28c;

/**
 * The depths at which URLs were met last, in one slot of five bytes each. Bounded: a URL takes the slot of another one,
 * which is forgotten then. Two hashes have to agree before a slot speaks for a URL.
 */
export class DepthCache {
  readonly #tags: Uint32Array;
  /** Depth + 1; 0: the slot is empty. */
  readonly #depths: Uint16Array;
  readonly #mask: number;

  /** @param bits slots, as a power of two; default: 131,072, in 800 KB */
  constructor(bits = 17) {
    this.#tags = new Uint32Array(1 << bits);
    this.#depths = new Uint16Array(1 << bits);
    this.#mask = (1 << bits) - 1;
  }

  /** Whether the URL is known to lie that near to a seed, or nearer. False where it is not known. */
  isWithin(url: string, depth: number): boolean {
    const slot = murmur3(url) & this.#mask;
    const known = this.#depths[slot]!;
    return known > 0 && known - 1 <= depth && this.#tags[slot] === murmur3(url, TAG_SEED);
  }

  /** The depth counts from now on, be it smaller or greater than the one before. */
  note(url: string, depth: number): void {
    const slot = murmur3(url) & this.#mask;
    this.#tags[slot] = murmur3(url, TAG_SEED);
    this.#depths[slot] = Math.min(depth, MAX_DEPTH) + 1;
  }
}

// core/domain/url/cache/: caches of URLs that were seen lately or often.

/** Links from a seed that are told apart; all beyond count as that many. */
const MAX_DEPTH = 254;

/**
 * The depths at which URLs were met last, in one slot of five bytes each. Bounded: a URL takes the slot of another one,
 * which is forgotten then. Two hashes have to agree before a slot speaks for a URL.
 */
export class DepthCache {
  readonly #tags: Uint32Array;
  /** Depth + 1; 0: the slot is empty. */
  readonly #depths: Uint8Array;
  readonly #mask: number;

  /** @param bits slots, as a power of two; default: 1,048,576, in 5 MB. A link to a URL without one costs a read. */
  constructor(bits = 20) {
    this.#tags = new Uint32Array(1 << bits);
    this.#depths = new Uint8Array(1 << bits);
    this.#mask = (1 << bits) - 1;
  }

  /** Whether the URL is known to lie within `depth` links of a seed. False where it is not known. */
  isWithin(url: string, depth: number): boolean {
    hash(url);
    const slot = HASHES[0]! & this.#mask;
    const known = this.#depths[slot]!;
    return known > 0 && known - 1 <= depth && this.#tags[slot] === HASHES[1]! >>> 0;
  }

  /** The depth counts from now on, whether smaller or greater than the one before. */
  note(url: string, depth: number): void {
    hash(url);
    const slot = HASHES[0]! & this.#mask;
    this.#tags[slot] = HASHES[1]!;
    this.#depths[slot] = Math.min(depth, MAX_DEPTH) + 1;
  }
}

/** The two hashes of the last text. */
const HASHES = new Int32Array(2);

/**
 * Two hashes of a text in one pass over its code units, without a copy of it: multiplications as in FNV-1a, by odd
 * numbers of 32 bits, mixed at the end as in MurmurHash3. Not safe against an adversary.
 */
function hash(text: string): void {
  let one = 0xdeadbeef | 0;
  let other = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    one = Math.imul(one ^ unit, 0x9e3779b1);
    other = Math.imul(other ^ unit, 0x5f356495);
  }
  HASHES[0] = finished(one ^ (other >>> 16));
  HASHES[1] = finished(other ^ (one >>> 15));
}

function finished(value: number): number {
  const half = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  const whole = Math.imul(half ^ (half >>> 13), 0xc2b2ae35);
  return whole ^ (whole >>> 16);
}

// core/domain/url/cache/: caches of URLs that were seen lately or often.

/** Links from a seed that are told apart; all beyond count as that many. */
const MAX_DEPTH = 254;

/** Slots at first, as a power of two. */
const FIRST_BITS = 12;
/** Slots for each URL that was met, before there are twice as many. */
const SPARE = 8;

/**
 * The depths at which URLs were met last, in one slot of five bytes each. Bounded: a URL takes the slot of another one,
 * which is forgotten then. Two hashes have to agree before a slot speaks for a URL.
 */
export class DepthCache {
  readonly #most: number;
  #tags: Uint32Array;
  /** Depth + 1; 0: the slot is empty. */
  #depths: Uint8Array;
  #mask: number;
  /** URLs that were put into a slot. */
  #noted = 0;

  /**
   * @param bits slots at most, as a power of two; default: 1,048,576, in 5 MB. Few URLs have fewer. A link to a URL
   *   without one costs a read.
   */
  constructor(bits = 20) {
    const first = Math.min(bits, FIRST_BITS);
    this.#most = 1 << bits;
    this.#tags = new Uint32Array(1 << first);
    this.#depths = new Uint8Array(1 << first);
    this.#mask = (1 << first) - 1;
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
    const tag = HASHES[1]! >>> 0;
    let slot = HASHES[0]! & this.#mask;
    if (this.#depths[slot] === 0 || this.#tags[slot] !== tag) {
      if (SPARE * ++this.#noted > this.#mask && this.#mask + 1 < this.#most) this.#grow();
      slot = HASHES[0]! & this.#mask;
      this.#tags[slot] = tag;
    }
    this.#depths[slot] = Math.min(depth, MAX_DEPTH) + 1;
  }

  /**
   * Either half may be the place of what a slot has: its tag tells there, too. What is noted later has one of them, so
   * that the other one is out of date; no URL has its place there.
   */
  #grow(): void {
    const size = this.#depths.length;
    const [tags, depths] = [new Uint32Array(2 * size), new Uint8Array(2 * size)];
    for (const at of [0, size]) {
      tags.set(this.#tags, at);
      depths.set(this.#depths, at);
    }
    this.#tags = tags;
    this.#depths = depths;
    this.#mask = 2 * this.#mask + 1;
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

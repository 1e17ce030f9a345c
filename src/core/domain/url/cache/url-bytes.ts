import { DIGEST_WORDS, digestUrl } from '../hash/url-digest.ts';

/** Slots at first, as a power of two. */
const FIRST_BITS = 12;
/** Slots for each URL that was put, before there are twice as many. */
const SPARE = 8;
/** Words of a digest by which a slot knows its URL; another one is its place. */
const TAG_WORDS = 2;
const DIGEST = new Uint32Array(DIGEST_WORDS);

/**
 * A byte for each of the URLs that were put last, in one slot of nine bytes each. Bounded: a URL takes the slot of
 * another one, which is forgotten then. 64 bits tell a URL from others of its slot: of 10^18 URLs that were not put,
 * one is taken for another.
 */
export class UrlBytes {
  readonly #seed: number;
  readonly #most: number;
  #tags: Uint32Array;
  /** 0: none. */
  #bytes: Uint8Array;
  #mask: number;
  /** URLs that have taken a slot. */
  #put = 0;

  /**
   * @param bits slots at most, as a power of two; default: 1,048,576, in 9 MB. Few URLs have fewer.
   * @param seed 32 bits that nobody else knows, where a stranger could gain by two URLs of one digest
   */
  constructor(bits = 20, seed = 0) {
    const first = 1 << Math.min(bits, FIRST_BITS);
    this.#seed = seed;
    this.#most = 1 << bits;
    this.#tags = new Uint32Array(TAG_WORDS * first);
    this.#bytes = new Uint8Array(first);
    this.#mask = first - 1;
  }

  /** 0 where the URL has none, or was forgotten. */
  get(url: string): number {
    digestUrl(url, DIGEST, 0, this.#seed);
    return this.#isOwn() ? this.#bytes[this.#slot]! : 0;
  }

  /** @param value 0: the URL has none any more */
  set(url: string, value: number): void {
    digestUrl(url, DIGEST, 0, this.#seed);
    if (!this.#isOwn()) {
      if (value === 0) return;
      if (SPARE * ++this.#put > this.#mask && this.#mask + 1 < this.#most) this.#grow();
      this.#tags[TAG_WORDS * this.#slot] = DIGEST[1]!;
      this.#tags[TAG_WORDS * this.#slot + 1] = DIGEST[2]!;
    }
    this.#bytes[this.#slot] = value;
  }

  get #slot(): number {
    return DIGEST[0]! & this.#mask;
  }

  #isOwn(): boolean {
    const at = TAG_WORDS * this.#slot;
    return this.#tags[at] === DIGEST[1] && this.#tags[at + 1] === DIGEST[2];
  }

  /** Either half may be the place of what a slot has; from then on the other one is the place of no URL of that tag. */
  #grow(): void {
    const [tags, bytes] = [new Uint32Array(2 * this.#tags.length), new Uint8Array(2 * this.#bytes.length)];
    for (const half of [0, 1]) {
      tags.set(this.#tags, half * this.#tags.length);
      bytes.set(this.#bytes, half * this.#bytes.length);
    }
    this.#tags = tags;
    this.#bytes = bytes;
    this.#mask = bytes.length - 1;
  }
}

import { DIGEST_WORDS } from '../hash/url-digest.ts';

/** Words of a digest that a slot keeps; the place of the slot is that of another one. */
const KEPT = 2;

/** Slots at first, as a power of two. */
const FIRST_BITS = 12;
/** Slots for each URL that was added, before there are twice as many. */
const SPARE = 8;

/**
 * Digests of known URLs, in one slot of eight bytes each. Bounded: a URL takes the slot of another one, which is
 * forgotten then. A slot speaks for a URL whose digest has its place and its 64 bits: of 10^18 unknown URLs, one is
 * taken for a known one.
 */
export class KnownDigests {
  readonly #most: number;
  #slots: Uint32Array;
  #mask: number;
  /** Digests that were put into a slot. */
  #added = 0;

  /** @param bits slots at most, as a power of two; default: 1,048,576, in 8 MB. Few URLs have fewer. */
  constructor(bits = 20) {
    const first = Math.min(bits, FIRST_BITS);
    this.#most = 1 << bits;
    this.#slots = new Uint32Array(KEPT << first);
    this.#mask = (1 << first) - 1;
  }

  /** Whether the URL of a digest that `digests` has from `at` on is known; false where it has no slot. */
  has(digests: Uint32Array, at: number): boolean {
    const slot = this.#slotOf(digests, at);
    const [one, other] = [digests[at + 1]!, digests[at + 2]!];
    // An empty slot.
    if (one === 0 && other === 0) return false;
    return this.#slots[slot] === one && this.#slots[slot + 1] === other;
  }

  add(digests: Uint32Array, at: number): void {
    if (this.has(digests, at)) return;
    if (SPARE * ++this.#added > this.#mask && this.#mask + 1 < this.#most) this.#grow();
    const slot = this.#slotOf(digests, at);
    this.#slots[slot] = digests[at + 1]!;
    this.#slots[slot + 1] = digests[at + 2]!;
  }

  /** Either half may be the place of what a slot has: its 64 bits tell there, too. */
  #grow(): void {
    const slots = new Uint32Array(2 * this.#slots.length);
    slots.set(this.#slots);
    slots.set(this.#slots, this.#slots.length);
    this.#slots = slots;
    this.#mask = 2 * this.#mask + 1;
  }

  remove(digests: Uint32Array, at: number): void {
    if (this.has(digests, at)) this.#slots.fill(0, this.#slotOf(digests, at), this.#slotOf(digests, at) + KEPT);
  }

  #slotOf(digests: Uint32Array, at: number): number {
    return KEPT * (digests[at]! & this.#mask);
  }
}

/** Where the digest of the URL at a position begins. */
export const digestAt = (position: number): number => position * DIGEST_WORDS;

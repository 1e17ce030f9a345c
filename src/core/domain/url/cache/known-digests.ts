import { DIGEST_WORDS } from '../hash/url-digest.ts';

/** Words of a digest that a slot keeps; the place of the slot is that of another one. */
const KEPT = 2;

/**
 * Digests of known URLs, in one slot of eight bytes each. Bounded: a URL takes the slot of another one, which is
 * forgotten then. A slot speaks for a URL whose digest has its place and its 64 bits: of 10^18 unknown URLs, one is
 * taken for a known one.
 */
export class KnownDigests {
  readonly #slots: Uint32Array;
  readonly #mask: number;

  /** @param bits slots, as a power of two; default: 1,048,576, in 8 MB */
  constructor(bits = 20) {
    this.#slots = new Uint32Array(KEPT << bits);
    this.#mask = (1 << bits) - 1;
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
    const slot = this.#slotOf(digests, at);
    this.#slots[slot] = digests[at + 1]!;
    this.#slots[slot + 1] = digests[at + 2]!;
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

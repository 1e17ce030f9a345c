import { DIGEST_WORDS, digestUrl } from './url-digest.ts';

/** Words of a mark. */
export const URL_MARK_WORDS = 2;

const digest = new Uint32Array(DIGEST_WORDS);

/** The 64 bits by which a URL is known in a {@link UrlSet}, written to `out`. */
export function markUrl(url: string, out: Uint32Array): Uint32Array {
  digestUrl(url, digest, 0);
  // A pair that begins with zero marks a free slot.
  out[0] = (digest[0] as number) | 1;
  out[1] = digest[1] as number;
  return out;
}

/** Largest share of used slots; beyond it the set is rehashed at twice the size. */
const MOST_FULL = 0.7;

/**
 * A set of URLs by 64 bits of their digests: 12 to 23 bytes each. With ten million URLs, 0.0003 % of all sets confuse
 * two of them.
 */
export class UrlSet {
  size = 0;
  private slots: Uint32Array;
  private readonly mark = new Uint32Array(URL_MARK_WORDS);

  constructor(capacity = 512) {
    let slots = 16;
    while (slots * MOST_FULL < capacity) slots *= 2;
    this.slots = new Uint32Array(2 * slots);
  }

  /** Whether it was new. */
  add(url: string): boolean {
    return this.addMark(markUrl(url, this.mark));
  }

  has(url: string): boolean {
    const { slots } = this;
    const mark = markUrl(url, this.mark);
    return slots[2 * slotOf(slots, mark[0] as number, mark[1] as number)] !== 0;
  }

  /** As {@link add}, with the result of {@link markUrl}, from position `at` on. */
  addMark(mark: Uint32Array, at = 0): boolean {
    if (!put(this.slots, mark[at] as number, mark[at + 1] as number)) return false;
    this.size++;
    if (this.size > (this.slots.length / 2) * MOST_FULL) this.grow();
    return true;
  }

  private grow(): void {
    const { slots } = this;
    const larger = new Uint32Array(2 * slots.length);
    for (let i = 0; i < slots.length; i += 2) {
      if (slots[i] !== 0) put(larger, slots[i] as number, slots[i + 1] as number);
    }
    this.slots = larger;
  }
}

function put(slots: Uint32Array, low: number, high: number): boolean {
  const slot = slotOf(slots, low, high);
  if (slots[2 * slot] !== 0) return false;
  slots[2 * slot] = low;
  slots[2 * slot + 1] = high;
  return true;
}

/** The slot of the key, or the free one for it: open addressing with linear probing. */
function slotOf(slots: Uint32Array, low: number, high: number): number {
  const mask = slots.length / 2 - 1;
  let slot = (low >>> 1) & mask;
  while (slots[2 * slot] !== 0 && !(slots[2 * slot] === low && slots[2 * slot + 1] === high)) slot = (slot + 1) & mask;
  return slot;
}

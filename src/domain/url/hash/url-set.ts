import { digestUrl } from './url-digest.ts';

/** Largest share of used slots; beyond it the set is rehashed at twice the size. */
const MOST_FULL = 0.7;

/**
 * A set of URLs by 64 bits of their digests: 12 to 23 bytes each. With ten million URLs, 0.0003 % of all sets confuse
 * two of them.
 */
export class UrlSet {
  size = 0;
  private slots: Uint32Array;
  private readonly digest = new Uint32Array(4);

  constructor(capacity = 512) {
    let slots = 16;
    while (slots * MOST_FULL < capacity) slots *= 2;
    this.slots = new Uint32Array(2 * slots);
  }

  /** Whether it was new. */
  add(url: string): boolean {
    digestUrl(url, this.digest, 0);
    const [low, high] = this.key();
    if (!put(this.slots, low, high)) return false;
    this.size++;
    if (this.size > (this.slots.length / 2) * MOST_FULL) this.grow();
    return true;
  }

  has(url: string): boolean {
    digestUrl(url, this.digest, 0);
    const [low, high] = this.key();
    const { slots } = this;
    return slots[2 * slotOf(slots, low, high)] !== 0;
  }

  private key(): readonly [low: number, high: number] {
    // A pair that begins with zero marks a free slot.
    return [((this.digest[0] as number) | 1) >>> 0, this.digest[1] as number];
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

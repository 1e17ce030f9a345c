// domain/url/bloom/: the dynamic splittable Bloom filter.
/** Place of a leaf: the slot of the root, then one binary digit per layer, the first in the lowest bit. */
export interface LeafPlace {
  readonly slot: number;
  readonly depth: number;
  readonly branches: number;
}

/**
 * A classical Bloom filter. Its k bits for a digest are (a + i b) mod m, i = 0..k-1, with a and b of the digest (Kirsch
 * and Mitzenmacher 2006). Bit x is bit 7 - x mod 8 of byte x div 8, as in Redis bitmaps.
 */
export class BloomLeaf {
  readonly id: number;
  readonly place: LeafPlace;
  /** m */
  readonly size: number;
  readonly hashes: number;
  /** Most URLs. */
  readonly capacity: number;
  readonly bits: Uint8Array;
  /** URLs added. */
  count = 0;

  constructor(leaf: {
    readonly id: number;
    readonly place: LeafPlace;
    readonly size: number;
    readonly hashes: number;
    readonly capacity: number;
    readonly bits?: Uint8Array;
  }) {
    this.id = leaf.id;
    this.place = leaf.place;
    this.size = leaf.size;
    this.hashes = leaf.hashes;
    this.capacity = leaf.capacity;
    this.bits = leaf.bits ?? new Uint8Array(Math.ceil(leaf.size / 8));
  }

  /** `false`: surely not added; `true`: perhaps. */
  has(a: number, b: number): boolean {
    const { bits, size, hashes } = this;
    const step = ((b | 1) >>> 0) % size;
    let bit = a % size;
    for (let i = 0; i < hashes; i++) {
      if (((bits[bit >>> 3] as number) & (0x80 >>> (bit & 7))) === 0) return false;
      bit += step;
      if (bit >= size) bit -= size;
    }
    return true;
  }

  set(a: number, b: number): void {
    const { bits, size, hashes } = this;
    const step = ((b | 1) >>> 0) % size;
    let bit = a % size;
    for (let i = 0; i < hashes; i++) {
      bits[bit >>> 3] = (bits[bit >>> 3] as number) | (0x80 >>> (bit & 7));
      bit += step;
      if (bit >= size) bit -= size;
    }
    this.count++;
  }

  /** Share of set bits. */
  fill(): number {
    let ones = 0;
    for (const byte of this.bits) ones += ONES[byte] as number;
    return ones / this.size;
  }
}

const ONES = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

/** For people: `3`, `3/0/1`. */
export function placeText({ slot, depth, branches }: LeafPlace): string {
  let text = String(slot);
  for (let i = 0; i < depth; i++) text += `/${(branches >>> i) & 1}`;
  return text;
}

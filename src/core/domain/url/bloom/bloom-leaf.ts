// core/domain/url/bloom/: the dynamic splittable Bloom filter.

/** Requirements of a dynamic splittable Bloom filter. */
interface BloomDemand {
  /** n: expected URLs, 1 to 10^12. More may come: leaves split. */
  readonly urls: number;
  /** m: bits of a leaf, 8 to 2^30. */
  readonly bitsPerLeaf: number;
  /** f: upper bound of the false-positive rate, above 0 and at most 0.5. */
  readonly falsePositiveRate: number;
}

/** Parameters that meet the requirements. */
export interface BloomPlan {
  readonly bitsPerLeaf: number;
  readonly falsePositiveRate: number;
  /** k: bits set per URL. */
  readonly hashes: number;
  /** u: URLs that a leaf of `bitsPerLeaf` holds before its rate exceeds f. */
  readonly capacity: number;
  /** c: leaves of the first layer. */
  readonly leaves: number;
  /** Sizes of a leaf in bits, to which it grows in turn before it splits; the last is `bitsPerLeaf`. */
  readonly sizes: readonly number[];
}

const MOST_LEAVES = 2 ** 21;
const MOST_HASHES = 64;

/**
 * k is the integer with the largest u(k), the smaller of equals; c = ceil(n / u). One size: a leaf has m bits from its
 * start. Source: CN104809182A (dynamic splittable Bloom filter), with its lost formulas derived from m, n, f. Throws a
 * `TypeError` that names the value out of range.
 */
export function planBloom({ urls, bitsPerLeaf, falsePositiveRate }: BloomDemand): BloomPlan {
  if (!(Number.isInteger(urls) && urls >= 1 && urls <= 1e12)) {
    throw new TypeError(`n, the number of URLs, must be a whole number from 1 to 10^12, got ${urls}`);
  }
  if (!(Number.isInteger(bitsPerLeaf) && bitsPerLeaf >= 8 && bitsPerLeaf <= 2 ** 30)) {
    throw new TypeError(`m, the bits of a leaf, must be a whole number from 8 to 2^30, got ${bitsPerLeaf}`);
  }
  if (!(falsePositiveRate > 0 && falsePositiveRate <= 0.5)) {
    throw new TypeError(`f, the false-positive rate, must be above 0 and at most 0.5, got ${falsePositiveRate}`);
  }
  let hashes = 1;
  let capacity = 0;
  for (let k = 1; k <= MOST_HASHES; k++) {
    const load = bloomCapacity(bitsPerLeaf, k, falsePositiveRate);
    if (load > capacity) [hashes, capacity] = [k, load];
  }
  if (capacity < 2) {
    throw new TypeError(`a leaf of m = ${bitsPerLeaf} bits cannot hold two URLs at a rate of f = ${falsePositiveRate}`);
  }
  const leaves = checkedLeaves(Math.ceil(urls / capacity));
  return { bitsPerLeaf, falsePositiveRate, hashes, capacity, leaves, sizes: [bitsPerLeaf] };
}

/**
 * As {@link planBloom}, with memory in proportion to the URLs. Right after a split a leaf would be half empty (29 bits
 * a URL at f = 0.001). So leaves begin with 5/8 of m and are rebuilt with 13/16 and then all of it as they fill: never
 * more than 1.3 times the bits of a full leaf (19 a URL). The capacity of a leaf is c*u/n = 1 + 4/sqrt(u) times its
 * mean load, so that n URLs need no split although hashing does not spread them evenly.
 */
export function planGrowingBloom(demand: BloomDemand): BloomPlan {
  const plan = planBloom(demand);
  const { bitsPerLeaf, capacity } = plan;
  const usable = Math.max(capacity / 2, capacity - 4 * Math.sqrt(capacity));
  const leaves = checkedLeaves(Math.ceil(demand.urls / usable));
  const eighths = (share: number): number => Math.ceil((bitsPerLeaf * share) / 8 / 8) * 8;
  return { ...plan, leaves, sizes: [eighths(5), eighths(6.5), bitsPerLeaf] };
}

/** u(k) = floor(-(m/k) ln(1 - f^(1/k))): the largest load at which (1 - e^(-k u/m))^k is at most f. */
export function bloomCapacity(bits: number, hashes: number, falsePositiveRate: number): number {
  return Math.floor((-bits / hashes) * Math.log(1 - falsePositiveRate ** (1 / hashes)));
}

/** A root slot is computed by one exact division of doubles, which are exact up to 2^53. */
function checkedLeaves(leaves: number): number {
  if (leaves <= MOST_LEAVES) return leaves;
  throw new TypeError(`${leaves} leaves would be needed, ${MOST_LEAVES} are possible: m must be larger`);
}

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

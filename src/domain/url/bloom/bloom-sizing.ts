/** Requirements of a dynamic splittable Bloom filter. */
export interface BloomDemand {
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

import { CrawlError } from '../../errors.ts';
import { copyDigest, DIGEST_WORDS, distinctDigests } from '../hash/url-digest.ts';
import { BloomLeaf, type BloomPlan, bloomCapacity, type LeafPlace, placeText } from './bloom-leaf.ts';

/** Each layer below the first needs a digit of the hash; more layers than these do not occur. */
const MOST_DEPTH = 32;

/** The stored form of the tree: per slot of the root a leaf's id, or the two halves of an inner node. */
export type TreeShape = number | readonly [TreeShape, TreeShape];

export interface StoredLeaf {
  readonly id: number;
  readonly size: number;
}

/** Replacement of a full leaf, each new leaf with its digests. */
export interface Replacement {
  /** `rebuilt`: the same size without duplicates; `grown`: the same leaf with more bits; `split`: two leaves. */
  readonly kind: 'rebuilt' | 'grown' | 'split';
  readonly leaves: readonly { readonly leaf: BloomLeaf; readonly digests: Uint32Array }[];
}

interface Node {
  leaf: BloomLeaf | null;
  zero: Node | null;
  one: Node | null;
}

/**
 * Dynamic splittable Bloom filter (CN104809182A): the root sends a URL to one of c slots, each inner node to one of two
 * halves, the leaf holds the bits. One digest serves all layers. Its first 64 bits H route: H mod c at the root, then
 * the binary digits of H div c, so that layers are independent. Its third and fourth word choose the bits in the leaf.
 * A query reads one leaf, so the rate of the tree is the mean of its leaves' rates and does not grow with their number.
 *
 * Bits cannot be divided: splitting a leaf needs the digests of all its URLs.
 */
export class BloomTree {
  readonly plan: BloomPlan;
  readonly #slots: Node[];
  readonly #capacities: readonly number[];
  #nextId: number;

  /** An empty tree, or the stored one: `bits` loads a leaf by id, `nextId` is above all ids ever given. */
  constructor(
    plan: BloomPlan,
    stored?: {
      readonly shape: readonly TreeShape[];
      readonly nextId: number;
      readonly bits: (id: number) => { size: number; bits?: Uint8Array; count: number };
    },
  ) {
    this.plan = plan;
    this.#capacities = plan.sizes.map((size) => bloomCapacity(size, plan.hashes, plan.falsePositiveRate));
    this.#nextId = stored?.nextId ?? 0;
    this.#slots = Array.from({ length: plan.leaves }, (_, slot) => {
      const place = { slot, depth: 0, branches: 0 };
      const shape = stored?.shape[slot];
      if (stored === undefined || shape === undefined) return nodeOf(this.#newLeaf(place, plan.sizes[0] as number));
      return this.#restored(shape, place, stored.bits);
    });
  }

  /** The leaf that a digest belongs to. */
  leafOf(digests: Uint32Array, at: number): BloomLeaf {
    const c = this.plan.leaves;
    const high = digests[at] as number;
    const quotientHigh = Math.floor(high / c);
    const rest = (high - quotientHigh * c) * 2 ** 32 + (digests[at + 1] as number);
    const quotientLow = Math.floor(rest / c);
    let node = this.#slots[rest - quotientLow * c] as Node;
    for (let digits = quotientLow >>> 0; node.leaf === null; digits >>>= 1) {
      node = ((digits & 1) === 0 ? node.zero : node.one) as Node;
    }
    return node.leaf;
  }

  /** `false`: surely not added; `true`: perhaps. */
  has(digests: Uint32Array, at: number): boolean {
    return this.leafOf(digests, at).has(digests[at + 2] as number, digests[at + 3] as number);
  }

  /** 1 where perhaps added, 0 where surely not, in the order of the digests. */
  hasMany(digests: Uint32Array): Uint8Array {
    const answers = new Uint8Array(digests.length / DIGEST_WORDS);
    for (let i = 0; i < answers.length; i++) answers[i] = this.has(digests, i * DIGEST_WORDS) ? 1 : 0;
    return answers;
  }

  /**
   * The replacement of a full leaf. The tree does not change before {@link replace}, so that the replacement can be
   * stored first while readers use the old leaf.
   * @param digests of all URLs of the leaf; duplicates are dropped
   * Throws `CrawlError('internal')` when a split would move all URLs to one half, and so repeat without end.
   */
  replacement(leaf: BloomLeaf, digests: Uint32Array): Replacement {
    const distinct = distinctDigests(digests);
    const count = distinct.length / DIGEST_WORDS;
    const { sizes } = this.plan;
    const step = sizes.indexOf(leaf.size);
    if (count <= leaf.capacity * 0.875) return this.#rebuilt('rebuilt', leaf, leaf.size, distinct);
    const next = sizes[step + 1];
    if (next !== undefined) return this.#rebuilt('grown', leaf, next, distinct);
    return this.#split(leaf, distinct, count);
  }

  /** Installs a replacement. */
  replace(leaf: BloomLeaf, { leaves }: Replacement): void {
    const node = this.#nodeOf(leaf.place);
    const [first, second] = leaves.map((each) => each.leaf);
    if (second === undefined) {
      node.leaf = first ?? null;
      return;
    }
    node.zero = nodeOf(first as BloomLeaf);
    node.one = nodeOf(second);
    node.leaf = null;
  }

  /** All leaves, slot by slot. */
  *leaves(): Generator<BloomLeaf, void, undefined> {
    for (const slot of this.#slots) yield* leavesBelow(slot);
  }

  /** The stored form of the tree, beside the bits. `using`: with a replacement that is not installed yet. */
  shape(using?: { readonly leaf: BloomLeaf; readonly replacement: Replacement }): readonly TreeShape[] {
    const shapeOf = (node: Node): TreeShape => {
      if (node.leaf === null) return [shapeOf(node.zero as Node), shapeOf(node.one as Node)];
      if (node.leaf !== using?.leaf) return node.leaf.id;
      const [first, second] = using.replacement.leaves.map((each) => each.leaf.id);
      return second === undefined ? (first as number) : [first as number, second];
    };
    return this.#slots.map(shapeOf);
  }

  get nextId(): number {
    return this.#nextId;
  }

  #rebuilt(kind: 'rebuilt' | 'grown', old: BloomLeaf, size: number, digests: Uint32Array): Replacement {
    const leaf = this.#newLeaf(old.place, size);
    for (let at = 0; at < digests.length; at += DIGEST_WORDS) put(leaf, digests, at);
    return { kind, leaves: [{ leaf, digests }] };
  }

  #split(old: BloomLeaf, digests: Uint32Array, count: number): Replacement {
    const { slot, depth, branches } = old.place;
    const size = this.plan.sizes[0] as number;
    if (depth >= MOST_DEPTH) throw unsplittable(old, count);
    const halves = [0, 1].map((half) => ({
      leaf: this.#newLeaf({ slot, depth: depth + 1, branches: (branches | (half << depth)) >>> 0 }, size),
      digests: new Uint32Array(digests.length),
    }));
    for (let at = 0; at < digests.length; at += DIGEST_WORDS) {
      const { leaf, digests: own } = halves[this.#digit(digests, at, depth)] as (typeof halves)[number];
      copyDigest(digests, at, own, leaf.count * DIGEST_WORDS);
      put(leaf, digests, at);
    }
    if (halves.some(({ leaf }) => leaf.count === 0)) throw unsplittable(old, count);
    return {
      kind: 'split',
      leaves: halves.map(({ leaf, digests: own }) => ({ leaf, digests: own.subarray(0, leaf.count * DIGEST_WORDS) })),
    };
  }

  /** Digit of H div c that decides below a node of this depth. */
  #digit(digests: Uint32Array, at: number, depth: number): 0 | 1 {
    const c = this.plan.leaves;
    const high = digests[at] as number;
    const rest = (high % c) * 2 ** 32 + (digests[at + 1] as number);
    return ((Math.floor(rest / c) >>> depth) & 1) as 0 | 1;
  }

  #newLeaf(place: LeafPlace, size: number): BloomLeaf {
    return this.#leaf(this.#nextId++, place, size);
  }

  #leaf(id: number, place: LeafPlace, size: number, bits?: Uint8Array): BloomLeaf {
    const { hashes, sizes } = this.plan;
    const capacity = this.#capacities[sizes.indexOf(size)];
    if (capacity === undefined) throw new TypeError(`a leaf of ${size} bits does not belong to this filter`);
    return new BloomLeaf({ id, place, size, hashes, capacity, ...(bits === undefined ? {} : { bits }) });
  }

  #restored(
    shape: TreeShape,
    place: LeafPlace,
    stored: (id: number) => { size: number; bits?: Uint8Array; count: number },
  ): Node {
    if (typeof shape === 'number') {
      const { size, bits, count } = stored(shape);
      const leaf = this.#leaf(shape, place, size, bits);
      leaf.count = count;
      return nodeOf(leaf);
    }
    const { slot, depth, branches } = place;
    const below = (half: 0 | 1): LeafPlace => ({
      slot,
      depth: depth + 1,
      branches: (branches | (half << depth)) >>> 0,
    });
    return {
      leaf: null,
      zero: this.#restored(shape[0], below(0), stored),
      one: this.#restored(shape[1], below(1), stored),
    };
  }

  #nodeOf({ slot, depth, branches }: LeafPlace): Node {
    let node = this.#slots[slot] as Node;
    for (let i = 0; i < depth; i++) node = (((branches >>> i) & 1) === 0 ? node.zero : node.one) as Node;
    return node;
  }
}

/** Adds the digest to its leaf. */
export function put(leaf: BloomLeaf, digests: Uint32Array, at: number): void {
  leaf.set(digests[at + 2] as number, digests[at + 3] as number);
}

const nodeOf = (leaf: BloomLeaf): Node => ({ leaf, zero: null, one: null });

function* leavesBelow(node: Node): Generator<BloomLeaf, void, undefined> {
  if (node.leaf !== null) yield node.leaf;
  else {
    yield* leavesBelow(node.zero as Node);
    yield* leavesBelow(node.one as Node);
  }
}

function unsplittable(leaf: BloomLeaf, count: number): CrawlError {
  const { place } = leaf;
  return new CrawlError(
    'internal',
    `leaf ${placeText(place)} of the filter of seen URLs cannot be split: its ${count} digests all go to one half`,
  );
}

/** Statistics of a tree. Reads every bit. */
export function bloomStats(tree: BloomTree) {
  const { falsePositiveRate, bitsPerLeaf, hashes, capacity, leaves: rootLeaves } = tree.plan;
  let urls = 0;
  let bits = 0;
  let depth = 0;
  let estimated = 0;
  const leaves = [];
  for (const leaf of tree.leaves()) {
    const fill = leaf.fill();
    leaves.push({ place: placeText(leaf.place), bits: leaf.size, urls: leaf.count, capacity: leaf.capacity, fill });
    urls += leaf.count;
    bits += leaf.bits.length * 8;
    depth = Math.max(depth, leaf.place.depth);
    // Every leaf of a layer gets the same share of the queries by the hash.
    estimated += fill ** hashes / (rootLeaves * 2 ** leaf.place.depth);
  }
  const plan = { falsePositiveRate, bitsPerLeaf, hashes, capacity, rootLeaves };
  return { ...plan, depth, urls, bits, estimatedFalsePositiveRate: estimated, leaves };
}

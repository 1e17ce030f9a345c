import { CrawlError } from '../../../core/domain/errors.ts';
import type { BloomPlan } from '../../../core/domain/url/bloom/bloom-leaf.ts';
import { BloomTree, put } from '../../../core/domain/url/bloom/bloom-tree.ts';
import { DIGEST_WORDS } from '../../../core/domain/url/hash/url-digest.ts';
import type { Log } from '../../../core/ports/log.ts';
import type { Rows } from '../rows.ts';
import { bitsKey, decodeBits, decodeTree, SEEN_TREE_KEY, type StoredBits, type StoredTree } from './seen-rows.ts';
import { readSet } from './seen-sets.ts';

export interface LoadedTree {
  readonly tree: BloomTree;
  readonly splits: number;
  readonly growths: number;
  /** Number of the newest set row. */
  readonly number: number;
  /** Per leaf: digests that are not in its stored bits. */
  readonly unsaved: ReadonlyMap<number, number>;
}

/** Digests tolerated beyond twice the URLs of the crawl db before a rebuild. */
const SLACK = 10_000;

/**
 * Loads the stored filter: per leaf its bits, and the digests added after them. A leaf whose bits are unusable is
 * filled from its URL set. Resolves with the reason where the whole filter has to be rebuilt.
 * @param urls records in the crawl db, each of which must be in the filter
 */
export async function loadSeenTree(rows: Rows, plan: BloomPlan, urls: number, log: Log): Promise<LoadedTree | string> {
  const [bytes] = await rows.getMany([SEEN_TREE_KEY]);
  if (bytes === undefined) return 'there is none';
  const stored = decodeTree(bytes);
  if (typeof stored === 'string') return stored;
  const { bitsPerLeaf, falsePositiveRate, sizes } = stored.plan;
  if (
    bitsPerLeaf !== plan.bitsPerLeaf ||
    falsePositiveRate !== plan.falsePositiveRate ||
    sizes.join() !== plan.sizes.join()
  ) {
    return `it was made for m = ${bitsPerLeaf}, f = ${falsePositiveRate}`;
  }
  try {
    const loaded = await filled(rows, stored, log);
    let digests = 0;
    for (const leaf of loaded.tree.leaves()) digests += leaf.count;
    if (digests < urls) return `it holds ${digests} of ${urls} URLs`;
    if (digests > 2 * urls + SLACK)
      return `most of its ${digests} digests are of URLs that are gone or were put in twice`;
    return loaded;
  } catch (error) {
    if (error instanceof CrawlError && error.code === 'internal') return error.message;
    throw error;
  }
}

async function filled(rows: Rows, stored: StoredTree, log: Log): Promise<LoadedTree> {
  const snapshots = await storedBits(rows, stored, log);
  const tree = new BloomTree(stored.plan, {
    shape: stored.shape,
    nextId: stored.nextId,
    bits: (id) => {
      const leaf = snapshots.get(id);
      if (leaf === undefined) throw new CrawlError('internal', `its tree has no leaf ${id}`);
      return leaf;
    },
  });
  const unsaved = new Map<number, number>();
  let number = 0;
  for (const leaf of tree.leaves()) {
    const { digests, last } = await readSet(rows, leaf.id, snapshots.get(leaf.id)?.upTo);
    for (let at = 0; at < digests.length; at += DIGEST_WORDS) put(leaf, digests, at);
    unsaved.set(leaf.id, digests.length / DIGEST_WORDS);
    number = Math.max(number, last);
  }
  return { tree, splits: stored.splits, growths: stored.growths, number, unsaved };
}

type Snapshot = StoredBits & { readonly size: number };

async function storedBits(rows: Rows, { leaves }: StoredTree, log: Log): Promise<Map<number, Snapshot>> {
  const snapshots = new Map<number, Snapshot>();
  const found = await rows.getMany(leaves.map(({ id }) => bitsKey(id)));
  for (const [i, { id, size }] of leaves.entries()) {
    const bytes = found[i];
    const decoded = bytes === undefined ? null : decodeBits(bytes, size);
    if (bytes !== undefined && decoded === null) {
      log.warn('the bits of a leaf of the filter of seen URLs cannot be used; they are made from its URL set', {
        leaf: id,
      });
    }
    const empty = { upTo: -1, count: 0, bits: new Uint8Array(Math.ceil(size / 8)) };
    snapshots.set(id, { ...(decoded ?? empty), size });
  }
  return snapshots;
}

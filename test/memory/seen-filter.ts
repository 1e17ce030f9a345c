import type { BloomLeaf, BloomPlan } from '../../src/core/domain/url/bloom/bloom-leaf.ts';
import { BloomTree, bloomStats, put } from '../../src/core/domain/url/bloom/bloom-tree.ts';
import { DIGEST_NAME, DIGEST_WORDS, DigestList } from '../../src/core/domain/url/hash/url-digest.ts';
import type { SeenFilter } from '../../src/core/ports/seen-filter.ts';

export interface MemorySeenFilter extends SeenFilter {
  readonly tree: BloomTree;
  /** The URL set of a leaf, as digests. */
  digestsOf(leaf: BloomLeaf): Uint32Array;
}

/** The reference: bits and URL sets in memory, 16 bytes a URL beside the bits. A known digest is not added again. */
export function createMemorySeenFilter(plan: BloomPlan, hash = DIGEST_NAME): MemorySeenFilter {
  const tree = new BloomTree(plan);
  const sets = new Map<number, DigestList>();
  let splits = 0;
  let growths = 0;
  for (const leaf of tree.leaves()) sets.set(leaf.id, new DigestList());
  const setOf = (leaf: BloomLeaf): DigestList => sets.get(leaf.id) as DigestList;

  function makeSpace(leaf: BloomLeaf): void {
    const replacement = tree.replacement(leaf, setOf(leaf).words());
    for (const { leaf: own, digests } of replacement.leaves) {
      const set = new DigestList();
      set.append(digests);
      sets.set(own.id, set);
    }
    tree.replace(leaf, replacement);
    sets.delete(leaf.id);
    if (replacement.kind === 'split') splits++;
    if (replacement.kind === 'grown') growths++;
  }

  function addOne(digests: Uint32Array, at: number): void {
    let leaf = tree.leafOf(digests, at);
    // A digest without all of its bits is not in the set.
    if (leaf.has(digests[at + 2] as number, digests[at + 3] as number) && setOf(leaf).has(digests, at)) return;
    while (leaf.count >= leaf.capacity) {
      makeSpace(leaf);
      leaf = tree.leafOf(digests, at);
    }
    put(leaf, digests, at);
    setOf(leaf).push(digests, at);
  }

  return {
    tree,
    digestsOf: (leaf) => setOf(leaf).words(),
    probe: async (digests) => tree.hasMany(digests),
    async add(digests) {
      for (let at = 0; at < digests.length; at += DIGEST_WORDS) addOne(digests, at);
    },
    stats: async () => ({ kind: 'memory', hash, splits, growths, ...bloomStats(tree) }),
    close: async () => {},
  };
}

import { placeText } from './bloom-leaf.ts';
import type { BloomTree } from './bloom-tree.ts';

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

import { murmur3 } from './murmur3.ts';

/** A crawl is cut into so many parts; part of the format of the crawl db. */
export const PARTITIONS = 256;

/**
 * Partition of a politeness key (`host[:port]`), or of its registrable domain: all URLs of it are in one. Fixed for
 * ever.
 */
export function partitionOf(key: string): number {
  return murmur3(key) & (PARTITIONS - 1);
}

/**
 * The node that a partition belongs to, by rendezvous hashing (D. G. Thaler, C. V. Ravishankar, 1998): the one whose
 * name and the partition hash highest. A node that joins n others takes about 1/(n+1) of the partitions, and only those
 * move; the order of the names does not matter.
 * @param nodes names, at least one, no two alike
 */
export function nodeOf(partition: number, nodes: readonly string[]): string {
  let best: string | undefined;
  let bestWeight = -1;
  for (const node of nodes) {
    const weight = murmur3(`${node}#${partition}`);
    if (weight < bestWeight || (weight === bestWeight && best !== undefined && node > best)) continue;
    best = node;
    bestWeight = weight;
  }
  if (best === undefined) throw new RangeError('at least one node was expected');
  return best;
}

// core/domain/url/hash/: digests of URLs, and the partition of a host.

import { murmur3 } from '../../../../page/near/murmur3.ts';

/** Number of partitions of a crawl; part of the format of the crawl db. */
export const PARTITIONS = 256;

/**
 * Partition of a politeness key (`host[:port]`) or of its registrable domain: all its URLs are in one. Never changes.
 */
export function partitionOf(key: string): number {
  return murmur3(key) & (PARTITIONS - 1);
}

/** What lies in one partition of a crawl as a whole: a registrable domain, or a host (`host[:port]`). */
export type PartitionBy = 'domain' | 'host';

/**
 * Partition of a registrable domain or host in a crawl of so many, a power of two up to {@link PARTITIONS}: with half
 * as many, two become one.
 */
export function partitionAmong(site: string, partitions: number): number {
  return partitionOf(site) & (partitions - 1);
}

/**
 * The node of a partition, by rendezvous hashing (D. G. Thaler, C. V. Ravishankar, 1998): the name with the highest
 * hash together with the partition. A node that joins n others takes about 1/(n+1) of the partitions, and only those
 * move; the order of the names does not matter.
 * @param nodes distinct names, at least one
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

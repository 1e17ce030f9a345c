// core/domain/url/hash/: digests of URLs, and the partition of a host.

import { murmur3 } from '../../../../page/near/hashes.ts';

/** Number of partitions of a crawl; part of the format of the crawl db. */
export const PARTITIONS = 256;

/**
 * Partition of a politeness key (`host[:port]`) or of its registrable domain: all its URLs are in one. Never changes.
 */
export function partitionOf(key: string): number {
  return murmur3(key) & (PARTITIONS - 1);
}

/** The unit that is never divided between partitions: a registrable domain, or a host (`host[:port]`). */
export type PartitionBy = 'domain' | 'host';

/**
 * Partition of a registrable domain or host in a crawl that begins with `partitions`, a power of two up to
 * {@link PARTITIONS}: with half as many, two become one.
 */
export function partitionAmong(site: string, partitions: number): number {
  return partitionOf(site) & (partitions - 1);
}

/** The partitions of a crawl. */
export interface PartitionShape {
  /** Number of partitions. Without those added by splits, it is a power of two up to {@link PARTITIONS}. */
  readonly partitions: number;
  /** The partition that each split has divided, the first split first; each has added one with the next number. */
  readonly splits: readonly number[];
}

/** Partitions that a crawl can have, those of splits included: their names have three digits. */
export const MOST_PARTITIONS = 1_000;
/** Most bits in which the hashes of the sites of a partition agree. */
export const MOST_BITS = 24;

/** The bits of the hash that the sites of each partition have in common. */
export function bitsOf({ partitions, splits }: PartitionShape): readonly number[] {
  const bits = new Array<number>(partitions - splits.length).fill(Math.log2(partitions - splits.length));
  for (const of of splits) {
    const own = (bits[of] as number) + 1;
    bits[of] = own;
    bits.push(own);
  }
  return bits;
}

/**
 * The partition of a registrable domain or host in a crawl of this shape, as by extendible hashing (R. Fagin et al.,
 * 1979): a split gives the sites of one partition whose next bit is set to the new one, and leaves all others.
 */
export function partitionIn({ partitions, splits }: PartitionShape): (site: string) => number {
  const begun = partitions - splits.length;
  const steps = splits.map((of, i) => {
    const before = { partitions: begun + i, splits: splits.slice(0, i) };
    return { of, bit: bitsOf(before)[of] as number, into: begun + i };
  });
  return (site) => {
    let partition = partitionAmong(site, begun);
    if (steps.length === 0) return partition;
    const hash = murmur3(site);
    for (const { of, bit, into } of steps) if (partition === of && ((hash >>> bit) & 1) === 1) partition = into;
    return partition;
  };
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

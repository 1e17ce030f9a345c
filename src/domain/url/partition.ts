import { murmur3 } from './hash.ts';

/** A crawl is cut into so many parts; part of the format of the crawl db. */
export const PARTITIONS = 256;

/** Partition of a politeness key (`host[:port]`): all URLs of a host are in one. Fixed for ever. */
export function partitionOf(host: string): number {
  return murmur3(host) & (PARTITIONS - 1);
}

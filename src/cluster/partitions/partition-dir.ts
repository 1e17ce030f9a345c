import { join } from 'node:path';
import { senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import { canonicalUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import { type PartitionBy, partitionIn } from '../../core/domain/url/hash/partition.ts';
import { partitionByOf, readClusterMark, shapeOf } from '../../operations/state/cluster-mark.ts';
import { domainOf } from '../../operations/system/domain-of.ts';

/** Folder of a partition in the state directory of the crawl. */
export const partitionDir = (dir: string, partition: number): string => join(dir, 'partitions', senderOf(partition));

/** Folders with the segments and reports of a crawl: the state directory, or those of its partitions. */
export function partDirs(dir: string): readonly string[] {
  const shape = shapeOf(readClusterMark(dir));
  return shape === null ? [dir] : Array.from({ length: shape.partitions }, (_, i) => partitionDir(dir, i));
}

/** The folder with the segments of a page: the state directory, or in a spread crawl the folder of its partition. */
export function folderOfPage(dir: string, url: string): string {
  const mark = readClusterMark(dir);
  const shape = shapeOf(mark);
  const canonical = canonicalUrl(url);
  if (mark === null || shape === null || 'error' in canonical) return dir;
  const placeOf = placing(partitionByOf(mark.id), shape.partitions, shape.splits);
  return partitionDir(dir, placeOf(hostOf(canonical.url)));
}

/** The unit of a host (`host[:port]`) that lies in one partition as a whole: the host or its domain. */
export const siteOf = (by: PartitionBy): ((host: string) => string) => (by === 'host' ? (host) => host : domainOf);

/** The function that gives the partition of a host in a crawl of this number of partitions, splits included. */
export function placing(by: PartitionBy, partitions: number, splits: readonly number[] = []): (host: string) => number {
  const [site, place] = [siteOf(by), partitionIn({ partitions, splits })];
  return (host) => place(site(host));
}

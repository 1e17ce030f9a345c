import { join } from 'node:path';
import { domainOf } from '../../../adapters/system/domain-of.ts';
import { senderOf } from '../../../domain/crawl/discovery/forwarded-link.ts';
import { canonicalUrl } from '../../../domain/url/canonical/canonical-url.ts';
import { hostOf } from '../../../domain/url/canonical/url-key.ts';
import { partitionAmong } from '../../../domain/url/hash/partition.ts';
import { readClusterMark } from '../cluster-mark.ts';

/** Folder of a partition in the state directory of the crawl. */
export const partitionDir = (dir: string, partition: number): string => join(dir, 'partitions', senderOf(partition));

/** Folders with the segments and reports of a crawl: the state directory, or those of its partitions. */
export function partDirs(dir: string): readonly string[] {
  const partitions = readClusterMark(dir)?.partitions;
  return partitions === undefined ? [dir] : Array.from({ length: partitions }, (_, i) => partitionDir(dir, i));
}

/** Where the segments with a page are: the state directory, or in a spread crawl the folder of its partition. */
export function folderOfPage(dir: string, url: string): string {
  const partitions = readClusterMark(dir)?.partitions;
  const canonical = canonicalUrl(url);
  if (partitions === undefined || 'error' in canonical) return dir;
  return partitionDir(dir, partitionAmong(domainOf(hostOf(canonical.url)), partitions));
}

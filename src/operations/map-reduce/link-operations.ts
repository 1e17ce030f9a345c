import { join } from 'node:path';
import type { CrawlDeps } from '../deps.ts';
import { crawlLinks } from './crawl-links.ts';
import { localJob } from './local-job.ts';

export interface LinkOperations {
  /** Families of the URLs that pages link to, per domain, in the lines of the map/reduce job `linkclusters`. */
  linkClusters(): AsyncIterable<string>;
}

export function linkOperations({ dir, segments }: Pick<CrawlDeps, 'dir' | 'segments'>): LinkOperations {
  return { linkClusters: () => localJob('linkclusters', crawlLinks(segments), { dir: join(dir, 'tmp') }) };
}

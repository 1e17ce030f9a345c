import { join } from 'node:path';
import type { SegmentStore } from '../../ports/segment-store.ts';
import { counted } from '../../steps/work-meter.ts';
import type { CrawlDeps } from '../deps.ts';
import { localJob } from './local-job.ts';

export interface LinkOperations {
  /** Families of the URLs that pages link to, per domain: the lines of the map/reduce job `linkclusters`. */
  linkClusters(): AsyncIterable<string>;
}

export function linkOperations({
  dir,
  runtime,
  segments,
}: Pick<CrawlDeps, 'dir' | 'runtime' | 'segments'>): LinkOperations {
  return {
    linkClusters: () =>
      localJob('linkclusters', counted(linksOf(segments), runtime.onWork, 'reading outlinks'), {
        dir: join(dir, 'tmp'),
      }),
  };
}

/** Outlinks of all parsed pages, as input lines of the mapper. */
export async function* linksOf(segments: SegmentStore): AsyncGenerator<string> {
  for (const { id } of await segments.list()) {
    const segment = await segments.open(id, 'read');
    try {
      for await (const { outlinks } of segment.parsed({ texts: false })) {
        for (const { url, rel, noise } of outlinks) if (rel === 'link') yield noise === undefined ? url : `${url}\t1`;
      }
    } finally {
      await segment.close();
    }
  }
}

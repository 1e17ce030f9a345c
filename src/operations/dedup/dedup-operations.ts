// operations/dedup/: near duplicates of the whole crawl.
import { join } from 'node:path';
import { createFileNearGrouping } from '../../adapters/files/near-grouping/near-grouping.ts';
import { domainOf } from '../../adapters/system/domain-of.ts';
import type { NearGroupingOptions } from '../../ports/near-grouping.ts';
import type { SegmentStore } from '../../ports/segment-store.ts';
import {
  type DedupOptions,
  type DedupSummary,
  type DuplicateView,
  dedup,
  undoDedup,
} from '../../steps/update/dedup.ts';
import type { CrawlDeps } from '../deps.ts';

/** Near duplicates of the whole crawl. */
export interface DedupOperations {
  /** Marks pages that repeat others as duplicates. */
  dedup(request: DedupRequest, onDuplicate?: (duplicate: DuplicateView) => void): Promise<DedupSummary>;
  /** Undoes all duplicate marks; resolves with their number. */
  undoDedup(dryRun: boolean): Promise<number>;
}

/** Omitted options are taken from the configuration. */
export interface DedupRequest extends Partial<Pick<DedupOptions, 'distance' | 'scope' | 'minChars'>> {
  readonly prefer: DedupOptions['prefer'];
  readonly dryRun: boolean;
  /** A segment whose pages may only become representatives: the new batch, compared with all earlier pages. */
  readonly incoming?: string;
}

export function dedupOperations({
  dir,
  config,
  runtime: { clock, onWork },
  segments,
  store,
}: Pick<CrawlDeps, 'dir' | 'config' | 'runtime' | 'segments' | 'store'>): DedupOperations {
  return {
    async dedup({ incoming: segment, ...request }, onDuplicate) {
      const { scope, minChars, maxDistance: distance } = config.dedup;
      const incoming = segment === undefined ? {} : { incoming: await fetchedUrls(segments, segment) };
      const options = { scope, minChars, distance, ...request, ...incoming };
      const grouping = (plan: NearGroupingOptions) => createFileNearGrouping({ ...plan, dir: join(dir, 'tmp') });
      return dedup({ db: store().db, domainOf, grouping, now: clock.now(), onWork }, options, onDuplicate);
    },
    undoDedup: (dryRun) => undoDedup({ db: store().db, now: clock.now() }, dryRun),
  };
}

/** URLs of the pages that a segment holds with their content. */
async function fetchedUrls(segments: SegmentStore, id: string): Promise<Set<string>> {
  const urls = new Set<string>();
  const segment = await segments.open(id, 'read');
  try {
    for await (const { url, outcome } of segment.fetched()) if (outcome.kind === 'success') urls.add(url);
  } finally {
    await segment.close();
  }
  return urls;
}

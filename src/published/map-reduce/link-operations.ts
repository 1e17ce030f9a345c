import { join } from 'node:path';
import { isWithinLast } from '../../core/domain/time.ts';
import type { DomainFamilies } from '../../core/domain/url/families/stored-families.ts';
import type { SegmentStore } from '../../core/ports/segment-store.ts';
import { counted } from '../../core/steps/work-meter.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import type { BatchLines } from '../dedup/batch-pairs.ts';
import {
  type AppliedFamilies,
  keepFamilies,
  noiseFamilies,
  type UndoneFamilies,
  undoFamilies,
} from './keep-families.ts';
import { localJob } from './local-job.ts';
import { crawledPages, visitedPageLines } from './visited-pages.ts';

export interface LinkOperations {
  /** Families of the URLs that pages link to, per domain: the lines of the map/reduce job `linkclusters`. */
  linkClusters(): AsyncIterable<string>;
  /**
   * Replaces the noise families, which links found from then on are compared with.
   * @param files output of the job `linkclusters`; default: of {@link linkClusters}
   */
  applyLinkClusters(files?: readonly BatchLines[]): Promise<AppliedFamilies>;
  /** Removes the families of a domain, or all, and undoes their effects on records. */
  undoLinkClusters(domain: string | null): Promise<UndoneFamilies>;
  /** The families in force, domain by domain. */
  linkFamilies(): AsyncIterable<DomainFamilies>;
}

type ReadSegments = Pick<SegmentStore, 'list' | 'open'>;
type LinkFamilyDeps = Pick<CrawlDeps, 'dir' | 'config' | 'runtime' | 'segments' | 'store'>;

export function linkOperations(deps: LinkFamilyDeps): LinkOperations {
  return {
    linkClusters: () => clustersOf(deps),
    applyLinkClusters: (files) => apply(deps, files ?? ofCrawl(deps)),
    async undoLinkClusters(domain) {
      const { db, families } = deps.store();
      const undone = await undoFamilies(db, domain, deps.runtime.clock.now());
      families.forget();
      return undone;
    },
    linkFamilies: () => deps.store().db.scanLinkFamilies(),
  };
}

export type ClustersDeps = Pick<LinkFamilyDeps, 'dir' | 'runtime'> & { readonly segments: ReadSegments };

export const clustersOf = ({ dir, runtime, segments }: ClustersDeps): AsyncIterable<string> =>
  localJob('linkclusters', counted(clusterLines(segments), runtime.onWork, 'reading outlinks'), {
    dir: join(dir, 'tmp'),
  });

export const ofCrawl = (deps: ClustersDeps): BatchLines[] => [{ name: 'the crawl', lines: clustersOf(deps) }];

async function apply(deps: LinkFamilyDeps, files: readonly BatchLines[]): Promise<AppliedFamilies> {
  const { db, families } = deps.store();
  const applied = await keepFamilies(db, await noiseFamilies(files, deps.runtime.clock.now()));
  families.forget();
  return applied;
}

const APPLIED_KEY = 'linkFamiliesAppliedAt';

/** Applies the families of the crawl every `linkclusters.every`, for the first time this long after the first call. */
export async function applyFamiliesWhenDue(deps: LinkFamilyDeps): Promise<void> {
  const { everyMs } = deps.config.linkclusters;
  const { db } = deps.store();
  const { clock, log } = deps.runtime;
  const last = Number((await db.meta(APPLIED_KEY)) ?? Number.NaN);
  if (!Number.isNaN(last)) {
    if (isWithinLast(everyMs, last, clock.now())) return;
    log.info('noise families of links were applied', { ...(await apply(deps, ofCrawl(deps))) });
  }
  await db.write({ meta: { [APPLIED_KEY]: String(clock.now()) } });
}

/** Outlinks of all parsed pages, and what their visits brought, as input lines of the mapper. */
export async function* clusterLines(segments: ReadSegments): AsyncGenerator<string> {
  yield* linksOf(segments);
  yield* visitedPageLines(crawledPages(segments));
}

async function* linksOf(segments: ReadSegments): AsyncGenerator<string> {
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

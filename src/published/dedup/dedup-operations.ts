import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { NearGroupingOptions } from '../../core/ports/near.ts';
import type { SegmentStore } from '../../core/ports/segment-store.ts';
import {
  allRecords,
  type DedupOptions,
  type DedupSummary,
  type DuplicateView,
  dedup,
  type JudgedRecords,
  undoDedup,
} from '../../core/steps/update/dedup.ts';
import { counted } from '../../core/steps/work-meter.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import { domainOf } from '../../operations/system/domain-of.ts';
import { ownFolder } from '../../store/files/locks/folder-lock.ts';
import { createFileNearGrouping } from '../near-grouping/near-grouping.ts';
import { type BatchLines, urlsOfPairs } from './batch-pairs.ts';
import { keptRecords } from './kept-records.ts';
import { namedRecords } from './named-records.ts';

/** Near duplicates of the whole crawl. */
export interface DedupOperations {
  /** Marks pages that repeat others as duplicates. */
  dedup(request: DedupRequest, onDuplicate?: (duplicate: DuplicateView) => void): Promise<DedupSummary>;
  /**
   * The same for the pages that a batch on a cluster found to be near others, together with all pages that are already
   * marked. Their current records decide: a page that has changed since is compared by its new signature. Rejects with
   * `usage-invalid` for a line without two URLs, before anything is written.
   */
  applyPairs(
    files: readonly BatchLines[],
    request: DedupRequest,
    onDuplicate?: (duplicate: DuplicateView) => void,
  ): Promise<AppliedPairs>;
  /** Undoes all duplicate marks; resolves with their number. */
  undoDedup(dryRun: boolean): Promise<number>;
}

/** Omitted options are taken from the configuration. */
export interface DedupRequest extends Partial<Pick<DedupOptions, 'distance' | 'minOverlap' | 'scope' | 'minChars'>> {
  readonly prefer: DedupOptions['prefer'];
  readonly dryRun: boolean;
  /** A segment whose pages may only become representatives: the new batch, compared with all earlier pages. */
  readonly incoming?: string;
}

export interface AppliedPairs extends DedupSummary {
  /** Number of lines read. */
  readonly pairs: number;
  /** Number of URLs not in the crawl db. */
  readonly unknown: number;
}

export interface DedupOperationsDeps extends Pick<CrawlDeps, 'dir' | 'config' | 'runtime'> {
  readonly segments: Pick<SegmentStore, 'open'>;
  store(): { readonly db: CrawlDb };
  /** Whether others write to the crawl db meanwhile. */
  readonly isShared?: boolean;
}

export function dedupOperations({
  dir,
  config,
  runtime: { clock, onWork },
  segments,
  store,
  isShared = false,
}: DedupOperationsDeps): DedupOperations {
  const tmp = join(dir, 'tmp');
  const grouping = (plan: NearGroupingOptions) => createFileNearGrouping({ ...plan, dir: tmp });
  const optionsOf = async ({ incoming: segment, ...request }: DedupRequest): Promise<DedupOptions> => {
    const { scope, minChars, minOverlap, maxDistance: distance } = config.dedup;
    const incoming = segment === undefined ? {} : { incoming: await fetchedUrls(segments, segment) };
    return { scope, minChars, minOverlap, distance, ...request, ...incoming };
  };
  const inFolder = async <Value>(use: (folder: string) => Promise<Value>): Promise<Value> => {
    await mkdir(tmp, { recursive: true });
    const folder = ownFolder(tmp, 'dedup');
    return use(folder).finally(() => rm(folder, { recursive: true, force: true }));
  };
  const stable = (records: JudgedRecords, folder: string): JudgedRecords =>
    isShared ? keptRecords(records, join(folder, 'records')) : records;
  return {
    dedup: (request, onDuplicate) =>
      inFolder(async (folder) => {
        const { db } = store();
        const records = stable(await allRecords(db), folder);
        const deps = { db, domainOf, grouping, now: clock.now(), onWork, records };
        return dedup(deps, await optionsOf(request), onDuplicate);
      }),
    async applyPairs(files, request, onDuplicate) {
      const { db } = store();
      const options = await optionsOf(request);
      return inFolder(async (folder) => {
        let pairs = 0;
        const urls = counted(
          urlsOfPairs(files, () => pairs++),
          onWork,
          'reading pairs',
        );
        const records = await namedRecords(db, withMarked(urls, db), folder);
        const deps = { db, domainOf, grouping, now: clock.now(), onWork, records: stable(records, folder) };
        const summary = await dedup(deps, options, onDuplicate);
        return { ...summary, pairs, unknown: records.unknown };
      });
    },
    undoDedup: (dryRun) => undoDedup({ db: store().db, now: clock.now() }, dryRun),
  };
}

/** Adds the marked pages, with their representatives: a mark that no longer holds is in no pair. */
async function* withMarked(urls: AsyncIterable<string>, db: CrawlDb): AsyncGenerator<string> {
  yield* urls;
  for await (const { url, target } of db.scan({ state: 'duplicate' })) {
    yield url;
    if (target !== null) yield target;
  }
}

/** URLs of the pages whose content is in a segment. */
export async function fetchedUrls(segments: Pick<SegmentStore, 'open'>, id: string): Promise<Set<string>> {
  const urls = new Set<string>();
  const segment = await segments.open(id, 'read');
  try {
    for await (const { url, outcome } of segment.fetched()) if (outcome.kind === 'success') urls.add(url);
  } finally {
    await segment.close();
  }
  return urls;
}

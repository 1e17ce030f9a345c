import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import { partitionOf } from '../../core/domain/url/hash/partition.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { FetchedRecord, FetchItem, Segment, SegmentInfo, SegmentStore } from '../../core/ports/segment-store.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import { REQUISITES_FOLDER } from '../../operations/state/state-folder.ts';
import { encodeRecord } from '../../store/files/segments/frame-log.ts';

/** Maintenance of an open crawl; backup, verification and repair work on the state directory itself. */
export interface CareOperations {
  /** Removes segments that are no longer needed. */
  pruneSegments(options: Omit<PruneOptions, 'now'>): Promise<PruneSummary>;
}

export function careOperations(deps: CrawlDeps): CareOperations {
  const { clock, onWork } = deps.runtime;
  return {
    async pruneSegments(options) {
      const at = { ...options, now: clock.now() };
      const pages = await pruneSegments({ db: deps.store().db, segments: deps.segments, onWork }, at);
      if (!existsSync(join(deps.dir, REQUISITES_FOLDER))) return pages;
      const { openRequisites, requisiteDeps } = await import('../../operations/requisites/crawl-requisites.ts');
      const { db } = await openRequisites(deps);
      try {
        return withRequisites(pages, await pruneSegments({ db, segments: requisiteDeps(deps).segments, onWork }, at));
      } finally {
        await db.close();
      }
    },
  };
}

/** What became of the segments of requisites, which have names of their own: `requisites/ID`. */
function withRequisites(pages: PruneSummary, requisites: PruneSummary): PruneSummary {
  const named = (id: string): string => `${REQUISITES_FOLDER}/${id}`;
  return {
    ...pages,
    segments: [...pages.segments, ...requisites.segments.map((each) => ({ ...each, id: named(each.id) }))],
    removed: pages.removed + requisites.removed,
    compactedInto: [...pages.compactedInto, ...requisites.compactedInto.map(named)],
  };
}

interface PruneOptions {
  /** Segments younger than this stay, ms. */
  readonly keepMs: number;
  readonly now: number;
  /** Moves the needed pages of old segments into a new one, so that these segments can be removed too. */
  readonly compact: boolean;
  readonly dryRun: boolean;
}

export type SegmentVerdict = 'young' | 'unfinished' | 'needed' | 'removed' | 'compacted';

export interface PruneSummary {
  readonly segments: readonly {
    readonly id: string;
    readonly createdAt: string;
    readonly verdict: SegmentVerdict;
    /** Pages whose current content is in this segment. */
    readonly pagesNeeded: number;
  }[];
  readonly removed: number;
  /** The segments that `compact` created: at most one in each partition. */
  readonly compactedInto: readonly string[];
  readonly dryRun: boolean;
}

interface PruneDeps {
  readonly db: CrawlDb;
  readonly segments: SegmentStore;
  readonly onWork?: OnWork;
}

/** Records whose current content is looked up at a time. */
const CHUNK = 500;

/**
 * Removes old segments that are no longer needed. A segment is needed until updatedb has applied it, and while it holds
 * the current content of a page, which an export, a diff or a new parse would read.
 */
async function pruneSegments({ db, segments, onWork }: PruneDeps, options: PruneOptions): Promise<PruneSummary> {
  const judged: { info: SegmentInfo; verdict: SegmentVerdict; pagesNeeded: number }[] = [];
  const all = await segments.list();
  for (const [done, info] of all.entries()) {
    onWork?.({ work: 'reading segments', done, total: all.length });
    if (info.state !== 'updated') judged.push({ info, verdict: 'unfinished', pagesNeeded: 0 });
    else if (options.now - info.createdAt < options.keepMs) judged.push({ info, verdict: 'young', pagesNeeded: 0 });
    else {
      let pagesNeeded = 0;
      for await (const { pages } of neededPages(db, segments, info.id)) pagesNeeded += pages.length;
      const verdict = pagesNeeded === 0 ? 'removed' : options.compact ? 'compacted' : 'needed';
      judged.push({ info, verdict, pagesNeeded });
    }
  }
  const compacted = judged.filter(({ verdict }) => verdict === 'compacted').map(({ info }) => info);
  // A single segment is rewritten only if that frees space.
  const isWorthIt =
    compacted.length > 1 || judged.some((each) => each.verdict === 'compacted' && each.pagesNeeded < each.info.urls);
  const compactedInto: string[] = [];
  if (!options.dryRun) {
    if (compacted.length > 0 && isWorthIt) compactedInto.push(await compact(db, segments, compacted));
    for (const { info, verdict } of judged) {
      if (verdict === 'removed' || (verdict === 'compacted' && isWorthIt)) await remove(db, segments, info.id);
    }
  }
  const views = judged.map(({ info, verdict, pagesNeeded }) => ({
    id: info.id,
    createdAt: new Date(info.createdAt).toISOString(),
    verdict: verdict === 'compacted' && !isWorthIt ? ('needed' as const) : verdict,
    pagesNeeded,
  }));
  const removed = views.filter(({ verdict }) => verdict === 'removed' || verdict === 'compacted').length;
  return { segments: views, removed, compactedInto, dryRun: options.dryRun };
}

/** The summaries of all partitions as one. A segment has the id of its partition before its own, such as `017/ID`. */
export function summedPrunes(
  all: readonly { readonly partition: string; readonly summary: PruneSummary }[],
): Omit<PruneSummary, 'dryRun'> {
  return {
    segments: all.flatMap(({ partition, summary }) =>
      summary.segments.map((each) => ({ ...each, id: `${partition}/${each.id}` })),
    ),
    removed: all.reduce((sum, { summary }) => sum + summary.removed, 0),
    compactedInto: all.flatMap(({ partition, summary }) => summary.compactedInto.map((id) => `${partition}/${id}`)),
  };
}

/** The row is removed first: a row without a folder would be reported as a loss. */
async function remove(db: CrawlDb, segments: SegmentStore, id: string): Promise<void> {
  await db.write({ removeSegments: [id] }, { durable: true });
  await segments.remove(id);
}

interface NeededPage {
  readonly fetched: FetchedRecord;
  readonly datum: CrawlDatum;
}

/** Pages whose current content is in this segment: its digest is the one in the record. */
async function* neededPages(
  db: CrawlDb,
  segments: SegmentStore,
  id: string,
): AsyncGenerator<{ readonly segment: Segment; readonly pages: NeededPage[] }> {
  const segment = await segments.open(id, 'read');
  try {
    let chunk: FetchedRecord[] = [];
    const judge = async (): Promise<NeededPage[]> => {
      const data = await db.getMany(chunk.map(({ url }) => url));
      const pages = chunk.flatMap((fetched, i): NeededPage[] => {
        const datum = data[i];
        return datum !== undefined && isCurrent(fetched, datum) ? [{ fetched, datum }] : [];
      });
      chunk = [];
      return pages;
    };
    for await (const fetched of segment.fetched()) {
      if (fetched.outcome.kind !== 'success') continue;
      chunk.push(fetched);
      if (chunk.length === CHUNK) yield { segment, pages: await judge() };
    }
    if (chunk.length > 0) yield { segment, pages: await judge() };
  } finally {
    await segment.close();
  }
}

const isCurrent = ({ outcome }: FetchedRecord, datum: CrawlDatum): boolean =>
  outcome.kind === 'success' && outcome.digest === datum.digest && datum.state !== 'gone';

/**
 * Writes the needed pages into one new segment, with the creation time of the newest of the old ones. Responses keep
 * their own times.
 */
async function compact(db: CrawlDb, segments: SegmentStore, old: readonly SegmentInfo[]): Promise<string> {
  const newest = old.at(-1) as SegmentInfo;
  const id = await freeId(segments, `${newest.id}-c`);
  // Newest first, so that the newer of two copies of a page is taken.
  const order = [...old].reverse().map((info) => info.id);
  const taken = new Set<string>();
  async function* items(): AsyncGenerator<FetchItem> {
    for (const each of order) {
      for await (const { pages } of neededPages(db, segments, each)) {
        for (const { datum } of pages) {
          if (taken.has(datum.url)) continue;
          yield itemOf(datum, taken.size);
          taken.add(datum.url);
        }
      }
    }
  }
  await segments.create({ id, createdAt: newest.createdAt, hosts: {} }, items());
  const target = await segments.open(id, 'write');
  try {
    const places = new Map([...taken].map((url, index) => [url, index]));
    for (const each of order) await move(db, segments, each, target, places);
    await target.setState('updated');
  } finally {
    await target.close();
  }
  const row = { id, state: 'updated' as const, createdAt: newest.createdAt, urls: taken.size, applied: taken.size };
  await db.write({ segments: [row] }, { durable: true });
  return id;
}

async function freeId(segments: SegmentStore, stem: string): Promise<string> {
  const taken = new Set([...(await segments.list()).map(({ id }) => id), ...(await segments.listIncomplete())]);
  for (let number = 1; ; number++) if (!taken.has(`${stem}${number}`)) return `${stem}${number}`;
}

function itemOf(datum: CrawlDatum, index: number): FetchItem {
  const host = hostOf(datum.url);
  const { url, depth, score, validators, digest, metadata } = datum;
  return { index, url, host, partition: partitionOf(host), depth, score, validators, digest, audit: false, metadata };
}

/**
 * Copies the pages of one segment that are not in the target yet: responses first, then the parse output in one pass.
 */
async function move(
  db: CrawlDb,
  segments: SegmentStore,
  id: string,
  target: Segment,
  places: ReadonlyMap<string, number>,
): Promise<void> {
  const moved = new Map<number, number>();
  for await (const { segment, pages } of neededPages(db, segments, id)) {
    for (const { fetched } of pages) {
      const index = places.get(fetched.url);
      if (index === undefined || target.hasFetched(index)) continue;
      const { warc, ...record } = fetched;
      await target.addFetched({ ...record, index }, warc === null ? null : await segment.readResponse(warc));
      moved.set(fetched.index, index);
    }
  }
  const source = await segments.open(id, 'read');
  try {
    for await (const record of source.parsed()) {
      const index = moved.get(record.index);
      if (index !== undefined) await target.addParsed(index, encodeRecord({ ...record, index }));
    }
  } finally {
    await source.close();
  }
}

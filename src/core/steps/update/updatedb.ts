import { countRejection } from '../../domain/crawl/discovery/link-rules.ts';
import type { ChangeLevel } from '../../domain/crawl/hazard/level.ts';
import { CrawlError } from '../../domain/errors.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { CrawlDb, SegmentRow } from '../../ports/crawl-db.ts';
import type { Segment, SegmentInfo } from '../../ports/segment-store.ts';
import type { OnWork } from '../../ports/work-progress.ts';
import { HostTally, Layers } from '../counters/round-counts.ts';
import { crawlLevelFacts, expectationsOf, openCrawlLevel } from '../facts/expected-changes.ts';
import { withVisitPrice } from '../facts/fetch-budget.ts';
import { givenBackFacts, openWatchedHosts, watchedHostFacts } from '../facts/host-observations.ts';
import { hostTurnFacts, openHostTurns } from '../facts/host-rest.ts';
import type { UpdateSummary } from '../summaries.ts';
import { countingRejections } from '../url-chain.ts';
import {
  addTally,
  applyChunk,
  emptyTally,
  type Tally,
  type UpdateDeps,
  type UpdateOptions,
  type UpdateRun,
} from './apply-chunk.ts';
import { FirstRecords } from './first-records.ts';
import type { LinkCounts } from './found-links.ts';
import { joinedBatches, stampedBy, withLoginPages, withSoft404 } from './known-visits.ts';
import { admitWaiting } from './like-urls/waiting-links.ts';

/**
 * Links of a batch, beyond which no more records join it. A batch should be garbage before V8 promotes it to its old
 * generation: four times as many links took 40 MB more, or a sixth more CPU to keep the heap as small.
 */
const MAX_CHUNK_LINKS = 7_500;

export interface UpdateRunOptions {
  readonly onWork?: OnWork;
  readonly signal?: AbortSignal | undefined;
  /** More is to be visited in the segment: what was visited so far is applied, and it keeps what it holds. */
  readonly isGrowing?: boolean;
}

/**
 * Applies a segment to the crawl db, chunk by chunk. Each batch writes the progress mark with the records that it
 * counts, so an interrupted run goes on where it stopped, and a segment that is applied twice changes nothing more.
 * URLs that it has not visited return to the due index at the end. A signal ends it after the batch under way.
 */
export async function updateFromSegment(
  deps: UpdateDeps,
  segment: Segment,
  options: UpdateOptions,
  { onWork, signal, isGrowing = false }: UpdateRunOptions = {},
): Promise<Omit<UpdateSummary, 'orphans'>> {
  const { id } = segment.info;
  const row = (await deps.db.segments()).find((each) => each.id === id);
  if (row === undefined) {
    throw new CrawlError('segment-missing', `segment ${id} does not belong to this crawl db`);
  }
  const policy = await withVisitPrice(deps.db, deps.policy);
  const level = await openCrawlLevel(deps.db);
  const linkCounts: LinkCounts = { filteredBy: {}, demotedBy: {} };
  const urls = countingRejections(deps.links.urls, linkCounts.filteredBy, deps.links.skips);
  const [{ seedScore }, { initialIntervalMs }] = [deps.links.scores, policy.schedule];
  const run: UpdateRun = {
    ...deps,
    policy,
    expectations: expectationsOf(policy.schedule, level, deps.clock.now()),
    learnt: new Map(),
    links: { ...deps.links, ...linkCounts, urls },
    options,
    segment: segment.info,
    firstRecords: new FirstRecords(segment, { seedScore, initialIntervalMs }),
    layers: new Layers(),
    hosts: new HostTally(),
    failures: [],
  };
  const isDone = row.state === 'updated';
  const total = isDone ? emptyTally() : await applyChunks(run, segment, row, { onWork, signal });
  const isCutShort = !isDone && row.applied + total.applied < segment.fetchedCount;
  const isEnding = !isDone && !isCutShort && !isGrowing;
  const released = isEnding ? await releaseRest(deps.db, segment.info) : 0;
  if (isEnding) {
    await countFollowed(run, segment, total);
    await admitLinks(run, total, signal);
  }
  if (!isCutShort) {
    const { urls: size } = segment.info;
    const state = isGrowing ? row.state : 'updated';
    const updated: SegmentRow = { ...row, urls: size, applied: row.applied + total.applied, state };
    const meta = {
      ...(await scheduleFacts(run, level, total)),
      ...(await turnFacts(deps, segment)),
    };
    await deps.db.write({ segments: [updated], meta }, { durable: true });
    if (!isGrowing) await segment.setState('updated');
  }
  const { distances, distanceSum, looks: _, changes: __, watchedMs: ___, ...counts } = total;
  return {
    segment: id,
    ...counts,
    ...linkCounts,
    failures: run.failures,
    layers: run.layers.summary,
    hosts: run.hosts.summary,
    meanDistance: distances === 0 ? null : distanceSum / distances,
    released,
    ...(isCutShort && { isCutShort }),
  };
}

async function applyChunks(
  run: UpdateRun,
  segment: Segment,
  row: SegmentRow,
  { onWork, signal }: { readonly onWork?: OnWork | undefined; readonly signal?: AbortSignal | undefined },
): Promise<Tally> {
  const { db, options } = run;
  const total = emptyTally();
  if (row.applied >= segment.fetchedCount) return total;
  const limits = { from: row.applied, records: options.chunk, links: MAX_CHUNK_LINKS };
  for await (const chunk of joinedBatches(segment, limits)) {
    const applied = row.applied + total.applied + chunk.length;
    const stamped = chunk.map((joined) => stampedBy(joined, run.clock.now()));
    const { loginOf } = options;
    const answers = loginOf === undefined ? stamped : await withLoginPages(db, stamped, loginOf);
    const records = options.soft404 ? await withSoft404(db, answers) : answers;
    addTally(total, await applyChunk(run, records, { ...row, applied }));
    onWork?.({ work: 'applying the segment', done: applied, total: segment.fetchedCount });
    // After a batch, not before: what a short stopped round fetched is applied as a whole.
    if (signal?.aborted) break;
  }
  return total;
}

/** What the schedule keeps of the crawl as a whole. */
async function scheduleFacts(
  { db, clock, policy, learnt }: UpdateRun,
  level: ChangeLevel,
  { looks, changes, watchedMs }: Tally,
): Promise<Readonly<Record<string, string>>> {
  const now = clock.now();
  const hosts = watchedHostFacts(await openWatchedHosts(db), learnt, policy.maxIntervalMs, now);
  return { ...crawlLevelFacts(policy.schedule, level, { visits: looks, changes, watchedMs }, now), ...hosts };
}

/** Links that the visits of this segment have made room for. */
async function admitLinks(run: UpdateRun, total: Tally, signal: AbortSignal | undefined): Promise<void> {
  const { options, policy } = run;
  if (!options.additions) return;
  await admitWaiting(run, {
    ...options,
    signal,
    initialIntervalMs: policy.schedule.initialIntervalMs,
    onAdded: (added) => {
      total.newUrls += added.length;
      for (const { depth } of added) run.layers.count(depth, 'newUrls');
    },
  });
}

/** Counts the URLs that entered the crawl db while the segment was fetched. */
async function countFollowed({ layers, links }: UpdateRun, segment: Segment, total: Tally): Promise<void> {
  const { urls, followed = 0 } = segment.info;
  if (followed === 0) return;
  for await (const { joined, depth, metadata } of segment.fetchList(urls - followed)) {
    if (joined?.isNew !== true) continue;
    total.newUrls++;
    layers.count(depth, 'newUrls');
    if (typeof metadata.demoted === 'string') countRejection(links.demotedBy, metadata.demoted);
  }
}

/** The hosts that the fetch left because of their next turn. */
async function turnFacts({ db, clock }: UpdateDeps, { info }: Segment): Promise<Readonly<Record<string, string>>> {
  if (info.turns === undefined) return {};
  const now = clock.now();
  return hostTurnFacts(await openHostTurns(db, now), Object.entries(info.turns), now);
}

/** URLs released per batch. */
const RELEASE_WINDOW = 5_000;

/**
 * What the segment still holds, by the crawl db itself: the list of a segment does not name a redirect's target that a
 * process leased to it before it was lost with all that it had not stored. Hosts get back what they gave for it today.
 */
async function releaseRest(db: CrawlDb, { id: segment, createdAt }: SegmentInfo): Promise<number> {
  if ((await db.counters()).leased === 0) return 0;
  let released = 0;
  let urls: string[] = [];
  const flush = async (): Promise<void> => {
    if (urls.length === 0) return;
    const hostFacts = await givenBackFacts(db, urls.map(hostOf), createdAt);
    await db.write({ release: { segment, urls }, hostFacts });
    released += urls.length;
    urls = [];
  };
  for await (const { url } of db.scanLeases(segment)) {
    urls.push(url);
    if (urls.length >= RELEASE_WINDOW) await flush();
  }
  await flush();
  return released;
}

import { type PageChange, pageChange, pageDropped } from '../../domain/crawl/change/page-change.ts';
import { judgeHint, withoutHint } from '../../domain/crawl/discovery/sitemap-hint.ts';
import { parseHttpDate } from '../../domain/crawl/headers/http-date.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { type Settled, type SettlePolicy, settle } from '../../domain/crawl/states/settle.ts';
import { CrawlError } from '../../domain/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CrawlDb, CrawlDbPut, StoredLinks } from '../../ports/crawl-db.ts';
import type { Segment, SegmentInfo } from '../../ports/segment-store.ts';
import { addFailure, type FailureKind, unreadBy } from '../counters/failures.ts';
import { Layers } from '../counters/layers.ts';
import { noteVisit } from '../counters/skip-notes.ts';
import { noted } from '../facts/change-feed.ts';
import { type DatedObservation, factsAfter, observationsOf } from '../facts/host-observations.ts';
import { openVisitPrice, visitPriceFacts } from '../facts/visit-price.ts';
import { withSoft404 } from '../fetch/soft-404.ts';
import type { UpdateSummary } from '../summaries.ts';
import { countingRejections } from '../url-chain.ts';
import {
  additions,
  type Found,
  type LinkCounts,
  type LinkDeps,
  type LinkOptions,
  outlinkTargets,
  redirectTarget,
} from './found-links.ts';
import { type JoinedRecord, joinedBatches } from './joined-records.ts';
import { type JudgedRepeats, judgeRepeats, type RepeatDeps, type RepeatOptions } from './repeats.ts';
import { addTally, count, emptyTally, isAnswer, isCounted, type Tally } from './update-tally.ts';

export interface UpdateOptions extends LinkOptions {
  /** Whether newly found URLs enter the crawl db. */
  readonly additions: boolean;
  /** Whether a page that is gone leaves the crawl db at once. */
  readonly purgeGone: boolean;
  /** Records applied per batch, at most; fewer where they have many links. */
  readonly chunk: number;
  /** How long the headers of a host are not believed after a lie, ms. */
  readonly distrustMs: number;
  /** Whether pages that say what their host says where there is nothing are gone. */
  readonly soft404: boolean;
  /** How pages that repeat others are told, and whether their links are passed over. */
  readonly repeats: RepeatOptions & { readonly skipOutlinks: boolean };
}

export interface UpdateDeps {
  readonly db: CrawlDb;
  readonly clock: Clock;
  readonly policy: SettlePolicy;
  readonly links: LinkDeps;
  /** The tables of signatures, and what their scopes are; `null` where none are kept: then no page is marked. */
  readonly near: Pick<RepeatDeps, 'tables' | 'scopeOf'> | null;
}

/**
 * Links of a batch, beyond which no more records join it. What a batch holds should be garbage before V8 takes it for
 * old: four times as many links took 40 MB more, or a sixth more CPU to keep the heap as small.
 */
const MAX_CHUNK_LINKS = 7_500;

/**
 * Applies a segment to the crawl db, chunk by chunk. The progress mark is written in the same batch as what it counts,
 * so that an interrupted run goes on where it stopped and applying a segment twice is the same as once. What the
 * segment did not come to is given back to the due index at the end.
 */
export async function updateFromSegment(
  deps: UpdateDeps,
  segment: Segment,
  options: UpdateOptions,
): Promise<Omit<UpdateSummary, 'orphans'>> {
  const { id } = segment.info;
  const row = (await deps.db.segments()).find((each) => each.id === id);
  if (row === undefined) {
    throw new CrawlError('segment-missing', `segment ${id} does not belong to this crawl db`);
  }
  const visitPrice = await openVisitPrice(deps.db, deps.policy);
  const linkCounts: LinkCounts = { filteredBy: {}, demotedBy: {} };
  const priced: UpdateDeps & { readonly links: LinkCounts } = {
    ...deps,
    policy: visitPrice.policy,
    links: {
      ...deps.links,
      ...linkCounts,
      urls: countingRejections(deps.links.urls, linkCounts.filteredBy, deps.links.skips),
    },
  };
  const total: Tally = emptyTally();
  const layers = new Layers();
  const failures: FailureKind[] = [];
  let applied = row.applied;
  if (row.state !== 'updated') {
    const limits = { from: row.applied, records: options.chunk, links: MAX_CHUNK_LINKS };
    for await (const chunk of joinedBatches(segment, limits)) {
      applied += chunk.length;
      addTally(
        total,
        await applyChunk(
          { ...priced, layers, failures, hosts: segment.info.hosts },
          options.soft404 ? await withSoft404(deps.db, chunk) : chunk,
          options,
          id,
          { ...row, applied },
        ),
      );
    }
  }
  const released = row.state === 'updated' ? 0 : await releaseRest(deps.db, segment);
  await deps.db.write(
    { segments: [{ ...row, applied, state: 'updated' }], meta: visitPriceFacts(visitPrice, total.visits, total.worth) },
    { durable: true },
  );
  await segment.setState('updated');
  const { distances, distanceSum, visits: _, worth: __, ...counts } = total;
  return {
    segment: id,
    ...counts,
    ...linkCounts,
    failures,
    layers: layers.summary,
    meanDistance: distances === 0 ? null : distanceSum / distances,
    released,
  };
}

/** URLs handed back per batch. */
const RELEASE_WINDOW = 5_000;

async function releaseRest(db: CrawlDb, segment: Segment): Promise<number> {
  let released = 0;
  let urls: string[] = [];
  const flush = async (): Promise<void> => {
    if (urls.length === 0) return;
    await db.write({ release: { segment: segment.info.id, urls } });
    released += urls.length;
    urls = [];
  };
  if (segment.fetchedCount === segment.info.urls) return 0;
  for await (const item of segment.fetchList()) {
    if (segment.hasFetched(item.index)) continue;
    urls.push(item.url);
    if (urls.length >= RELEASE_WINDOW) await flush();
  }
  await flush();
  return released;
}

async function applyChunk(
  deps: UpdateDeps & {
    readonly links: LinkCounts;
    readonly layers: Layers;
    readonly failures: FailureKind[];
    readonly hosts: SegmentInfo['hosts'];
  },
  chunk: readonly JoinedRecord[],
  options: UpdateOptions,
  segmentId: string,
  row: { id: string; state: 'generated' | 'updated'; createdAt: number; urls: number; applied: number },
): Promise<Tally> {
  const tally = emptyTally();
  const found = new Map<string, Found>();
  const visits = await settleChunk(deps, chunk, found, tally);
  const { visited, others, marked, restored } = await repeatsAmong(deps, visits, options);
  tally.duplicates = marked;
  tally.restored = restored;
  const puts: CrawlDbPut[] = [...others];
  const deletes: CrawlDatum[] = [];
  const links: StoredLinks[] = [];
  const hints: DatedObservation[] = [];
  const changes: PageChange[] = others.flatMap(({ datum, previous }) => {
    const change = previous === null ? null : pageChange(previous, datum, deps.clock.now());
    return change === null ? [] : [change];
  });
  for (const [i, { previous, settled, fetched, parsed }] of visits.entries()) {
    const datum = visited[i]!;
    count(tally, settled);
    const unread = unreadBy(previous.url, parsed?.outcome ?? null);
    if (unread !== null) addFailure(deps.failures, unread);
    const change = pageChange(previous, datum, fetched.outcome.at);
    if (change !== null) changes.push(change);
    if (!isAnswer(settled)) noteVisit(deps.links.skips, datum, datum.httpStatus);
    deps.layers.count(previous.depth, 'visited');
    if (isCounted(settled.verdict)) deps.layers.count(previous.depth, settled.verdict);
    const hint = isAnswer(settled) ? judgeHint(previous, settled.verdict === 'modified') : null;
    if (hint !== null) {
      const observation = hint === 'hit' ? { hintHits: 1 } : { hintMisses: 1 };
      hints.push({ host: fetched.host, observation, at: fetched.outcome.at });
    }
    if (parsed !== null && parsed.outcome.kind === 'parsed') {
      const isSkipped = datum.state === 'duplicate' && options.repeats.skipOutlinks;
      const source = { page: previous, at: fetched.outcome.at };
      const targets = isSkipped ? [] : outlinkTargets(deps.links, parsed, source, options, found, tally);
      links.push({ url: previous.url, targets });
    }
    if (options.purgeGone && datum.state === 'gone') {
      deletes.push(previous);
      const dropped = pageDropped(datum, fetched.outcome.at);
      if (dropped !== null) changes.push(dropped);
      links.push({ url: previous.url, targets: [] });
      tally.purged++;
    } else {
      puts.push({ datum: isAnswer(settled) ? withoutHint(datum) : datum, previous, leasedBy: segmentId });
    }
  }
  tally.applied = chunk.length;
  const added = options.additions
    ? await additions(deps.links, found, options, deps.policy.schedule.initialIntervalMs)
    : [];
  tally.newUrls = added.length;
  for (const { depth } of added) deps.layers.count(depth, 'newUrls');
  await deps.db.write({
    puts: [...puts, ...added.map((datum) => ({ datum, previous: null }))],
    deletes,
    links,
    hostFacts: await factsAfter(deps.db, [...observationsOf(chunk), ...hints], options.distrustMs),
    segments: [row],
    ...noted(changes, deps.clock.now()),
  });
  deps.links.seen.add(added.map((datum) => datum.url));
  deps.links.seen.remove(deletes.map((datum) => datum.url));
  return tally;
}

/** A visit to a known page, and what the page becomes by it. */
interface SettledVisit extends JoinedRecord {
  readonly previous: CrawlDatum;
  readonly settled: Settled;
}

async function settleChunk(
  deps: UpdateDeps & { readonly hosts: SegmentInfo['hosts'] },
  chunk: readonly JoinedRecord[],
  found: Map<string, Found>,
  tally: Tally,
): Promise<SettledVisit[]> {
  const records = await deps.db.getMany(chunk.map(({ fetched }) => fetched.url));
  return chunk.flatMap(({ fetched, parsed }, i): SettledVisit[] => {
    const previous = records[i];
    // A record that was purged while its page was on the way is not brought back.
    if (previous === undefined) return [];
    const target = redirectTarget(deps.links, fetched, previous, found, tally);
    const { outcome } = fetched;
    const lastModified = 'validators' in outcome ? outcome.validators.lastModified : null;
    const settled = settle(
      previous,
      {
        kind: 'visited',
        outcome,
        parse: parsed?.outcome ?? null,
        target,
        lastModifiedAt: lastModified === null ? null : parseHttpDate(lastModified),
        isHostTrusted: (deps.hosts[fetched.host]?.distrustedUntil ?? 0) <= outcome.at,
      },
      deps.policy,
      outcome.at,
    );
    return [{ fetched, parsed, previous, settled }];
  });
}

async function repeatsAmong(
  { db, near }: UpdateDeps,
  visits: readonly SettledVisit[],
  { repeats }: UpdateOptions,
): Promise<JudgedRepeats> {
  const pages = visits.map(({ previous, settled: { datum } }) => ({ previous, datum }));
  if (near === null) {
    return { visited: pages.map(({ datum }) => datum), others: [], marked: 0, restored: 0 };
  }
  return judgeRepeats({ db, ...near }, pages, repeats);
}

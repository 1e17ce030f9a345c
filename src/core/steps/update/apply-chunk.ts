import { type PageChange, pageChange, pageDropped } from '../../domain/crawl/change/page-change.ts';
import { judgeHint, withoutHint } from '../../domain/crawl/discovery/sitemap-hint.ts';
import type { HostExpectation } from '../../domain/crawl/hazard/expectation.ts';
import { parseHttpDate } from '../../domain/crawl/headers/header-fields.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { type SettlePolicy, settle, type Transition } from '../../domain/crawl/states/settle.ts';
import { THIN_KEY, thinnessOf } from '../../domain/url/families/noise-families.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CrawlDb, CrawlDbPut, SegmentRow, StoredLinks } from '../../ports/crawl-db.ts';
import { PURGED_KEY } from '../../ports/seen-filter.ts';
import type { SegmentInfo } from '../../ports/segment-store.ts';
import { noteVisit } from '../counters/outcome-counts.ts';
import {
  addFailure,
  type FailureKind,
  type HostTally,
  type Layers,
  loginFailureOf,
  parseFailureOf,
} from '../counters/round-counts.ts';
import { noted } from '../facts/change-feed.ts';
import type { Expectations } from '../facts/expected-changes.ts';
import { type DatedObservation, factsAfter, observationsOf } from '../facts/host-observations.ts';
import { writtenAt } from '../facts/touched-urls.ts';
import { ChangeBook } from './change-book.ts';
import type { FirstRecords } from './first-records.ts';
import {
  type Found,
  type LinkCounts,
  type LinkDeps,
  type LinkOptions,
  outlinkTargets,
  redirectTarget,
} from './found-links.ts';
import { type JoinedRecord, type KnownVisit, knownVisits, type LoginOf } from './known-visits.ts';
import { withWaiting } from './like-urls/waiting-links.ts';
import { type Additions, additions, datesInFeeds, NO_ADDITIONS } from './links/additions.ts';
import { followShorterWays } from './links/follow-shorter-ways.ts';
import type { InlinkLevels } from './links/inlink-levels.ts';
import { forwardingPart } from './links/link-forwarding.ts';
import { shorterWayFacts } from './links/shorter-ways.ts';
import { judgeRepeats, type RepeatDeps, type RepeatOptions } from './repeats.ts';

/** The page, marked where it has hardly a word of its own: its family may ask how many of its pages do. */
function withThinness(
  { books }: LinkDeps['admission'],
  found: ReadonlyMap<string, Found>,
  { datum, parsed }: Pick<JoinedRecord, 'parsed'> & { readonly datum: CrawlDatum },
  targets: readonly string[],
): CrawlDatum {
  if (books === null || parsed?.outcome.kind !== 'parsed') return datum;
  const content = (): readonly string[] => targets.filter((target) => (found.get(target)?.noise ?? null) === null);
  const thin = thinnessOf(parsed.outcome.ownChars, () => books.ownLinks(datum.url, content()));
  return thin === null ? datum : { ...datum, metadata: { ...datum.metadata, [THIN_KEY]: thin } };
}

export interface UpdateOptions extends LinkOptions {
  /** Whether newly found URLs enter the crawl db. */
  readonly additions: boolean;
  /** Whether a page that is gone leaves the crawl db at once. */
  readonly purgeGone: boolean;
  /** Records applied per batch, at most; fewer where they have many links. */
  readonly chunk: number;
  /** How long the headers of a host are not believed after a lie, ms. */
  readonly distrustMs: number;
  /** Whether pages with the text that their host gives for an address that cannot exist are gone. */
  readonly soft404: boolean;
  /** The login page of a URL; absent: no answer is compared with one. */
  readonly loginOf?: LoginOf | undefined;
  /** When pages are duplicates, and whether the links of those are passed over. */
  readonly repeats: RepeatOptions & { readonly skipOutlinks: boolean };
}

export interface UpdateDeps {
  readonly db: CrawlDb;
  readonly clock: Clock;
  readonly policy: SettlePolicy;
  readonly links: LinkDeps;
  /** The tables of signatures and their scopes; `null`: none are kept, and no page is marked as a duplicate. */
  readonly near: Pick<RepeatDeps, 'tables' | 'scopeOf'> | null;
  /** Absent: the scoring does not go by the links to a page, and none are counted. */
  readonly inlinks?: InlinkLevels | undefined;
}

/** One run over a segment: what its chunks share. */
export interface UpdateRun extends UpdateDeps {
  readonly links: LinkDeps & LinkCounts;
  readonly options: UpdateOptions;
  /** `null`: the schedule does not go by what is expected of hosts. */
  readonly expectations: Expectations | null;
  /** What is expected of the hosts visited so far. */
  readonly learnt: Map<string, HostExpectation>;
  readonly segment: SegmentInfo;
  readonly firstRecords: FirstRecords;
  readonly layers: Layers;
  readonly hosts: HostTally;
  readonly failures: FailureKind[];
}

/** What a chunk changes, up to the batch that writes it. */
interface Draft {
  readonly tally: Tally;
  readonly puts: CrawlDbPut[];
  readonly deletes: CrawlDatum[];
  /** URLs that get their first records now. */
  readonly firstRecords: string[];
  readonly links: StoredLinks[];
  readonly shown: DatedObservation[];
  readonly changes: PageChange[];
  /** URLs met as links or redirect targets. */
  readonly found: Map<string, Found>;
  readonly firsts: CrawlDatum[];
  readonly book: ChangeBook;
}

/** `datum`: the page as it is to be stored. */
interface JudgedVisit extends KnownVisit {
  readonly settled: Transition;
  readonly datum: CrawlDatum;
}

/** Applies fetched records to the crawl db in one batch; `row` is the progress mark that the batch writes with them. */
export async function applyChunk(run: UpdateRun, chunk: readonly JoinedRecord[], row: SegmentRow): Promise<Tally> {
  const visits = await knownVisits(run, chunk);
  const draft: Draft = {
    tally: { ...emptyTally(), applied: chunk.length },
    puts: [],
    deletes: [],
    firstRecords: [],
    links: [],
    shown: [],
    changes: [],
    found: new Map(),
    firsts: [],
    book: await ChangeBook.open(run.db, run.expectations, visits),
  };
  for (const visit of await judge(run, draft, visits)) draftVisit(run, draft, visit);
  // A link to a URL that has its first record from this chunk leads to no other one.
  for (const { isStored, previous } of visits) if (!isStored) draft.found.delete(previous.url);
  const found = await newUrls(run, draft);
  const added = await run.inlinks?.addTo(run.db, draft.puts, draft.deletes, found.added);
  const entering = added === undefined ? found : { ...found, added };
  draft.puts.push(...(await dated(run, draft, visits)));
  await write(run, draft, entering, chunk, row);
  if (entering.shorter.length > 0) await followShorter(run, draft.tally);
  return draft.tally;
}

/** Pages that feeds among the visits say to be newer; what this chunk writes anyway is as new as can be. */
function dated({ db, links: { urls, seedHosts }, policy }: UpdateRun, draft: Draft, visits: readonly KnownVisit[]) {
  const written = new Set([...draft.puts.map(({ datum }) => datum.url), ...draft.deletes.map(({ url }) => url)]);
  const pages = visits.flatMap(({ fetched: { url, outcome }, parsed }) =>
    parsed === null ? [] : [{ url, at: outcome.at, outlinks: parsed.outlinks }],
  );
  return datesInFeeds({ db, urls, seedHosts, policy }, pages, (url) => written.has(url));
}

/** Settles each visit, then compares the pages with each other and with those of the crawl db. */
async function judge(run: UpdateRun, draft: Draft, visits: readonly KnownVisit[]): Promise<JudgedVisit[]> {
  const settled = visits.map((visit) => ({ ...visit, settled: settleVisit(run, draft, visit) }));
  const pages = settled.map(({ previous, settled: { datum } }) => ({ previous, datum }));
  if (run.near === null) return settled.map((visit) => ({ ...visit, datum: visit.settled.datum }));
  const { repeats } = run.options;
  const { visited, others, marked, restored } = await judgeRepeats({ db: run.db, ...run.near }, pages, repeats);
  draft.tally.duplicates = marked;
  draft.tally.restored = restored;
  for (const put of others) {
    draft.puts.push(put);
    noteChange(draft, put.previous, put.datum, run.clock.now());
  }
  return settled.map((visit, i) => ({ ...visit, datum: visited[i]! }));
}

function settleVisit(run: UpdateRun, { found, tally, book }: Draft, visit: KnownVisit): Transition {
  const { fetched, parsed, previous, isTargetMissing } = visit;
  const { outcome, host } = fetched;
  const { maxRedirects = Number.POSITIVE_INFINITY } = run.policy;
  const target = redirectTarget(run.links, fetched, previous, maxRedirects, found, tally);
  const facts = run.segment.hosts[host];
  const lastModified = 'validators' in outcome ? outcome.validators.lastModified : null;
  return settle(
    previous,
    {
      kind: 'visited',
      outcome,
      parse: parsed?.outcome ?? null,
      target,
      isTargetMissing,
      lastModifiedAt: lastModified === null ? null : parseHttpDate(lastModified),
      isHostTrusted: (facts?.distrustedUntil ?? 0) <= outcome.at,
    },
    book.policyFor(run.policy, host),
    outcome.at,
  );
}

/** Counts a visit and adds it to the draft: the record, its change, its links, and the hint that it had. */
function draftVisit(run: UpdateRun, draft: Draft, visit: JudgedVisit): void {
  const { previous, isStored, datum, settled, fetched } = visit;
  const { at } = fetched.outcome;
  countAndReport(run, draft, visit);
  noteChange(draft, previous, datum, at);
  const hint = isAnswer(settled) ? judgeHint(previous, settled.verdict === 'modified') : null;
  if (hint !== null) {
    const observation = hint === 'hit' ? { hintHits: 1 } : { hintMisses: 1 };
    draft.shown.push({ host: fetched.host, observation, at });
  }
  draft.book.note({ host: fetched.host, at, previous, datum, seen: settled.seen });
  const targets = draftLinks(run, draft, visit);
  const isFirst = previous.lastFetchAt === null && datum.lastFetchAt !== null;
  const known = isFirst ? withThinness(run.links.admission, draft.found, visit, targets) : datum;
  if (isFirst) draft.firsts.push(known);
  if (run.options.purgeGone && datum.state === 'gone') {
    if (isStored) purge(draft, previous, datum, at);
    return;
  }
  const stored = isAnswer(settled) ? withoutHint(known) : known;
  draft.puts.push({ datum: stored, previous: isStored ? previous : null, leasedBy: run.segment.id });
  if (!isStored) draft.firstRecords.push(previous.url);
}

function countAndReport(run: UpdateRun, { tally }: Draft, visit: JudgedVisit): void {
  const { previous, datum, settled, parsed, fetched } = visit;
  countVisit(tally, settled);
  run.hosts.count(fetched.host, fetched.url, fetched.outcome);
  run.layers.count(previous.depth, 'visited');
  if (isLayerCounter(settled.verdict)) run.layers.count(previous.depth, settled.verdict);
  const failure =
    parseFailureOf(previous.url, parsed?.outcome ?? null) ?? loginFailureOf(previous.url, fetched.outcome);
  if (failure !== null) addFailure(run.failures, failure);
  if (!isAnswer(settled)) noteVisit(run.links.skips, datum, datum.httpStatus);
}

function noteChange({ changes }: Draft, previous: CrawlDatum | null, datum: CrawlDatum, at: number): void {
  const change = previous === null ? null : pageChange(previous, datum, at);
  if (change !== null) changes.push(change);
}

/** Adds the links of a page to the draft; resolves with their targets. */
function draftLinks(
  run: UpdateRun,
  draft: Draft,
  { previous, datum, parsed, fetched }: JudgedVisit,
): readonly string[] {
  if (parsed === null || parsed.outcome.kind !== 'parsed') return [];
  const { options } = run;
  const isPassedOver = datum.state === 'duplicate' && options.repeats.skipOutlinks;
  const onLink = run.inlinks?.counterOf(previous.url);
  const source = { page: previous, at: fetched.outcome.at, ...(onLink !== undefined && { onLink }) };
  const targets = isPassedOver ? [] : outlinkTargets(run.links, parsed, source, options, draft.found, draft.tally);
  draft.links.push({ url: previous.url, targets });
  return targets;
}

function purge({ tally, deletes, changes, links }: Draft, previous: CrawlDatum, datum: CrawlDatum, at: number): void {
  deletes.push(previous);
  const dropped = pageDropped(datum, at);
  if (dropped !== null) changes.push(dropped);
  links.push({ url: previous.url, targets: [] });
  tally.purged++;
}

const additionsOf = ({ links, options, policy }: UpdateRun, { found, firsts }: Draft): Promise<Additions> =>
  additions(links, found, options, policy.schedule.initialIntervalMs, firsts);

/** What becomes of the URLs found that the crawl db does not have; and when the pages are visited again. */
async function newUrls(run: UpdateRun, draft: Draft): Promise<Additions> {
  const entering = run.options.additions ? await additionsOf(run, draft) : NO_ADDITIONS;
  const { added, waiting } = entering;
  draft.book.noteNew(added);
  const targetsOf = new Map(draft.links.map(({ url, targets }) => [url, targets]));
  for (const [i, { datum, ...put }] of draft.puts.entries()) {
    const isRedirect = datum.state.startsWith('redir') && datum.target !== null;
    const targets = targetsOf.get(datum.url) ?? (isRedirect ? [datum.target as string] : null);
    const scheduled = draft.book.scheduled(datum, run.policy);
    draft.puts[i] = { ...put, datum: targets === null ? scheduled : withWaiting(scheduled, targets, waiting) };
  }
  draft.tally.newUrls = added.length;
  for (const { depth } of added) run.layers.count(depth, 'newUrls');
  return entering;
}

/** A chunk may show shorter ways to pages that it visits, so they are followed once its records and links are there. */
function followShorter(run: UpdateRun, tally: Tally): Promise<void> {
  return followShorterWays(run, {
    ...run.options,
    initialIntervalMs: run.policy.schedule.initialIntervalMs,
    onAdded: (added) => {
      tally.newUrls += added.length;
      for (const { depth } of added) run.layers.count(depth, 'newUrls');
    },
  });
}

/** One batch, so that the chunk is applied as a whole or not at all. The filter of seen URLs follows it. */
async function write(
  { db, clock, links: { seen, admission }, options, learnt, segment }: UpdateRun,
  { puts, deletes, firstRecords, links, shown, changes, book }: Draft,
  { added, forward, shorter }: Additions,
  chunk: readonly JoinedRecord[],
  row: SegmentRow,
): Promise<void> {
  book.addTo(learnt);
  const books = admission.books?.facts();
  const fetched = chunk.map((each) => each.fetched);
  const observations = [...observationsOf(chunk), ...shown];
  await db.write({
    ...books,
    puts: [...puts, ...added.map((datum) => ({ datum, previous: null }))],
    deletes,
    links,
    hostFacts: await factsAfter(db, observations, fetched, options.distrustMs, book.clocks, segment.createdAt),
    segments: [row],
    meta: {
      ...writtenAt(clock.now()),
      ...(deletes.length > 0 && { [PURGED_KEY]: String(clock.now()) }),
      ...books?.meta,
      ...(await shorterWayFacts(db, shorter)),
    },
    ...noted(changes, clock.now()),
    ...forwardingPart({ forward }),
  });
  admission.forwarding?.note(forward);
  seen.add([...firstRecords, ...added.map(({ url }) => url)]);
  seen.remove(deletes.map(({ url }) => url));
}

/** Counters of `updatedb` that are plain numbers, in the order of `--json`, and sums that it needs beside them. */
export const emptyTally = () => ({
  applied: 0,
  new: 0,
  modified: 0,
  /** Modified pages whose distance is known, and the sum of their distances, bits. */
  distances: 0,
  distanceSum: 0,
  unchanged: 0,
  gone: 0,
  redirected: 0,
  failed: 0,
  outlinks: 0,
  newUrls: 0,
  filteredUrls: 0,
  purged: 0,
  duplicates: 0,
  restored: 0,
  /** Visits that looked for changes, substantive ones that they saw, and the time since the visits before, ms. */
  looks: 0,
  changes: 0,
  watchedMs: 0,
});

/** What one chunk adds to the counters; kept apart until the chunk is written. */
export type Tally = ReturnType<typeof emptyTally>;

type Verdict = Transition['verdict'];

/** The counter of each verdict; `null`: none. */
const COUNTER_OF = {
  new: 'new',
  modified: 'modified',
  unchanged: 'unchanged',
  gone: 'gone',
  redirected: 'redirected',
  failed: 'failed',
  denied: 'failed',
  'parse-failed': 'failed',
  kept: null,
} as const satisfies Record<Verdict, keyof Tally | null>;

/** Counts a visit by its verdict. */
function countVisit(tally: Tally, { verdict, distance, seen }: Transition): void {
  if (seen !== undefined) {
    tally.looks++;
    tally.changes += seen.changes;
    tally.watchedMs += seen.elapsedMs;
  }
  const counter = COUNTER_OF[verdict];
  if (counter !== null) tally[counter]++;
  if (verdict === 'modified' && distance !== null) {
    tally.distances++;
    tally.distanceSum += distance;
  }
}

export function addTally(total: Tally, part: Tally): void {
  for (const key of Object.keys(part) as (keyof Tally)[]) total[key] += part[key];
}

/** Whether a layer has a counter of its own for the verdict. */
const isLayerCounter = (verdict: Verdict): verdict is 'new' | 'modified' | 'unchanged' | 'gone' =>
  verdict === 'new' || verdict === 'modified' || verdict === 'unchanged' || verdict === 'gone';

/** Whether a visit has shown what the page is like now. */
const isAnswer = ({ verdict }: Transition): boolean =>
  verdict === 'new' || verdict === 'modified' || verdict === 'unchanged';

import type { DayBoundOf } from '../../domain/crawl/revisit/budget-shares.ts';
import { type Absence, absenceOf } from '../../domain/crawl/revisit/missing-links.ts';
import { type CrawlDatum, type CrawlState, NO_VALIDATORS } from '../../domain/crawl/states/datum.ts';
import { hourOf } from '../../domain/crawl/states/host-traffic.ts';
import { isMissingPageOld, missingPageUrl } from '../../domain/crawl/states/soft-404.ts';
import { DAY_MS } from '../../domain/time.ts';
import { partitionOf } from '../../domain/url/hash/partition.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CrawlDb, CrawlDbBatch, DueEntry, HostFacts, SegmentRow } from '../../ports/crawl-db.ts';
import type { FetchItem, NewSegment, RoundBounds, SegmentStore } from '../../ports/segment-store.ts';
import { type FetchBudget, fetchBudgetFacts, openFetchBudget } from '../facts/fetch-budget.ts';
import { factsOf, HostDays, missingLinksOf, takenFacts } from '../facts/host-observations.ts';
import { type HostTurns, openHostTurns } from '../facts/host-rest.ts';
import { touchedEntries, touchedLeft } from '../facts/touched-urls.ts';
import type { GenerateSummary, NextDue, WaitingHosts } from '../summaries.ts';
import { type Candidate, interleaveHosts, newSegmentId } from './fetch-list.ts';
import { fetchItem } from './generate-from-list.ts';
import { type AuditChoice, createAuditChoice, NOTHING_NOTED, openHazard } from './hazard-round.ts';
import { isAdmitted, type SelectDeps, type SelectOptions, selectDue } from './select-due.ts';

/**
 * When the next known page is due, and how many are until the end of that day, by the counts of the due index; `null`:
 * none ever is.
 */
export async function nextDue(db: Pick<CrawlDb, 'due' | 'spread'>, now: number): Promise<NextDue | null> {
  for await (const { dueAt } of db.due({ until: Number.MAX_SAFE_INTEGER, only: 'known' })) {
    // A URL that is due and was not selected is refused by a rule or a filter, and will be again.
    if (dueAt <= now) continue;
    const nextDay = (Math.floor(dueAt / DAY_MS) + 1) * DAY_MS;
    let urls = 0;
    for (const [hour, count] of (await db.spread()).dueKnown) {
      if (hour >= hourOf(dueAt) && hour < hourOf(nextDay)) urls += count;
    }
    return { at: new Date(dueAt).toISOString(), urls };
  }
  return null;
}

interface GrowDeps {
  readonly db: Pick<CrawlDb, 'segments'>;
  readonly segments: SegmentStore;
}

/** Candidates that are not in the list of a segment: one that is due again is visited in another segment. */
export async function notListed(
  { segments }: GrowDeps,
  id: string,
  chosen: readonly Candidate[],
): Promise<readonly Candidate[]> {
  if (chosen.length === 0) return chosen;
  const segment = await segments.open(id, 'write');
  try {
    const listed = new Set<string>();
    for await (const { url } of segment.fetchList()) listed.add(url);
    return chosen.filter(({ entry }) => !listed.has(entry.url));
  } finally {
    await segment.close();
  }
}

/**
 * Adds items, counted from 0, to the end of the list of a segment; they are on disk before this resolves with the row
 * of the segment as it is then to be written. Where a crash comes before that, they are visited without a lease.
 */
export async function growList(
  { db, segments }: GrowDeps,
  id: string,
  items: AsyncIterable<FetchItem>,
  hosts: Readonly<Record<string, HostFacts>>,
): Promise<SegmentRow> {
  const row = (await db.segments()).find((each) => each.id === id);
  if (row === undefined) throw new TypeError(`segment ${id} does not belong to this crawl db`);
  const segment = await segments.open(id, 'write');
  try {
    const { urls } = segment.info;
    const added: FetchItem[] = [];
    for await (const item of items) added.push({ ...item, index: urls + item.index });
    await segment.addItems(added, hosts);
    return { ...row, urls: segment.info.urls };
  } finally {
    await segment.close();
  }
}

interface ProbeRules {
  readonly random: () => number;
  readonly partition: (host: string) => number;
  /** Whether the URL filters let an address in. */
  readonly admits: (url: string) => boolean;
}

/**
 * An address that cannot exist for each host of a fetch list whose answer to such an address is not known, or is too
 * old.
 */
function soft404Probes(
  list: readonly Candidate[],
  facts: Readonly<Record<string, HostFacts>>,
  now: number,
  { random, partition, admits }: ProbeRules,
): FetchItem[] {
  const asked = new Set<string>();
  const items: FetchItem[] = [];
  for (const { host, entry } of list) {
    const known = facts[host]?.nothing ?? null;
    if (asked.has(host) || (known !== null && !isMissingPageOld(known, now))) continue;
    asked.add(host);
    const url = missingPageUrl(entry.url, random());
    if (!admits(url)) continue;
    items.push({
      index: items.length,
      url,
      host,
      partition: partition(host),
      depth: 0,
      score: 1,
      validators: NO_VALIDATORS,
      digest: null,
      audit: false,
      metadata: {},
    });
  }
  return items;
}

export interface GenerateOptions {
  readonly topN?: number;
  /** 0: no cap. */
  readonly maxPerHost?: number;
  readonly maxPerDomain?: number;
  readonly minScore?: number;
  readonly minIntervalMs?: number;
  /** Only these states; absent: all that can be due. */
  readonly status?: readonly CrawlState[];
  /** Only URLs fewer links than this from a seed; default: all. */
  readonly maxLayers?: number;
  /** Only URLs whose records match this expression, as `parseExpression` reads it; empty: all. */
  readonly where?: string;
  /** URLs that are due within this time count as due now, ms. */
  readonly addDaysMs?: number;
  readonly dryRun?: boolean;
  /** Fetches that this round may make; 0: as many as `topN`. */
  readonly budget?: number;
  /** Fetches a day, spread over the rounds; 0: no limit. `budget` goes before it. */
  readonly budgetPerDay?: number;
  /** Share of a budget that belongs to new URLs, 0 to 1. */
  readonly newShare?: number;
  /** Segment whose list takes the URLs in, at its end; absent: they are the list of a new one. */
  readonly into?: string;
}

/** Settings that hold for all rounds of a crawl. */
interface GenerateSettings {
  /** Largest share of the visits to known pages whose body is fetched though the headers say "unchanged". */
  readonly auditShare: number;
  /** Whether an address that cannot exist is requested from each host. */
  readonly soft404: boolean;
  /** What stays together in one partition. */
  readonly partitionBy: 'host' | 'domain';
  /** Hosts whose next turn is later than this are left out, ms. */
  readonly hostWaitMs: number;
  /** Depth limits of single URLs; absent: none have one. */
  readonly layersOf?: SelectOptions['layersOf'];
  /** Bounds of hosts by the day; absent: none has one. */
  readonly dayBoundOf?: DayBoundOf | undefined;
}

/** The options of a round, each with its value. */
type GenerateRequest = Required<Omit<GenerateOptions, 'status' | 'into'>> &
  Pick<GenerateOptions, 'status' | 'into'> &
  GenerateSettings;

interface GenerateDeps {
  readonly db: CrawlDb;
  readonly segments: SegmentStore;
  readonly clock: Clock;
  /** Uniform in [0, 1): which visits become audits. */
  readonly random: () => number;
  readonly select: SelectDeps;
}

/** Records read at a time while the fetch list is written. */
const READ_WINDOW = 1_000;

/**
 * Selects the due URLs of the highest rank under the caps into a new segment, and leases them. The fetch list is whole
 * on disk before the one batch that leases its URLs and makes the segment known: a crash leaves either nothing or a
 * list without a row, which is removed at the next start.
 */
export async function generate(deps: GenerateDeps, options: GenerateRequest): Promise<GenerateSummary> {
  const now = deps.clock.now();
  const until = now + options.addDaysMs;
  const fetchBudget = await openFetchBudget(deps.db, options, now);
  const touched = await touchedEntries(deps.db, until);
  const budget = fetchBudget === null ? null : Math.min(fetchBudget.budget, options.topN);
  const turns = await turnsAfter(deps.db, now, now + options.hostWaitMs);
  const hazard = await openHazard(deps.db, deps.select.policy, { now, until, fetchBudget, isDry: options.dryRun });
  const days = new HostDays(deps.db, options.dayBoundOf, now);
  const round = { now, until, touched, budget, turns, days, hazard };
  const { into } = options;
  const { chosen: best, due, rejected, waiting } = await selectDue(deps.db, deps.select, round, options);
  const chosen = into === undefined ? best : await notListed(deps, into, best);
  const schedule = (await hazard?.afterRound(chosen)) ?? NOTHING_NOTED;
  const list = interleaveHosts(chosen);
  const hosts = new Set(list.map((each) => each.host));
  const next = list.length === 0 ? await nextDue(deps.db, until) : null;
  const summary = {
    due,
    selected: list.length,
    hosts: hosts.size,
    rejected,
    ...(waiting.size > 0 && { waiting: waitingHosts(waiting, turns, days) }),
    ...(fetchBudget === null ? {} : { budget: fetchBudget.budget }),
    ...(next !== null && { next }),
  };
  if (options.dryRun) return { ...summary, segment: null, urls: list.map((each) => each.entry.url) };
  if (list.length === 0) {
    if (hazard !== null) await deps.db.write(schedule);
    return { ...summary, segment: null };
  }

  const id = into ?? (await newSegmentId(deps, now));
  const meta = {
    ...schedule.meta,
    ...fetchBudgetFacts(fetchBudget, list.length, options),
    ...leftOf(touched, list),
  };
  const bounds = boundsOf(options, list.length, fetchBudget);
  const partition = partitioning(deps.select, options);
  const asked = new Set(touched.map(({ url }) => url));
  const charged = await takenFacts(deps.db, options.dayBoundOf, listedHosts(list), now);
  const hostFacts = joinedFacts(schedule.hostFacts, charged);
  await listUrls({ ...deps, partition }, options, id, list, { now, meta, bounds, hostFacts, asked });
  return { ...summary, segment: id };
}

/** Hosts whose next turn is after `latest`. */
async function turnsAfter(db: CrawlDb, now: number, latest: number): Promise<HostTurns> {
  return new Map([...(await openHostTurns(db, now))].filter(([, at]) => at > latest));
}

/** The facts of `charged` as well; a host in both has what either changes. */
function joinedFacts(noted: HostFactsPut, charged: HostFactsPut): HostFactsPut {
  const days = new Map(charged.map(({ host, facts }) => [host, facts.fetchesOfDay]));
  const both = noted.map(({ host, facts }) => ({
    host,
    facts: { ...facts, fetchesOfDay: days.get(host) ?? facts.fetchesOfDay },
  }));
  const hosts = new Set(noted.map(({ host }) => host));
  return [...both, ...charged.filter(({ host }) => !hosts.has(host))];
}

const listedHosts = (list: readonly Candidate[]): string[] => list.map(({ host }) => host);

/** Hosts of a summary, at most. */
const WAITING_NAMED = 10;

function waitingHosts(urlsOf: ReadonlyMap<string, number>, turns: HostTurns, days: HostDays): WaitingHosts {
  const turnOf = (host: string): number => Math.max(turns.get(host) ?? 0, days.againAt(host) ?? 0);
  const reasonOf = (host: string) => (days.againAt(host) === null ? {} : { reason: days.reasonOf(host) ?? '' });
  const next = [...urlsOf]
    .sort(([a], [b]) => turnOf(a) - turnOf(b))
    .slice(0, WAITING_NAMED)
    .map(([host, urls]) => ({ host, notBefore: new Date(turnOf(host)).toISOString(), urls, ...reasonOf(host) }));
  return { hosts: urlsOf.size, urls: [...urlsOf.values()].reduce((sum, urls) => sum + urls, 0), next };
}

/** What the round has left for targets of redirects, which count as if they had been selected. */
function boundsOf(options: GenerateRequest, selected: number, fetchBudget: FetchBudget | null): RoundBounds {
  const { topN, maxPerHost, maxPerDomain, minScore, minIntervalMs, status, maxLayers, where } = options;
  const most = Math.min(topN, fetchBudget?.budget ?? topN, Number.MAX_SAFE_INTEGER);
  return {
    free: Math.max(0, most - selected),
    isCharged: (fetchBudget?.account ?? null) !== null,
    ...{ maxPerHost, maxPerDomain, minScore, minIntervalMs },
    ...(status !== undefined && { status }),
    ...(Number.isFinite(maxLayers) && { maxLayers }),
    ...(where !== '' && { where }),
  };
}

function partitioning({ domainOf }: SelectDeps, { partitionBy }: GenerateSettings): (host: string) => number {
  return partitionBy === 'domain' ? (host) => partitionOf(domainOf(host)) : partitionOf;
}

type HostFactsPut = NonNullable<CrawlDbBatch['hostFacts']>;

interface ListTerms {
  readonly now: number;
  /** Facts that are written with the leases. */
  readonly meta: Readonly<Record<string, string>>;
  readonly bounds: RoundBounds;
  readonly hostFacts: HostFactsPut;
  /** URLs that the operator has asked for are requested, however often they were missing. */
  readonly asked: ReadonlySet<string>;
}

type WriteDeps = GenerateDeps & { readonly partition: (host: string) => number };
type ItemDeps = WriteDeps & { readonly absence: (record: CrawlDatum, host: string) => Absence | null };

/** Makes a segment of the list, or adds it to one, and leases its URLs. */
async function listUrls(
  deps: WriteDeps,
  settings: GenerateSettings & Pick<GenerateOptions, 'into'>,
  id: string,
  list: readonly Candidate[],
  { now, meta, bounds, hostFacts, asked }: ListTerms,
): Promise<void> {
  const hosts = [...new Set(list.map((each) => each.host))];
  const facts = await factsOf(deps.db, hosts);
  const missing = await missingLinksOf(deps.db, hosts);
  const absence = (record: CrawlDatum, host: string): Absence | null =>
    asked.has(record.url) ? null : absenceOf(record, missing.get(host) ?? null, deps.select.policy);
  const { random, partition } = deps;
  const admits = (url: string): boolean => isAdmitted(deps.select, url, 0);
  const probes = settings.soft404 ? soft404Probes(list, facts, now, { random, partition, admits }) : [];
  const items = fetchItems({ ...deps, absence }, createAuditChoice(settings.auditShare, facts, random), list, probes);
  const row =
    settings.into === undefined
      ? await newSegment(deps, { id, createdAt: now, hosts: facts, bounds }, items, list.length + probes.length)
      : await growList(deps, id, items, facts);
  await deps.db.write(
    {
      lease: { segment: id, entries: list.map((each) => each.entry) },
      segments: [row],
      meta,
      hostFacts,
    },
    { durable: true },
  );
}

async function newSegment(
  { segments }: Pick<WriteDeps, 'segments'>,
  segment: NewSegment,
  items: AsyncIterable<FetchItem>,
  urls: number,
): Promise<SegmentRow> {
  await segments.create(segment, items);
  return { id: segment.id, state: 'generated', createdAt: segment.createdAt, urls, applied: 0 };
}

function leftOf(touched: readonly DueEntry[], list: readonly Candidate[]): Readonly<Record<string, string>> {
  return touched.length === 0 ? {} : touchedLeft(touched, new Set(list.map(({ entry }) => entry.url)));
}

/** @param first items that are fetched before all pages */
async function* fetchItems(
  deps: ItemDeps,
  audits: AuditChoice,
  chosen: readonly Candidate[],
  first: readonly FetchItem[],
): AsyncGenerator<FetchItem> {
  yield* first;
  let index = first.length;
  for (let start = 0; start < chosen.length; start += READ_WINDOW) {
    const window = chosen.slice(start, start + READ_WINDOW);
    const records = await deps.db.getMany(window.map((candidate) => candidate.entry.url));
    deps.select.onWork?.({ work: 'writing the fetch list', done: start, total: chosen.length });
    for (const [i, candidate] of window.entries()) {
      const record = records[i];
      if (record === undefined) throw new TypeError(`due index names ${candidate.entry.url}, which has no record`);
      const { host } = candidate;
      const place = { index: index++, host, partition: deps.partition(host) };
      yield fetchItem(record, place, audits, deps.absence(record, host));
    }
  }
}

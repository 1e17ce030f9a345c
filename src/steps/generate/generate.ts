import type { FetchSchedule } from '../../domain/crawl/revisit/schedule.ts';
import { type CrawlDatum, type CrawlState, NO_VALIDATORS } from '../../domain/crawl/states/datum.ts';
import type { SkipReason } from '../../domain/crawl/states/skip-reasons.ts';
import type { Clock } from '../../ports/clock.ts';
import { type CrawlDb, type DueEntry, type HostFacts, NO_HOST_FACTS } from '../../ports/crawl-db.ts';
import type { FetchItem, SegmentStore } from '../../ports/segment-store.ts';
import { nothingToAsk } from '../fetch/soft-404.ts';
import type { SkipSink } from '../skip-notes.ts';
import { type GenerateRejections, type GenerateSummary, NO_REJECTIONS } from '../summaries.ts';
import type { UrlChain } from '../url-chain.ts';
import { fetchBudgetFacts, openFetchBudget } from './budget/fetch-budget.ts';
import { selectWithinBudget } from './budget/select-within-budget.ts';
import { TOUCHED_SHARE, touchedEntries, touchedLeft } from './budget/touched-urls.ts';
import { type Candidate, type CapCounts, type Caps, inParts, interleaveHosts, Selection } from './fetch-list.ts';

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
  /** Look this far ahead: what falls due until then counts as due, ms. */
  readonly addDaysMs?: number;
  readonly dryRun?: boolean;
  /** Fetches that this round may make; 0: as many as `topN`. */
  readonly budget?: number;
  /** Fetches a day, spread over the rounds; 0: no limit. `budget` goes before it. */
  readonly budgetPerDay?: number;
  /** Share of a budget that belongs to new URLs, 0 to 1. */
  readonly newShare?: number;
}

export interface GenerateDeps {
  readonly db: CrawlDb;
  readonly segments: SegmentStore;
  readonly clock: Clock;
  readonly urls: UrlChain;
  readonly rank: (entry: DueEntry, now: number) => number;
  /** What coming back to a page is worth now, in the schedule's own measure; absent where it has none. */
  readonly worth?: FetchSchedule['worth'];
  readonly minIntervalMs: number;
  /** Where hosts or types have bounds of their own; absent: `minIntervalMs` holds for all. */
  readonly minIntervalOf?: (url: string) => Promise<number>;
  readonly hostOf: (url: string) => string;
  readonly domainOf: (host: string) => string;
  readonly partitionOf: (host: string) => number;
  readonly seedHosts: ReadonlySet<string>;
  /** Uniform in [0, 1): which visits become audits. */
  readonly random: () => number;
  readonly auditShare: number;
  /** Whether hosts are asked for addresses that cannot exist. */
  readonly asksForNothing: boolean;
  readonly skips: SkipSink;
  /** Into how many segments the round is cut; all URLs of a partition go into one. Absent: one. */
  readonly parts?: number;
}

/** Records read at a time while the fetch list is written. */
const READ_WINDOW = 1_000;

/**
 * Selects what is due, the best by rank under the caps, into a new segment, and leases it there. The fetch list is
 * whole on disk before the one batch that leases its URLs and makes the segment known: a crash leaves either nothing or
 * a list without a row, which is swept at the next start. Parts are made one after the other, each as a whole.
 */
export async function generate(
  deps: GenerateDeps,
  options: Required<Omit<GenerateOptions, 'status'>> & Pick<GenerateOptions, 'status'>,
): Promise<GenerateSummary> {
  const now = deps.clock.now();
  const rejected: GenerateRejections = { ...NO_REJECTIONS };
  const wanted = options.status === undefined ? null : new Set(options.status);
  const until = now + options.addDaysMs;
  const reject = (entry: DueEntry, why: keyof GenerateRejections): void => {
    // Under a budget pages are looked at that are not due yet.
    if (entry.dueAt > until) return;
    rejected[why]++;
    noteRejection(deps.skips, entry, why);
  };
  const onReject = ({ entry }: Candidate, cap: keyof CapCounts): void => noteRejection(deps.skips, entry, cap);
  const candidate = (entry: DueEntry, rank: number): Candidate | null => {
    if (!isAdmitted(deps, entry)) reject(entry, 'urlFilter');
    else if (wanted !== null && !wanted.has(entry.state)) reject(entry, 'status');
    else if (entry.depth >= options.maxLayers) reject(entry, 'depth');
    else if (entry.score < options.minScore) reject(entry, 'minScore');
    else if (entry.intervalMs < options.minIntervalMs) reject(entry, 'minInterval');
    else {
      const host = deps.hostOf(entry.url);
      return { entry, host, domain: deps.domainOf(host), rank };
    }
    return null;
  };
  const fetchBudget = await openFetchBudget(deps.db, options, now);
  const touched = await touchedEntries(deps.db, until);
  const { chosen, due, ...picked } =
    fetchBudget === null
      ? await selectAll({ ...deps, onReject }, now, until, options, candidate, touched)
      : await selectWithinBudget(
          {
            ...deps,
            touched,
            onReject,
            candidate,
            rankNew: (entry) => deps.rank(entry, now),
            rankKnown: (entry) => worthOf(deps, entry, now),
          },
          now,
          until,
          options,
          Math.min(fetchBudget.budget, options.topN),
          options.newShare,
        );
  Object.assign(rejected, picked.rejected);
  const list = interleaveHosts(chosen);
  const hosts = new Set(list.map((each) => each.host));
  const summary = {
    due,
    selected: list.length,
    hosts: hosts.size,
    rejected,
    ...(fetchBudget === null ? {} : { budget: fetchBudget.budget }),
  };
  if (options.dryRun) return { ...summary, segment: null, urls: list.map((each) => each.entry.url) };
  if (list.length === 0) return { ...summary, segment: null };

  const segments: string[] = [];
  // What the whole round has spent is written with the first part: one that is cut short has spent too much rather than
  // too little.
  let meta: Readonly<Record<string, string>> = {
    ...fetchBudgetFacts(fetchBudget, list.length, options),
    ...leftOf(touched, list),
  };
  let id = await newSegmentId(deps, now);
  for (const part of inParts(list, deps.parts ?? 1, deps.partitionOf)) {
    await newSegment(deps, id, part, meta, now);
    segments.push(id);
    id = idAfter(id);
    meta = {};
  }
  return { ...summary, segment: segments[0] ?? null, ...(deps.parts === undefined ? {} : { segments }) };
}

async function newSegment(
  deps: GenerateDeps,
  id: string,
  list: readonly Candidate[],
  meta: Readonly<Record<string, string>>,
  now: number,
): Promise<void> {
  const facts = await factsOf(deps.db, [...new Set(list.map((each) => each.host))]);
  const probes = deps.asksForNothing
    ? nothingToAsk(list, facts, now, { ...deps, admits: (url) => isAdmittedUrl(deps, url, 0) })
    : [];
  await deps.segments.create({ id, createdAt: now, hosts: facts }, fetchItems(deps, list, probes));
  await deps.db.write(
    {
      lease: { segment: id, entries: list.map((each) => each.entry) },
      segments: [{ id, state: 'generated', createdAt: now, urls: list.length + probes.length, applied: 0 }],
      meta,
    },
    { durable: true },
  );
}

const REASONS: Readonly<Record<keyof GenerateRejections, SkipReason>> = {
  urlFilter: 'rule-changed',
  status: 'state-not-asked',
  depth: 'beyond-depth',
  minScore: 'below-min-score',
  minInterval: 'below-min-interval',
  hostCap: 'over-host-cap',
  domainCap: 'over-domain-cap',
  topN: 'over-top-n',
};

function noteRejection(skips: SkipSink, { url }: DueEntry, why: keyof GenerateRejections): void {
  skips.note({ url, reason: REASONS[why], by: null, detail: null, from: null });
}

function leftOf(touched: readonly DueEntry[], list: readonly Candidate[]): Readonly<Record<string, string>> {
  return touched.length === 0 ? {} : touchedLeft(touched, new Set(list.map(({ entry }) => entry.url)));
}

async function selectAll(
  deps: GenerateDeps & { readonly onReject: (candidate: Candidate, cap: keyof CapCounts) => void },
  now: number,
  until: number,
  caps: Caps,
  candidate: (entry: DueEntry, rank: number) => Candidate | null,
  touched: readonly DueEntry[],
): Promise<{ chosen: Candidate[]; due: number; rejected: CapCounts }> {
  const selection = new Selection(caps, deps.onReject);
  const ahead = new Set(touched.slice(0, Math.ceil(caps.topN * TOUCHED_SHARE)).map(({ url }) => url));
  let due = 0;
  for await (const entry of deps.db.due({ until })) {
    due++;
    const found = candidate(entry, ahead.has(entry.url) ? Number.POSITIVE_INFINITY : deps.rank(entry, now));
    if (found !== null) selection.add(found);
  }
  return { chosen: selection.finish(), due, rejected: selection.rejected };
}

/**
 * Schedules without a measure of their own leave the order to scoring. A visit in vain counts as one: else what cannot
 * be had, whose copies grow older than all others, would take the whole budget for itself.
 */
function worthOf(deps: GenerateDeps, entry: DueEntry, now: number): number {
  if (deps.worth === undefined) return deps.rank(entry, now);
  const since = entry.unansweredAt ?? entry.lastFetchAt ?? entry.dueAt - entry.intervalMs;
  return deps.worth(entry.belief, Math.max(0, now - since), entry.weight);
}

/** The filters are asked again, since the operator may have changed them since the URL was found. */
const isAdmitted = (deps: GenerateDeps, { url, depth }: DueEntry): boolean => isAdmittedUrl(deps, url, depth);

const isAdmittedUrl = ({ urls, seedHosts }: GenerateDeps, url: string, depth: number): boolean =>
  urls.apply(url, { from: null, depth, seedHosts }).url === url;

/** `first`: what is asked before all pages. */
async function* fetchItems(
  deps: GenerateDeps,
  chosen: readonly Candidate[],
  first: readonly FetchItem[],
): AsyncGenerator<FetchItem> {
  yield* first;
  let index = first.length;
  for (let start = 0; start < chosen.length; start += READ_WINDOW) {
    const window = chosen.slice(start, start + READ_WINDOW);
    const records = await deps.db.getMany(window.map((candidate) => candidate.entry.url));
    for (const [i, candidate] of window.entries()) {
      yield fetchItem(deps, index++, candidate, records[i]);
    }
  }
}

/**
 * Of a page that could not be parsed nothing was read, and what failed may have been mended. Only where no plugin knew
 * its type, which lasts, a server may say cheaply that it is the same: touching the record takes the words for that
 * away.
 */
function isToBeRead({ state, lastError, validators }: CrawlDatum): boolean {
  const { etag, lastModified } = validators;
  return state === 'parse_failed' && (lastError?.code !== 'parse-unsupported' || (etag ?? lastModified) === null);
}

function fetchItem(deps: GenerateDeps, index: number, candidate: Candidate, record: CrawlDatum | undefined): FetchItem {
  if (record === undefined) throw new TypeError(`due index names ${candidate.entry.url}, which has no record`);
  // What a gone page held may have been pruned: should it be back, its content is wanted, not that it is what it was.
  const isHeld = record.state !== 'gone' && !isToBeRead(record);
  const validators = isHeld ? record.validators : NO_VALIDATORS;
  const digest = isHeld ? record.digest : null;
  const isAuditable = digest !== null && (validators.etag !== null || validators.lastModified !== null);
  return {
    index,
    url: record.url,
    host: candidate.host,
    partition: deps.partitionOf(candidate.host),
    depth: record.depth,
    score: record.score,
    validators,
    digest,
    ...(digest !== null && { claims: { contentType: record.contentType, robotsTag: record.robotsTag } }),
    audit: isAuditable && deps.random() < deps.auditShare,
    metadata: record.metadata,
  };
}

async function factsOf(db: CrawlDb, hosts: readonly string[]): Promise<Record<string, HostFacts>> {
  const rows = await db.hostRows(hosts);
  return Object.fromEntries(hosts.map((host, i) => [host, rows[i]?.facts ?? NO_HOST_FACTS]));
}

/** `YYYYMMDDhhmmss-nnnnn`, in UTC; what compacting and merging make has a suffix. Other folders do not count. */
const NUMBERED = /^\d{14}-(\d{5,})/;

/** An id later than every one so far even when the clock stands still, or was set back. */
async function newSegmentId(deps: GenerateDeps, now: number): Promise<string> {
  const stamp = new Date(now).toISOString().replace(/[-:T]/g, '').slice(0, 14);
  const ids = [...(await deps.db.segments()), ...(await deps.segments.list())].map((segment) => segment.id);
  const last = ids
    .filter((id) => NUMBERED.test(id))
    .sort()
    .at(-1);
  return last === undefined || last < stamp ? `${stamp}-00001` : idAfter(last);
}

function idAfter(id: string): string {
  const number = Number(NUMBERED.exec(id)?.[1]);
  return `${id.slice(0, 14)}-${String(number + 1).padStart(5, '0')}`;
}

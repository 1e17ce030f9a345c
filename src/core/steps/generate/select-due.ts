import type { SettlePolicy } from '../../domain/crawl/revisit/next-visit.ts';
import type { CrawlDatum, CrawlState } from '../../domain/crawl/states/datum.ts';
import { hourOf, startOfHour } from '../../domain/crawl/states/host-traffic.ts';
import type { SkipReason } from '../../domain/crawl/states/skip-reasons.ts';
import { impliedBy, matcherOf } from '../../domain/query/expression.ts';
import type { QueryEnvironment, QueryField } from '../../domain/query/fields.ts';
import { parseExpression } from '../../domain/query/parse.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { CrawlDb, DueEntry, DueQuery } from '../../ports/crawl-db.ts';
import type { OnWork } from '../../ports/work-progress.ts';
import type { SkipSink } from '../counters/outcome-counts.ts';
import { type HostDays, untilTomorrow } from '../facts/host-observations.ts';
import type { HostTurns } from '../facts/host-rest.ts';
import { TOUCHED_SHARE } from '../facts/touched-urls.ts';
import { type GenerateRejections, NO_REJECTIONS } from '../summaries.ts';
import { isBeyondDepth, type LinkOptions } from '../update/found-links.ts';
import type { UrlChain } from '../url-chain.ts';
import { READING_DUE, workMeter } from '../work-meter.ts';
import { selectWithinBudget } from './budget/select-within-budget.ts';
import { type Candidate, type CapCounts, type Caps, Selection, type SelectionDeps } from './fetch-list.ts';
import type { HazardRound } from './hazard-round.ts';
import { boundsReader } from './settings-in-force.ts';

/** Judges due URLs by an expression over their records. */
interface DueWhere {
  /** Yields all entries, in their order, each after its record was read where that is needed. */
  judged(entries: Iterable<DueEntry> | AsyncIterable<DueEntry>): AsyncGenerator<DueEntry>;
  /** Whether the record of an entry that was yielded matches. */
  isWanted(entry: DueEntry): boolean;
}

/** Records read at a time. */
const READ_WINDOW = 500;

/** Fields that a due entry holds as its record does. */
const OF_ENTRY: ReadonlySet<string> = new Set(['url', 'scheme', 'host', 'domain', 'tld', 'state', 'depth']);
const isOfEntry = (field: QueryField): boolean => OF_ENTRY.has(field.name);

/**
 * An expression over those fields reads no record; one with other conditions beside them reads the records of the
 * entries that meet those.
 * @throws CrawlError `usage-invalid`, with the column of the mistake
 */
function dueWhere(db: Pick<CrawlDb, 'getMany'>, where: string, env: QueryEnvironment): DueWhere {
  const expression = parseExpression(where, env.now);
  const implied = impliedBy(expression, isOfEntry);
  const ofEntry = implied === null ? () => true : matcherOf(implied, env);
  const ofRecord = implied === expression ? null : matcherOf(expression, env);
  const unwanted = new WeakSet<DueEntry>();
  const judge = async (window: readonly DueEntry[]): Promise<void> => {
    // The condition reads only fields that the entry has.
    const candidates = window.filter((entry) => {
      const mayMatch = ofEntry(entry as Pick<CrawlDatum, 'url' | 'state' | 'depth'> as CrawlDatum);
      if (!mayMatch) unwanted.add(entry);
      return mayMatch;
    });
    if (ofRecord === null || candidates.length === 0) return;
    const records = await db.getMany(candidates.map(({ url }) => url));
    for (const [i, entry] of candidates.entries()) {
      const record = records[i];
      if (record !== undefined && !ofRecord(record)) unwanted.add(entry);
    }
  };
  return {
    async *judged(entries) {
      let window: DueEntry[] = [];
      for await (const entry of entries) {
        window.push(entry);
        if (window.length < READ_WINDOW) continue;
        await judge(window);
        yield* window;
        window = [];
      }
      await judge(window);
      yield* window;
    },
    isWanted: (entry) => !unwanted.has(entry),
  };
}

export interface SelectDeps {
  readonly urls: UrlChain;
  readonly seedHosts: ReadonlySet<string>;
  /** Order of due URLs, by the scoring plugin: higher first. */
  readonly rank: (entry: DueEntry, now: number) => number;
  /** As `ranksNewByScoreAndTime` of a scoring plugin. */
  readonly ranksNewByScoreAndTime: boolean;
  readonly policy: SettlePolicy;
  /** Registrable domain of a host. */
  readonly domainOf: (host: string) => string;
  readonly skips: SkipSink;
  readonly onWork?: OnWork;
}

export interface SelectOptions extends Caps {
  readonly minScore: number;
  readonly minIntervalMs: number;
  /** Only these states; absent: all that can be due. */
  readonly status?: readonly CrawlState[];
  /** Only URLs fewer links than this from a seed. */
  readonly maxLayers: number;
  /** As in `LinkOptions`. */
  readonly layersOf?: LinkOptions['layersOf'];
  /** Only URLs whose records match this expression; empty: all. */
  readonly where: string;
  /** Share of a budget that belongs to new URLs, 0 to 1. */
  readonly newShare: number;
}

/** The round that the URLs are selected for. */
interface SelectRound {
  readonly now: number;
  /** URLs due until then count as due, ms since the epoch. */
  readonly until: number;
  /** URLs that go first, whatever their rank. */
  readonly touched: readonly DueEntry[];
  /** Fetches that the round may make; `null`: no limit. */
  readonly budget: number | null;
  /** Hosts that must not be requested in this round, and their next turn, ms since the epoch. */
  readonly turns: HostTurns;
  /** What hosts still allow today. */
  readonly days: HostDays;
  /** `null`: the schedule does not go by hazard. */
  readonly hazard: HazardRound | null;
}

interface SelectedUrls {
  /** Best first. */
  readonly chosen: readonly Candidate[];
  readonly due: number;
  readonly rejected: GenerateRejections;
  /** Due URLs of hosts that must not be requested in this round. */
  readonly waiting: ReadonlyMap<string, number>;
}

/** The URLs that are due and pass the filters, the best by rank under the caps and the budget. */
export async function selectDue(
  db: CrawlDb,
  deps: SelectDeps,
  round: SelectRound,
  options: SelectOptions,
): Promise<SelectedUrls> {
  const { now, until, budget, turns, days } = round;
  const waiting = new Map<string, number>();
  const rejected: GenerateRejections = { ...NO_REJECTIONS };
  const where = options.where === '' ? null : dueWhere(db, options.where, { now, domainOf: deps.domainOf });
  const { hazard } = round;
  const known = (query: DueQuery) => (budget === null ? hazard?.due(query) : hazard?.inDueOrder(query));
  const due = (query: DueQuery) => (query.only === 'known' ? known(query) : undefined) ?? db.due(query);
  const entries = {
    spread: () => db.spread(),
    due: (query: DueQuery) => days.met(where === null ? due(query) : where.judged(due(query))),
  };
  const touched: DueEntry[] = [];
  for await (const entry of where?.judged(round.touched) ?? round.touched) {
    await days.meet(hostOf(entry.url));
    touched.push(entry);
  }
  const wanted = options.status === undefined ? null : new Set(options.status);
  const caps = { ...options, leftOf: (host: string) => days.leftOf(host) };
  const detailOf = (host: string, why: keyof GenerateRejections): string | null => {
    const reason = why === 'hostDay' ? days.reasonOf(host) : null;
    return reason === null ? null : untilTomorrow(reason, now);
  };
  const reject = (entry: DueEntry, why: keyof GenerateRejections): void => {
    // Under a budget there are candidates that are not due yet.
    if (entry.dueAt > until) return;
    rejected[why]++;
    noteRejection(deps.skips, entry, why, detailOf(hostOf(entry.url), why));
  };
  const onReject = ({ entry, host }: Candidate, cap: keyof CapCounts): void =>
    noteRejection(deps.skips, entry, cap, detailOf(host, cap));
  const passesFilters = (entry: DueEntry): boolean => {
    if (isAdmitted(deps, entry.url, entry.depth)) return true;
    reject(entry, 'urlFilter');
    return false;
  };
  const candidate = (entry: DueEntry, rank: number): Candidate | null => {
    if (where?.isWanted(entry) === false) reject(entry, 'where');
    else if (wanted !== null && !wanted.has(entry.state)) reject(entry, 'status');
    else if (isBeyondDepth(entry.url, entry.depth, options)) reject(entry, 'depth');
    else if (entry.score < options.minScore) reject(entry, 'minScore');
    else if (entry.intervalMs < options.minIntervalMs) reject(entry, 'minInterval');
    else {
      const host = hostOf(entry.url);
      const isUsedUp = days.leftOf(host) === 0;
      if (!isUsedUp && !turns.has(host)) return { entry, host, rank };
      reject(entry, isUsedUp ? 'hostDay' : 'hostWaits');
      if (entry.dueAt <= until) waiting.set(host, (waiting.get(host) ?? 0) + 1);
    }
    return null;
  };
  const { rejected: overCaps, ...selected } =
    budget === null
      ? await selectByRank(
          {
            db: entries,
            domainOf: deps.domainOf,
            candidate,
            isAdmitted: ({ entry }) => passesFilters(entry),
            onReject,
            onUnread: (cases) => deps.skips.noteMore(REASONS.topN, cases),
            rank: (entry) => deps.rank(entry, now),
            ranksNewByScoreAndTime: deps.ranksNewByScoreAndTime,
          },
          { ...round, touched, caps, meter: workMeter(deps.onWork, READING_DUE) },
        )
      : await selectWithinBudget(
          {
            db: entries,
            domainOf: deps.domainOf,
            candidate: (entry, rank) => (passesFilters(entry) ? candidate(entry, rank) : null),
            onReject,
            rankNew: (entry) => deps.rank(entry, now),
            rankKnown: (entry) => (hazard === null ? deps.rank(entry, now) : hazard.rankUnderBudget(entry)),
            leastInterval: leastIntervals(db, deps.policy),
            meter: workMeter(deps.onWork, READING_DUE),
          },
          { ...round, touched, budget, caps, newShare: options.newShare },
        );
  const hostDay = rejected.hostDay + overCaps.hostDay;
  return { ...selected, rejected: { ...rejected, ...overCaps, hostDay }, waiting };
}

const REASONS: Readonly<Record<keyof GenerateRejections, SkipReason>> = {
  urlFilter: 'rule-changed',
  where: 'expression-not-met',
  status: 'state-not-asked',
  depth: 'beyond-depth',
  minScore: 'below-min-score',
  minInterval: 'below-min-interval',
  hostWaits: 'host-waits',
  hostDay: 'host-day-used',
  hostCap: 'over-host-cap',
  domainCap: 'over-domain-cap',
  topN: 'over-top-n',
};

function noteRejection(skips: SkipSink, { url }: DueEntry, why: keyof GenerateRejections, detail: string | null): void {
  skips.note({ url, reason: REASONS[why], by: null, detail, from: null });
}

function leastIntervals(db: CrawlDb, policy: SettlePolicy): (url: string) => number | Promise<number> {
  const boundsOf = boundsReader(db, policy);
  return async (url) => (await boundsOf(url)).minIntervalMs;
}

/** Whether the filters let a URL in today: the operator may have changed them since it was found. */
export function isAdmitted({ urls, seedHosts }: SelectDeps, url: string, depth: number): boolean {
  return urls.apply(url, { from: null, depth, seedHosts, scope: 'generate' }).url === url;
}

interface RankDeps extends Required<SelectionDeps> {
  readonly db: Pick<CrawlDb, 'due' | 'spread'>;
  /** `null`: kept out by the options of the round (counted by the caller). */
  readonly candidate: (entry: DueEntry, rank: number) => Candidate | null;
  /** Reports the number of due URLs that no longer could be selected, and were not read. */
  readonly onUnread: (cases: number) => void;
  readonly rank: (entry: DueEntry) => number;
  /** As `ranksNewByScoreAndTime` of a scoring plugin. */
  readonly ranksNewByScoreAndTime: boolean;
}

interface RankRound {
  /** URLs due until then count as due, ms since the epoch. */
  readonly until: number;
  readonly caps: Caps;
  /** URLs that go first, whatever their rank. */
  readonly touched: readonly DueEntry[];
  readonly meter?: DueQuery['meter'];
}

export interface RankSelection {
  /** Best first. */
  readonly chosen: Candidate[];
  readonly due: number;
  readonly rejected: CapCounts;
}

/** The due URLs of the highest rank under the caps, without a budget. */
export async function selectByRank(deps: RankDeps, { until, caps, touched, meter }: RankRound): Promise<RankSelection> {
  const { db, rank, candidate } = deps;
  const selection = new Selection(caps, deps);
  let due = 0;
  const add = (entry: DueEntry, rankOf: number): void => {
    due++;
    const found = candidate(entry, rankOf);
    if (found !== null) selection.add(found);
  };
  const ahead = touched.slice(0, Math.ceil(caps.topN * TOUCHED_SHARE));
  for (const entry of ahead) add(entry, Number.POSITIVE_INFINITY);
  const isAhead = new Set(ahead.map(({ url }) => url));
  const left = async function* (query: DueQuery): AsyncGenerator<DueEntry> {
    for await (const entry of db.due({ ...query, ...(meter && { meter }) })) if (!isAhead.has(entry.url)) yield entry;
  };
  for await (const entry of left({ until, only: 'known' })) add(entry, rank(entry));
  const known = due - ahead.filter(({ isNew }) => isNew).length;
  if (deps.ranksNewByScoreAndTime) {
    const { dueNew } = await db.spread();
    const isWhole = await addInOrder({ selection, entries: left, add, rank }, { until, oldest: oldestOf(dueNew) });
    const unread = isWhole ? 0 : Math.max(0, dueUntil(dueNew, until) + known - due);
    due += unread;
    selection.rejected.topN += unread;
    deps.onUnread(unread);
  } else {
    for await (const entry of left({ until, only: 'new' })) add(entry, rank(entry));
  }
  return { chosen: selection.finish(), due, rejected: selection.rejected };
}

interface InOrderDeps {
  readonly selection: Selection;
  readonly entries: (query: DueQuery) => AsyncIterable<DueEntry>;
  readonly add: (entry: DueEntry, rank: number) => void;
  readonly rank: (entry: DueEntry) => number;
}

/**
 * Adds new URLs, which come by falling score and, where scores are equal, by due time: of each score those that may
 * still be selected. Resolves with whether all were added.
 * @param oldest a time before which none is due, ms since the epoch
 */
async function addInOrder(
  { selection, entries, add, rank }: InOrderDeps,
  { until, oldest }: { readonly until: number; readonly oldest: number },
): Promise<boolean> {
  let isWhole = true;
  let belowScore: number | null = null;
  do {
    let left: number | null = null;
    for await (const entry of entries({ until, only: 'new', ...(belowScore !== null && { belowScore }) })) {
      const rankOf = rank(entry);
      // The index does not order scores below 0.
      if (entry.score <= 0 || !isAfter(entry, rankOf, selection.least)) {
        add(entry, rankOf);
        continue;
      }
      isWhole = false;
      // The best that a URL of this or a lower score could have.
      if (isBelow(rank({ ...entry, dueAt: oldest }), selection.least)) return false;
      left = entry.score;
      break;
    }
    belowScore = left;
  } while (belowScore !== null);
  return isWhole;
}

/** Relative difference below which ranks count as equal: the index orders scores by 36 bits of their fraction. */
const RANK_PRECISION = 1e-9;

const isBelow = (rank: number, least: Candidate | null): boolean =>
  least !== null && rank < least.rank - RANK_PRECISION * Math.abs(least.rank);

/**
 * Whether neither this new URL nor one of its score that is due later can be selected. Of equal ranks the one due first
 * goes first: in breadth-first order all URLs of a depth have the same.
 */
const isAfter = (entry: DueEntry, rank: number, least: Candidate | null): boolean =>
  isBelow(rank, least) || (least !== null && rank <= least.rank && entry.dueAt > least.entry.dueAt);

const oldestOf = (counts: ReadonlyMap<number, number>): number => startOfHour(Math.min(...counts.keys()));

/** New URLs are due from the moment they are found, so all of those of the last hour are. */
function dueUntil(counts: ReadonlyMap<number, number>, until: number): number {
  let due = 0;
  for (const [hour, count] of counts) if (hour <= hourOf(until)) due += count;
  return due;
}

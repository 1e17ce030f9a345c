import { hostOf } from '../../url/canonical/url-key.ts';
import { murmur3 } from '../../url/hash/murmur3.ts';
import { INLINK_WEIGHT_KEY } from '../discovery/inlinks.ts';
import { type HostExpectation, rateOfGroup } from '../hazard/expectation.ts';
import { groupOf } from '../hazard/page-group.ts';
import type { CrawlDatum, ScheduleMemory, VisitOutcome } from '../states/datum.ts';
import { boundsBy, boundsOf, type IntervalBounds, type IntervalRule, type OwnBounds } from './interval-bounds.ts';
import type { FetchSchedule, ScheduleDecision, ScheduleTerm, ScheduleVisit } from './schedule.ts';

/** Settings that decide the next visit, beside the page itself. */
export interface SettlePolicy {
  readonly schedule: FetchSchedule;
  /** Bounds of the revisit interval of a page that answers, ms. */
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
  /** Bounds for some hosts and MIME types, which override the general ones. */
  readonly intervalRules?: readonly IntervalRule[];
  /** Bounds set for some URLs, ahead of the rules; absent: for none. */
  readonly boundsOfUrl?: (url: string) => OwnBounds | undefined;
  /** What is expected of the pages of the host; absent: nothing is known. */
  readonly expected?: HostExpectation;
  /** Price of a visit under the budget, stale days; `null` without a budget. */
  readonly price?: number | null;
  /** First pause after a failure, ms; doubled with each further failure up to the maximum. */
  readonly retryIntervalMs: number;
  readonly maxRetryIntervalMs: number;
  /** Pauses after the first, second, ... "gone" in a row, ms; after the last one the URL is not selected any more. */
  readonly goneIntervalsMs: readonly number[];
  /** The same for a URL that has never brought a page; absent: as those that did. */
  readonly missingIntervalsMs?: readonly number[];
  /** Redirects in a row that are followed; no limit by default. */
  readonly maxRedirects?: number;
}

export interface NextVisit {
  readonly memory: ScheduleMemory;
  readonly nextFetchAt: number;
  readonly terms: readonly ScheduleTerm[];
  /** As in the decision of the schedule. */
  readonly seen?: ScheduleDecision['seen'];
}

/** The operator's bounds for a page. */
export function boundsFor(page: Pick<CrawlDatum, 'url' | 'contentType'>, policy: SettlePolicy): IntervalBounds {
  const { intervalRules = [], boundsOfUrl } = policy;
  const own = boundsOfUrl?.(page.url);
  if (own !== undefined) return boundsBy(own, policy);
  if (intervalRules.length === 0) return policy;
  return boundsOf(intervalRules, policy, { host: hostOf(page.url), contentType: page.contentType });
}

/**
 * Importance of a page, from the metadata `weight` of its seed or a plugin, and from the links to it; default 1, always
 * above 0.
 */
export function weightOf(metadata: CrawlDatum['metadata']): number {
  const weight = Number(metadata.weight ?? 1) * Number(metadata[INLINK_WEIGHT_KEY] ?? 1);
  return weight > 0 && Number.isFinite(weight) ? weight : 1;
}

/** Metadata key of a page whose seed names its first interval: that interval, ms. */
export const FIRST_INTERVAL_KEY = 'seed.interval';

/** The first interval that a seed has named; `null`: none. */
function namedInterval({ metadata }: Pick<CrawlDatum, 'metadata'>): number | null {
  const named = metadata[FIRST_INTERVAL_KEY];
  return typeof named === 'number' && named > 0 ? named : null;
}

/**
 * Whether two times are the same but for what is expected of other pages, which fades between two computations.
 * @param intervalMs that between the visits
 */
export const isDrift = (differenceMs: number, intervalMs: number): boolean =>
  Math.abs(differenceMs) <= DRIFT * intervalMs;

const DRIFT = 0.05;

const SPREAD = 0.1;
const SPREAD_SEED = 0x5eed;

/** 0.9 to 1.1, uniform over URLs and constant for each. */
export function spreadOf(url: string): number {
  return 1 - SPREAD + (2 * SPREAD * murmur3(url, SPREAD_SEED)) / 2 ** 32;
}

export const clamp = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max);

/** Asks the schedule, then applies the operator's fixed interval or else the bounds. */
export function nextVisit(
  page: Pick<CrawlDatum, 'url' | 'schedule' | 'fixedIntervalMs' | 'metadata' | 'contentType'>,
  visit: ScheduleVisit,
  policy: SettlePolicy,
): NextVisit {
  const named = visit.elapsedMs === null ? namedInterval(page) : null;
  const memory = named === null ? page.schedule : { ...page.schedule, intervalMs: named };
  const decision = policy.schedule.onVisit(memory, {
    ...visit,
    weight: weightOf(page.metadata),
    price: policy.price ?? null,
    ...(policy.expected !== undefined && { rate: rateOfGroup(policy.expected, groupOf(page.url), visit.now) }),
    spread: spreadOf(page.url),
    startIntervalMs: named,
  });
  // The schedule keeps learning under a fixed interval, so that it is well informed when the interval is removed.
  const wanted = page.fixedIntervalMs ?? decision.nextFetchAt - visit.now;
  const bounds = boundsFor(page, policy);
  const pause = page.fixedIntervalMs ?? clamp(wanted, bounds.minIntervalMs, bounds.maxIntervalMs);
  const terms = [...decision.terms];
  if (page.fixedIntervalMs !== null) terms.push(fixedTerm(page.fixedIntervalMs));
  else if (pause !== wanted) terms.push({ label: 'bounded to', value: pause, unit: 'ms' });
  const intervalMs = clamp(decision.memory.intervalMs, bounds.minIntervalMs, bounds.maxIntervalMs);
  const { seen } = decision;
  return {
    memory: { ...decision.memory, intervalMs },
    nextFetchAt: visit.now + Math.round(pause),
    terms,
    ...(seen !== undefined && { seen }),
  };
}

/** The record of a page that was visited at `at`, with another belief and under another policy. */
export function scheduledAnew(
  datum: CrawlDatum,
  belief: ScheduleMemory['belief'],
  at: number,
  policy: SettlePolicy,
): CrawlDatum {
  const schedule = { ...datum.schedule, belief };
  const last = datum.visits.at(-1);
  if (datum.fixedIntervalMs !== null || last === undefined) return { ...datum, schedule };
  const visit = { outcome: 'unchanged', evidence: 'digest', distance: null, lastModifiedAt: null } as const;
  const { memory, nextFetchAt } = nextVisit(
    { ...datum, schedule },
    { ...visit, now: at, elapsedMs: last.elapsedMs ?? 0, changedAt: datum.changedAt, isRepeated: true },
    policy,
  );
  const visits = [...datum.visits.slice(0, -1), { ...last, intervalMs: memory.intervalMs }];
  return { ...datum, schedule: memory, nextFetchAt, dueBy: 'schedule', visits };
}

const fixedTerm = (intervalMs: number): ScheduleTerm => ({
  label: 'fixed by the operator',
  value: intervalMs,
  unit: 'ms',
});

const REPLAYED: Readonly<Partial<Record<VisitOutcome, Pick<ScheduleVisit, 'outcome' | 'evidence'>>>> = {
  new: { outcome: 'new', evidence: 'first' },
  modified: { outcome: 'modified', evidence: 'distance' },
  'unchanged-304': { outcome: 'unchanged', evidence: 'conditional' },
  'unchanged-headers': { outcome: 'unchanged', evidence: 'headers' },
  'unchanged-digest': { outcome: 'unchanged', evidence: 'digest' },
};

/**
 * Evidence of a compared body without a distance: signatures of different algorithms, no two signatures, or a body that
 * was cut off. The record does not keep which.
 */
const UNCOMPARED: readonly ScheduleVisit['evidence'][] = ['digest', 'resigned', 'partial'];

/**
 * Replays the arithmetic of the last visit from the record, with the current schedule. Of inputs that the record does
 * not keep, those are chosen that reproduce the stored interval. `null` without a visit, and where the last visit did
 * not reach the schedule.
 */
export function replayLastVisit(
  datum: CrawlDatum,
  policy: SettlePolicy,
  lastModifiedAt: number | null,
): NextVisit | null {
  const last = datum.visits.at(-1);
  const replayed = last === undefined ? undefined : REPLAYED[last.outcome];
  if (last === undefined || replayed === undefined) return null;
  const { fixedIntervalMs } = datum;
  if (fixedIntervalMs !== null) {
    // The belief learnt meanwhile decides nothing, and the visits do not keep it.
    return {
      memory: datum.schedule,
      nextFetchAt: last.at + Math.round(fixedIntervalMs),
      terms: [fixedTerm(fixedIntervalMs)],
    };
  }
  const replay = (intervalMs: number, evidence: ScheduleVisit['evidence']): NextVisit =>
    nextVisit(
      { ...datum, schedule: { ...datum.schedule, intervalMs } },
      {
        ...replayed,
        evidence,
        now: last.at,
        elapsedMs: last.elapsedMs,
        distance: last.distance,
        changedAt: datum.changedAt,
        lastModifiedAt,
        isRepeated: true,
      },
      policy,
    );
  const isOpen = last.distance === null && (last.outcome === 'modified' || last.outcome === 'unchanged-digest');
  const evidences = isOpen ? UNCOMPARED : [replayed.evidence];
  const before = intervalBefore(datum, policy);
  const replays = evidences.map((each) => replay(before, each));
  return replays.find(({ memory }) => memory.intervalMs === last.intervalMs) ?? replays[0]!;
}

/** The interval before the last visit. Before a first visit it is not stored. */
const intervalBefore = (datum: CrawlDatum, { schedule }: SettlePolicy): number =>
  datum.visits.at(-2)?.intervalMs ?? namedInterval(datum) ?? schedule.initialIntervalMs;

import { hostOf } from '../../url/canonical/url-key.ts';
import { murmur3 } from '../../url/hash/murmur3.ts';
import type { CrawlDatum, ScheduleMemory, VisitOutcome } from '../states/datum.ts';
import { boundsOf, type IntervalBounds, type IntervalRule } from './interval-bounds.ts';
import type { FetchSchedule, ScheduleTerm, ScheduleVisit } from './schedule.ts';

/** What decides over the next visit, beside the page itself. */
export interface SettlePolicy {
  readonly schedule: FetchSchedule;
  /** Bounds of the time to the next visit of a page that answers, ms. */
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
  /** Bounds of some hosts and MIME types, which win over the general ones. */
  readonly intervalRules?: readonly IntervalRule[];
  /** What a visit must be worth under the budget, page-days; `null` without one. */
  readonly price?: number | null;
  /** First pause after a failure, doubled with each further one up to the maximum, ms. */
  readonly retryIntervalMs: number;
  readonly maxRetryIntervalMs: number;
  /** Pauses after the first, second, ... "gone" in a row, ms; after the last the URL is not selected any more. */
  readonly goneIntervalsMs: readonly number[];
}

export interface NextVisit {
  readonly memory: ScheduleMemory;
  readonly nextFetchAt: number;
  readonly terms: readonly ScheduleTerm[];
}

/** The operator's bounds for a page. */
export function boundsFor(page: Pick<CrawlDatum, 'url' | 'contentType'>, policy: SettlePolicy): IntervalBounds {
  const { intervalRules = [] } = policy;
  if (intervalRules.length === 0) return policy;
  return boundsOf(intervalRules, policy, { host: hostOf(page.url), contentType: page.contentType });
}

/** How much a page matters, from the metadata `weight` of its seed or of a plugin; 1 without, and never 0 or less. */
export function weightOf(metadata: CrawlDatum['metadata']): number {
  const weight = Number(metadata.weight ?? 1);
  return weight > 0 && Number.isFinite(weight) ? weight : 1;
}

const SPREAD = 0.1;
const SPREAD_SEED = 0x5eed;

/** 0.9 to 1.1, evenly over URLs and for ever the same for each. */
export function spreadOf(url: string): number {
  return 1 - SPREAD + (2 * SPREAD * murmur3(url, SPREAD_SEED)) / 2 ** 32;
}

export const clamp = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max);

/** Asks the schedule, then applies the operator's fixed interval or else the bounds. */
export function nextVisit(
  page: Pick<CrawlDatum, 'url' | 'seed' | 'schedule' | 'fixedIntervalMs' | 'metadata' | 'contentType'>,
  visit: ScheduleVisit,
  policy: SettlePolicy,
): NextVisit {
  const { intervalMs: startMs } = page.schedule;
  const isStartNamed = page.seed && visit.elapsedMs === null && startMs !== policy.schedule.initialIntervalMs;
  const decision = policy.schedule.onVisit(page.schedule, {
    ...visit,
    weight: weightOf(page.metadata),
    price: policy.price ?? null,
    spread: spreadOf(page.url),
    startIntervalMs: isStartNamed ? startMs : null,
  });
  // The schedule goes on learning under a fixed interval, so that taking the interval back finds it well informed.
  const wanted = page.fixedIntervalMs ?? decision.nextFetchAt - visit.now;
  const bounds = boundsFor(page, policy);
  const pause = page.fixedIntervalMs ?? clamp(wanted, bounds.minIntervalMs, bounds.maxIntervalMs);
  const terms = [...decision.terms];
  if (page.fixedIntervalMs !== null) terms.push(fixedTerm(page.fixedIntervalMs));
  else if (pause !== wanted) terms.push({ label: 'bounded to', value: pause, unit: 'ms' });
  const intervalMs = clamp(decision.memory.intervalMs, bounds.minIntervalMs, bounds.maxIntervalMs);
  return { memory: { ...decision.memory, intervalMs }, nextFetchAt: visit.now + Math.round(pause), terms };
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
 * Another body without a distance: signatures made by two sets of rules stood against each other, or there were no two
 * of them. The record does not keep which.
 */
const UNCOMPARED: readonly ScheduleVisit['evidence'][] = ['digest', 'resigned'];

/**
 * Tells the arithmetic of the last visit again from the record, with the schedule now in force. Of what the record does
 * not keep, that is taken which leads to the interval that the visit led to. `null` when there was no visit, or the
 * last one was none that a schedule hears of.
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
    // What the schedule has learnt meanwhile decides nothing, and the visits do not keep it.
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
  const evidences = last.outcome === 'modified' && last.distance === null ? UNCOMPARED : [replayed.evidence];
  const replays = intervalsBefore(datum, policy).flatMap((before) => evidences.map((each) => replay(before, each)));
  return replays.find(({ memory }) => memory.intervalMs === last.intervalMs) ?? replays[0]!;
}

/**
 * What the interval before the last visit may have been. Nothing keeps that before a first visit: the usual one, or
 * what a seed had named, which schedules go by.
 */
function intervalsBefore(datum: CrawlDatum, { schedule, price = null }: SettlePolicy): readonly number[] {
  const before = datum.visits.at(-2)?.intervalMs;
  if (before !== undefined) return [before];
  // Under a budget the usual one leads elsewhere as well, once the price has moved.
  const named = datum.seed && price === null ? [datum.schedule.intervalMs] : [];
  return [schedule.initialIntervalMs, ...named];
}

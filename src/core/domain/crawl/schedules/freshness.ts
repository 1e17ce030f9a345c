// core/domain/crawl/schedules/: the four fetch schedules.

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../time.ts';
import {
  type ChangeEvidence,
  changeGamma,
  expectedPeriodMs,
  hubWorth,
  type LearntChange,
  LIKELIHOOD_RATIOS,
  learnChange,
  NO_BELIEF,
  needMs,
  payingChance,
  rateOfInterval,
} from '../change/change-belief.ts';
import { timeToWorth } from '../hazard/due-decision.ts';
import {
  type FetchSchedule,
  isTelling,
  type ScheduleDecision,
  type ScheduleMemory,
  type ScheduleTerm,
  type ScheduleVisit,
} from '../revisit/schedule.ts';

export interface FreshnessOptions {
  /** Interval of an unknown page, ms. */
  readonly intervalMs: number;
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
  /** Likelihood ratios of a major over a minor change, by Hamming distance 0, 1, .. bits. */
  readonly likelihoodRatios: readonly number[];
}

export const FRESHNESS_DEFAULTS: FreshnessOptions = Object.freeze({
  intervalMs: 7 * DAY_MS,
  minIntervalMs: HOUR_MS,
  maxIntervalMs: 30 * DAY_MS,
  likelihoodRatios: LIKELIHOOD_RATIOS,
});

/** A Last-Modified younger than this was generated for the response and is ignored, ms. */
const MADE_ON_REQUEST_MS = MINUTE_MS;

/**
 * The more often a page was found to change, the sooner it is visited: as soon as the chance of a substantive change
 * reaches 0.3, by the belief learnt from its visits ({@link learnChange}) and the rate that pages like it are expected
 * to have. `generate` looks at the time by the clock of the page's group, which may bring the visit forward or let it
 * wait (core/domain/crawl/hazard).
 */
export function createFreshnessSchedule(options: FreshnessOptions = FRESHNESS_DEFAULTS): FetchSchedule {
  const firstRate = rateOfInterval(options.intervalMs);
  return {
    name: 'freshness',
    initialIntervalMs: options.intervalMs,
    goesByHazard: true,
    onVisit(memory, visit) {
      const { rate = firstRate, weight = 1, spread = 1 } = visit;
      const learnt = learntFrom(memory, visit, rate, options);
      const start = visit.startIntervalMs ?? null;
      const named = start === null ? null : { ...NO_BELIEF, mostMs: start };
      const after = learnt?.belief ?? named ?? memory.belief;
      const belief = after ?? NO_BELIEF;
      const most = options.maxIntervalMs;
      const paying =
        (visit.price ?? null) === null
          ? needMs(belief, rate, weight)
          : timeToWorth(after, rate, visit.price as number, most, weight);
      const wanted = start ?? paying * spread;
      const intervalMs = Math.round(Math.min(Math.max(wanted, options.minIntervalMs), most));
      return {
        // Without evidence of its own a page follows its group, which goes on learning.
        memory: { intervalMs, belief: after },
        nextFetchAt: visit.now + intervalMs,
        ...seenOf(learnt),
        terms: termsOf(visit, { belief, rate, intervalMs, isNamed: start !== null }),
      };
    },
  };
}

/** `null`: the visit shows nothing about changes, or has been learnt from already. */
function learntFrom(
  { belief }: ScheduleMemory,
  visit: ScheduleVisit,
  rate: number,
  { likelihoodRatios: ratios }: FreshnessOptions,
): LearntChange | null {
  const evidence = evidenceOf(visit);
  const { elapsedMs, isRepeated = false, weight = 1 } = visit;
  if (evidence === null || elapsedMs === null || !(elapsedMs > 0) || isRepeated) return null;
  return learnChange(belief ?? NO_BELIEF, rate, elapsedMs, evidence, { ratios, weight });
}

const seenOf = (learnt: LearntChange | null): Pick<ScheduleDecision, 'seen'> => {
  if (learnt === null) return {};
  const { changes, expected, ageMs } = learnt;
  return { seen: { changes, expected, ageMs } };
};

/** `null`: the visit gives no evidence of change. */
function evidenceOf(visit: ScheduleVisit): ChangeEvidence | null {
  if (!isTelling(visit)) return null;
  if (visit.outcome === 'unchanged') return { kind: 'unchanged' };
  const { lastModifiedAt, now } = visit;
  const ageMs = lastModifiedAt === null ? null : now - lastModifiedAt;
  const isTrusted = ageMs !== null && ageMs >= MADE_ON_REQUEST_MS && (visit.isHostTrusted ?? true);
  const { distance, isContentOther = false } = visit;
  return { kind: 'differs', distance, isContentOther, changeAgeMs: isTrusted ? ageMs : null };
}

interface Decided {
  readonly belief: NonNullable<ScheduleMemory['belief']>;
  readonly rate: number;
  readonly intervalMs: number;
  readonly isNamed: boolean;
}

function termsOf(visit: ScheduleVisit, { belief, rate, intervalMs, isNamed }: Decided): ScheduleTerm[] {
  const { weight = 1, price = null, spread } = visit;
  const periodMs = expectedPeriodMs(changeGamma(belief, rate, 0));
  return [
    { label: 'time since the last visit', value: visit.elapsedMs ?? 0, unit: 'ms' },
    ...evidenceTerms(visit),
    { label: 'substantive changes seen, older ones count less', value: rounded(belief.changes) },
    { label: 'a change of pages like it is expected every', value: Math.round(1 / rate), unit: 'ms' },
    { label: 'a change of this page is expected every', value: Math.round(periodMs), unit: 'ms' },
    ...(hubWorth(belief) === 1
      ? []
      : [{ label: 'new URLs that a change brings', value: rounded(belief.newUrls) } as const]),
    ...(weight === 1 ? [] : [{ label: 'weight of the page', value: weight }]),
    ...(spread === undefined ? [] : [{ label: 'spread over time, by the URL', value: rounded(spread) }]),
    price === null
      ? { label: 'a visit pays at a chance of a change of', value: rounded(payingChance(belief) / weight) }
      : { label: 'price of a visit under the budget, stale days', value: rounded(price) },
    isNamed
      ? { label: 'first interval, as set', value: intervalMs, unit: 'ms' }
      : { label: 'that is after', value: intervalMs, unit: 'ms' },
  ];
}

function evidenceTerms(visit: ScheduleVisit): ScheduleTerm[] {
  if (visit.outcome === 'new') return [{ label: 'seen', value: 'for the first time' }];
  if (visit.outcome === 'unchanged') return [{ label: 'unchanged, by', value: visit.evidence }];
  return [
    { label: 'changed, by', value: visit.evidence },
    ...(visit.distance === null ? [] : [{ label: 'Hamming distance', value: visit.distance, unit: 'bits' } as const]),
  ];
}

const rounded = (value: number): number => Number(value.toPrecision(3));

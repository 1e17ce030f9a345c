import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../time.ts';
import {
  type ChangeEvidence,
  chanceFresh,
  expectedPeriodMs,
  LIKELIHOOD_RATIOS,
  learnChange,
  PRIOR_BELIEF,
  timeToValue,
  visitValue,
} from '../change/change-belief.ts';
import { type FetchSchedule, isTelling, type ScheduleTerm, type ScheduleVisit } from '../revisit/schedule.ts';

export interface FreshnessOptions {
  /** Interval of an unknown page, ms. Without a budget it also sets the price of a visit. */
  readonly intervalMs: number;
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
  /** Likelihood ratios of a major over a minor change, by Hamming distance 0, 1, .. bits. */
  readonly likelihoodRatios: readonly number[];
}

export const FRESHNESS_DEFAULTS: FreshnessOptions = Object.freeze({
  intervalMs: 30 * DAY_MS,
  minIntervalMs: HOUR_MS,
  maxIntervalMs: 90 * DAY_MS,
  likelihoodRatios: LIKELIHOOD_RATIOS,
});

/** A Last-Modified younger than this was generated for the response and is ignored, ms. */
const MADE_ON_REQUEST_MS = MINUTE_MS;

/**
 * Spends visits where they win most freshness. The belief about a page's change rate ({@link learnChange}) gives the
 * worth of a visit at any time ({@link visitValue}). The page is due when the worth reaches the price, which is the
 * mean worth of visits under the current budget. Pages that change faster than the budget can follow are visited less
 * often.
 */
export function createFreshnessSchedule(options: FreshnessOptions = FRESHNESS_DEFAULTS): FetchSchedule {
  const priceWithoutBudget = visitValue(PRIOR_BELIEF, options.intervalMs);
  return {
    name: 'freshness',
    initialIntervalMs: options.intervalMs,
    onVisit(memory, visit) {
      const { prior = PRIOR_BELIEF } = visit;
      const before = memory.belief ?? prior;
      const evidence = evidenceOf(visit);
      const elapsedMs = visit.elapsedMs ?? 0;
      const learnt =
        evidence === null || visit.elapsedMs === null || visit.isRepeated
          ? null
          : learnChange(before, elapsedMs, evidence, { ratios: options.likelihoodRatios, prior });
      const belief = learnt?.belief ?? before;
      const weight = visit.weight ?? 1;
      const price = visit.price ?? priceWithoutBudget;
      const start = visit.startIntervalMs ?? null;
      const wanted = start ?? timeToValue(belief, (price / weight) * (visit.spread ?? 1), options.maxIntervalMs);
      const intervalMs = Math.round(Math.min(Math.max(wanted, options.minIntervalMs), options.maxIntervalMs));
      return {
        // Without evidence of its own a page follows the prior of its host, which goes on learning.
        memory: { intervalMs, belief: learnt === null ? memory.belief : belief },
        nextFetchAt: visit.now + intervalMs,
        ...(learnt === null ? {} : { changes: learnt.changes }),
        terms: [
          { label: 'time since the last visit', value: elapsedMs, unit: 'ms' },
          ...evidenceTerms(visit),
          { label: 'major change believed every', value: Math.round(expectedPeriodMs(belief)), unit: 'ms' },
          ...(visit.isRepeated
            ? []
            : [{ label: 'before the visit, every', value: Math.round(expectedPeriodMs(before)), unit: 'ms' } as const]),
          ...(visit.prior === undefined || memory.belief === null
            ? []
            : [
                {
                  label: 'expected on its host, every',
                  value: Math.round(expectedPeriodMs(prior)),
                  unit: 'ms',
                } as const,
              ]),
          { label: 'price of a visit, page-days', value: rounded(price) },
          ...(weight === 1 ? [] : [{ label: 'weight of the page', value: weight }]),
          ...(visit.spread === undefined
            ? []
            : [{ label: 'spread over time, by the URL', value: rounded(visit.spread) }]),
          start === null
            ? { label: 'a visit is worth the price after', value: intervalMs, unit: 'ms' }
            : { label: 'first interval, as set', value: intervalMs, unit: 'ms' },
          { label: 'chance that it is still fresh then', value: rounded(chanceFresh(belief, intervalMs)) },
        ],
      };
    },
    worth: (belief, elapsedMs, weight, prior = PRIOR_BELIEF) => weight * visitValue(belief ?? prior, elapsedMs),
  };
}

/** `null`: the visit gives no evidence of change. */
function evidenceOf(visit: ScheduleVisit): ChangeEvidence | null {
  if (!isTelling(visit)) return null;
  if (visit.outcome === 'unchanged') return { kind: 'unchanged' };
  const { lastModifiedAt, now } = visit;
  const ageMs = lastModifiedAt === null ? null : now - lastModifiedAt;
  const isTrusted = ageMs !== null && ageMs >= MADE_ON_REQUEST_MS && (visit.isHostTrusted ?? true);
  return { kind: 'differs', distance: visit.distance, changeAgeMs: isTrusted ? ageMs : null };
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

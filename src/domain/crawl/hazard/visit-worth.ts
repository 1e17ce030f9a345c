import { DAY_MS } from '../../time.ts';
import {
  type ChangeBelief,
  type ChangeGamma,
  chanceWithin,
  changeGamma,
  hubWorth,
  NO_BELIEF,
} from '../change/change-belief.ts';
import type { PageExpectation } from './expectation.ts';

/** A page that was seen to change less often than this follows the clock of its group at most at twice its speed. */
const FEW_CHANGES = 0.3;
const MOST_HURRY = 2;
/** A page that was not visited for so many times what round robin would take goes before all others. */
const LATE = 1.5;

/**
 * Worth of a visit under a budget: the stale days that it is expected to end, times what a change brings. It grows
 * with time even for a page that was never seen to change, so none is starved.
 */
export function visitWorth(
  before: ChangeBelief | null,
  { rate, hazardMs }: Pick<PageExpectation, 'rate' | 'hazardMs'>,
  sinceMs: number,
  weight = 1,
): number {
  const belief = before ?? NO_BELIEF;
  const hazard = belief.changes < FEW_CHANGES ? Math.min(hazardMs, MOST_HURRY * sinceMs) : hazardMs;
  return weight * hubWorth(belief) * worthOf(changeGamma(belief, rate, sinceMs), hazard, sinceMs);
}

const worthOf = (gamma: ChangeGamma, hazardMs: number, sinceMs: number): number =>
  (chanceWithin(gamma, hazardMs) * Math.max(0, sinceMs)) / DAY_MS;

/** The time after a visit at which the next one is worth `worth`, ms; at most `maxMs`. */
export function timeToWorth(
  belief: ChangeBelief | null,
  rate: number,
  worth: number,
  maxMs: number,
  weight = 1,
): number {
  const at = (ms: number): number => visitWorth(belief, { rate, hazardMs: ms }, ms, weight);
  if (at(maxMs) <= worth) return maxMs;
  let [low, high] = [0, maxMs];
  // Bisection of a growing function: 50 halvings are below a millisecond for any practical interval.
  for (let i = 0; i < 50 && high - low > 1; i++) {
    const middle = (low + high) / 2;
    if (at(middle) < worth) low = middle;
    else high = middle;
  }
  return high;
}

/** The time after which a page goes before all others under a budget, ms; at least a day. */
export const lateAfterMs = (pages: number, perDay: number): number => LATE * Math.max(1, pages / perDay) * DAY_MS;

// domain/crawl/hazard/: how fast the pages of a crawl, a host, a group of pages are expected to change.
import { DAY_MS } from '../../time.ts';
import {
  type ChangeBelief,
  chanceWithin,
  changeGamma,
  hubWorth,
  NO_BELIEF,
  needMs,
  payingChance,
} from '../change/change-belief.ts';
import type { IntervalBounds } from '../revisit/interval-bounds.ts';
import type { PageExpectation } from './expectation.ts';

/** A live page whose next visit follows from its belief and the clock of its group. */
export interface HazardPage {
  readonly belief: ChangeBelief | null;
  readonly lastFetchAt: number;
  /** Factor about 1, by the URL. */
  readonly spread: number;
  readonly weight: number;
}

export interface DueTerms extends IntervalBounds {
  readonly now: number;
  /** Pages that are due within this time count as due: a part of the mean gap between runs, ms. */
  readonly aheadMs: number;
}

export interface DueDecision {
  /** `cap`: at its longest interval; `hazard`: a visit pays; `null`: it waits. */
  readonly due: 'cap' | 'hazard' | null;
  /** When it is to be looked at again where it waits, ms since the epoch. */
  readonly waitUntil: number;
  /** Probability that it has changed since its last visit. */
  readonly chance: number;
}

/** Part of the time since the last visit. Without it a page that changes often would be due again in the same run. */
const MOST_AHEAD = 1 / 4;

/** A page that waits is not looked at again before this time, ms. */
const LEAST_WAIT_MS = DAY_MS;

/** Whether a page is due at `now`: its time in the due index says only when it is looked at. */
export function dueDecision(page: HazardPage, expected: PageExpectation, terms: DueTerms): DueDecision {
  const { now, minIntervalMs, maxIntervalMs } = terms;
  const { rate, hazardMs } = expected;
  const belief = page.belief ?? NO_BELIEF;
  const sinceMs = now - page.lastFetchAt;
  const aheadMs = Math.min(terms.aheadMs, sinceMs * MOST_AHEAD);
  const gamma = changeGamma(belief, rate, sinceMs);
  const chance = chanceWithin(gamma, hazardMs);
  const least = Math.max(LEAST_WAIT_MS, minIntervalMs, needMs(belief, rate, page.weight, sinceMs) - hazardMs);
  const waitUntil = Math.min(page.lastFetchAt + maxIntervalMs, now + least);
  // A run that is nearer to the cap than the next one keeps it better than that one would, beyond it.
  if (sinceMs + aheadMs >= maxIntervalMs) return { due: 'cap', waitUntil, chance };
  if (sinceMs + aheadMs < minIntervalMs) return { due: null, waitUntil: page.lastFetchAt + minIntervalMs, chance };
  const ahead = (hazardMs + aheadMs) / page.spread;
  const isPaying = chanceWithin(gamma, ahead) * page.weight >= payingChance(belief);
  const isAfterChange = ahead >= (belief.mostMs ?? Number.POSITIVE_INFINITY);
  return { due: isPaying || isAfterChange ? 'hazard' : null, waitUntil, chance };
}

/** Order of pages of a group that are due: the chance of a change, by what a change brings. */
export const dueRank = ({ belief, weight }: HazardPage, { chance }: DueDecision): number =>
  chance * hubWorth(belief ?? NO_BELIEF) * weight;

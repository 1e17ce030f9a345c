// core/domain/crawl/hazard/: how fast the pages of a crawl, a host, a group of pages are expected to change.

import { DAY_MS } from '../../time.ts';
import {
  type ChangeBelief,
  type ChangeGamma,
  chanceWithin,
  changeGamma,
  hubWorth,
  NO_BELIEF,
  needMs,
  payingChance,
} from '../change/change-belief.ts';
import type { IntervalBounds } from '../revisit/next-visit.ts';
import { type HostExpectation, type PageExpectation, rateOfGroup } from './expectation.ts';
import type { PageGroup } from './host-clock.ts';

/** Gap between looks at a group, in square roots of (days x changes): the optimum for cost 1/gap against delay gap. */
const ROOT_FACTOR = 4;
/** Looks cost at most this share of what visits at the cap cost. */
const MOST_SHARE = 0.15;
/** Pages of a group chosen at a time. */
const MOST = 2;

/**
 * Longest time without a look at a group, ms. After it, some of its pages are visited on behalf of the others.
 * @param rate expected of its pages, changes per ms
 */
export function gapBetweenLooks({ pages }: Pick<PageGroup, 'pages'>, rate: number, maxIntervalMs: number): number {
  const root = (ROOT_FACTOR / Math.sqrt(pages * rate * DAY_MS)) * DAY_MS;
  return Math.max(root, maxIntervalMs / (MOST_SHARE * pages));
}

/** Groups of a host that were not looked at for too long, and how many of their pages are to be visited for that. */
export function groupsToLookAt(host: HostExpectation, maxIntervalMs: number, now: number): ReadonlyMap<number, number> {
  const looks = new Map<number, number>();
  for (const group of host.clock.groups) {
    if (group.pages === 0) continue;
    const gap = gapBetweenLooks(group, rateOfGroup(host, group.number, now), maxIntervalMs);
    const sinceMs = Math.min(maxIntervalMs, now - group.lookedAt);
    if (sinceMs >= gap) looks.set(group.number, Math.min(MOST, Math.max(1, Math.floor(sinceMs / gap))));
  }
  return looks;
}

/**
 * When the first group of a host is to be looked at, ms since the epoch; `null`: visits at the cap are often enough.
 */
export function nextLookAt(host: HostExpectation, maxIntervalMs: number, now: number): number | null {
  let next: number | null = null;
  for (const group of host.clock.groups) {
    if (group.pages === 0) continue;
    const gap = gapBetweenLooks(group, rateOfGroup(host, group.number, now), maxIntervalMs);
    if (gap > maxIntervalMs) continue;
    next = Math.min(next ?? Number.POSITIVE_INFINITY, group.lookedAt + gap);
  }
  return next;
}

/** A page that was seen to change less often than this follows the clock of its group at most at twice its speed. */
const FEW_CHANGES = 0.3;
const MOST_HURRY = 2;
/** A page that has waited for this multiple of a whole round-robin pass goes before all others. */
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

/** A live page whose next visit follows from its belief and the clock of its group. */
interface HazardPage {
  readonly belief: ChangeBelief | null;
  readonly lastFetchAt: number;
  /** Factor about 1, by the URL. */
  readonly spread: number;
  readonly weight: number;
}

interface DueTerms extends IntervalBounds {
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

/**
 * As a part of the time since the last visit. Without this bound a page that changes often would be due again in the
 * same run.
 */
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
  // This run is closer to the cap than the next one, which would be beyond it.
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

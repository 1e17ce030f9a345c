// core/: the crawler: URLs, records, schedules and the steps of the loop; what it needs of the world, as contracts.

/**
 * `incrawl/schedules`: the revisit schedules without a crawl. Times are ms since the epoch, durations ms; states are
 * plain JSON.
 *
 *     const schedule = createSchedule('freshness', { intervalMs: 30 * 86_400_000 });
 *     let { state, nextFetchAt } = schedule.onFetch(null, { at: 0, outcome: 'new' });
 *     ({ state, nextFetchAt } = schedule.onFetch(state, { at: nextFetchAt, outcome: 'modified', distance: 5 }));
 *
 * Under a budget, fetch the pages with the highest `rank(state, now)`; without one, those whose `nextFetchAt` has
 * come.
 */

import {
  type ChangeBelief,
  type ChangeGamma,
  chanceWithin,
  changeGamma,
  expectedPeriodMs,
  NO_BELIEF,
} from './domain/crawl/change/change-belief.ts';
import { visitWorth } from './domain/crawl/hazard/due-decision.ts';
import { HostClocks } from './domain/crawl/hazard/host-clocks.ts';
import { clamp } from './domain/crawl/revisit/next-visit.ts';
import type { FetchSchedule, ScheduleTerm, ScheduleVisit } from './domain/crawl/revisit/schedule.ts';
import {
  createFreshnessSchedule,
  FRESHNESS_DEFAULTS,
  type FreshnessOptions,
} from './domain/crawl/schedules/freshness.ts';
import {
  ADAPTIVE_DEFAULTS,
  type AdaptiveOptions,
  createAdaptiveSchedule,
  createFixedSchedule,
} from './domain/crawl/schedules/nutch-schedules.ts';
import {
  createSimilaritySchedule,
  SIMILARITY_DEFAULTS,
  type SimilarityOptions,
} from './domain/crawl/schedules/similarity.ts';
import { DAY_MS } from './domain/time.ts';

export type { ScheduleTerm } from './domain/crawl/revisit/schedule.ts';

export interface ScheduleOptionsByName {
  freshness: FreshnessOptions;
  similarity: SimilarityOptions;
  adaptive: AdaptiveOptions;
  fixed: { readonly intervalMs: number };
}
export type ScheduleName = keyof ScheduleOptionsByName;
export const SCHEDULE_NAMES: readonly ScheduleName[] = ['freshness', 'similarity', 'adaptive', 'fixed'];

/** Result of a fetch. */
export interface FetchResult {
  readonly at: number;
  /**
   * `new`: the first answer. `modified`: another body than last time. `unchanged`: 304, equal headers or an equal
   * body. `failed`: no usable answer. `gone`: 404 or 410.
   */
  readonly outcome: 'new' | 'modified' | 'unchanged' | 'failed' | 'gone';
  /** Hamming distance to the previous signature, bits. With `modified`; absent without signatures to compare. */
  readonly distance?: number | null;
  readonly lastModifiedAt?: number | null;
  /** Importance of the page; default 1. */
  readonly weight?: number;
  /** Source of the outcome, shown in the `terms`. */
  readonly evidence?: ScheduleVisit['evidence'];
  /** Not before this time (Retry-After). With `failed`. */
  readonly retryAt?: number | null;
  /** Factor about 1, different for each page: spreads pages that were first fetched together. Default 1. */
  readonly spread?: number;
  /** Whether Last-Modified is trusted; default true. */
  readonly isHostTrusted?: boolean;
  /** Host, or part of one, of the page: `freshness` expects its pages to change alike, and at the same times. */
  readonly host?: string;
}

/** Memory of a page. Survives JSON and a change of schedule. */
export interface ScheduleState {
  readonly intervalMs: number;
  /** What its visits have shown of changes; `null` before a schedule with a belief has seen a visit. */
  readonly belief: ChangeBelief | null;
  readonly host?: string;
  readonly lastFetchAt: number | null;
  readonly changedAt: number | null;
  /** `null`: not fetched any more. */
  readonly nextFetchAt: number | null;
  readonly weight: number;
  /** Failed fetches in a row, and "gone" answers in a row. */
  readonly failures: number;
  readonly gone: number;
}

export interface ScheduleStep {
  readonly state: ScheduleState;
  readonly intervalMs: number;
  /** `null`: gone too often, not fetched any more. */
  readonly nextFetchAt: number | null;
  readonly terms: readonly ScheduleTerm[];
}

export interface Schedule {
  readonly name: ScheduleName;
  /** `state` is `null` before the first fetch. */
  onFetch(state: ScheduleState | null, fetch: FetchResult): ScheduleStep;
  /**
   * Order of fetching at `now`, highest first. `freshness`: stale days that a visit is expected to end; other
   * schedules: overdue time. Positive infinity: never fetched. Negative infinity: paused after a failure or "gone", or
   * given up.
   */
  rank(state: ScheduleState | null, now: number): number;
  /**
   * Price of a visit, stale days: an average of the worth of the fetches made, with gain 0.1 a round; `null` unless
   * `budgeted`.
   */
  readonly price: number | null;
  /** Estimated time between two substantive changes, ms; `null` when unknown. */
  periodMs(state: ScheduleState): number | null;
  /** Estimated probability that the copy is still fresh at `now`; `null` when unknown. */
  chanceFresh(state: ScheduleState, now: number): number | null;
}

export interface CommonScheduleOptions {
  /** Whether fetches are chosen by rank under a budget: the price of a visit follows their worth. Default false. */
  readonly budgeted?: boolean;
  /** Round of the price average, ms. Default a day. */
  readonly roundMs?: number;
  /** First pause after a failure, doubled with each further one up to the maximum, ms. */
  readonly retryIntervalMs?: number;
  readonly maxRetryIntervalMs?: number;
  /** Pauses after the first, second, ... "gone" in a row, ms. */
  readonly goneIntervalsMs?: readonly number[];
}

const PRICE_GAIN = 0.1;

/** Throws a `TypeError` for a name that is none of {@link SCHEDULE_NAMES}. */
export function createSchedule<Name extends ScheduleName>(
  name: Name,
  options: Partial<ScheduleOptionsByName[Name]> & CommonScheduleOptions = {},
): Schedule {
  const inner = scheduleOf(name, options);
  const { budgeted = false, roundMs = DAY_MS, retryIntervalMs = DAY_MS, maxRetryIntervalMs = 30 * DAY_MS } = options;
  const goneIntervalsMs = options.goneIntervalsMs ?? [7, 14, 28, 56, 112].map((days) => days * DAY_MS);
  const meter = new PriceMeter(roundMs);
  const clocks = new HostClocks(inner.initialIntervalMs);

  return {
    name,
    get price() {
      return meter.price;
    },
    onFetch(before, fetch) {
      const state = before ?? initialState(inner.initialIntervalMs, fetch.weight ?? 1);
      if (fetch.outcome === 'failed') return failed(state, fetch, retryIntervalMs, maxRetryIntervalMs);
      if (fetch.outcome === 'gone') return gone(state, fetch, goneIntervalsMs);
      const weight = fetch.weight ?? state.weight;
      const host = fetch.host ?? state.host;
      const expected = clocks.of(host, state.lastFetchAt, fetch.at);
      const elapsedMs = state.lastFetchAt === null ? null : Math.max(0, fetch.at - state.lastFetchAt);
      if (budgeted && elapsedMs !== null && inner.goesByHazard) {
        meter.add(fetch.at, visitWorth(state.belief, expected, elapsedMs, weight));
      }
      const outcome = elapsedMs === null ? 'new' : fetch.outcome;
      const changedAt = outcome === 'unchanged' ? state.changedAt : fetch.at;
      const distance = outcome === 'modified' ? (fetch.distance ?? null) : null;
      const decision = inner.onVisit(state, {
        now: fetch.at,
        elapsedMs,
        outcome,
        evidence: fetch.evidence ?? (outcome === 'new' ? 'first' : distance === null ? 'digest' : 'distance'),
        distance,
        changedAt,
        lastModifiedAt: fetch.lastModifiedAt ?? null,
        isHostTrusted: fetch.isHostTrusted ?? true,
        weight,
        price: budgeted ? meter.price : null,
        rate: expected.rate,
        spread: fetch.spread ?? 1,
      });
      const { nextFetchAt, terms, seen } = decision;
      if (seen !== undefined) clocks.learn(host, fetch.at, elapsedMs ?? 0, seen);
      const { intervalMs, belief } = decision.memory;
      const fetched = { lastFetchAt: fetch.at, changedAt, nextFetchAt, failures: 0, gone: 0 };
      const next = { intervalMs, belief, weight, ...(host !== undefined && { host }), ...fetched };
      return { state: next, intervalMs, nextFetchAt, terms };
    },
    rank(state, now) {
      if (state === null || (state.lastFetchAt === null && state.failures === 0)) return Number.POSITIVE_INFINITY;
      if (state.nextFetchAt === null) return Number.NEGATIVE_INFINITY;
      if (state.failures + state.gone > 0 && now < state.nextFetchAt) return Number.NEGATIVE_INFINITY;
      if (!inner.goesByHazard) return now - state.nextFetchAt;
      const lastAt = state.lastFetchAt ?? now;
      return visitWorth(state.belief, clocks.of(state.host, lastAt, now), now - lastAt, state.weight);
    },
    periodMs: (state) => {
      const gamma = gammaOf(state, state.lastFetchAt ?? 0);
      return gamma === null ? null : expectedPeriodMs(gamma);
    },
    chanceFresh: (state, now) => {
      const gamma = gammaOf(state, now);
      return gamma === null ? null : 1 - chanceWithin(gamma, clocks.of(state.host, state.lastFetchAt, now).hazardMs);
    },
  };

  function gammaOf({ belief, lastFetchAt, host }: ScheduleState, now: number): ChangeGamma | null {
    if (!inner.goesByHazard || lastFetchAt === null) return null;
    return changeGamma(belief ?? NO_BELIEF, clocks.of(host, lastFetchAt, now).rate, now - lastFetchAt);
  }
}

/** Moving average of the worth of the fetches, by rounds. */
class PriceMeter {
  price: number | null = null;
  private readonly roundMs: number;
  private roundEndsAt = Number.NEGATIVE_INFINITY;
  private sum = 0;
  private count = 0;

  constructor(roundMs: number) {
    this.roundMs = roundMs;
  }

  add(at: number, worth: number): void {
    if (at >= this.roundEndsAt) {
      if (this.count > 0) {
        const mean = this.sum / this.count;
        this.price = this.price === null ? mean : this.price + PRICE_GAIN * (mean - this.price);
      }
      this.sum = 0;
      this.count = 0;
      this.roundEndsAt = at + this.roundMs;
    }
    this.sum += worth;
    this.count++;
  }
}

function scheduleOf(name: ScheduleName, options: object): FetchSchedule {
  switch (name) {
    case 'freshness':
      return createFreshnessSchedule({ ...FRESHNESS_DEFAULTS, ...options });
    case 'similarity':
      return createSimilaritySchedule({ ...SIMILARITY_DEFAULTS, ...options });
    case 'adaptive':
      return createAdaptiveSchedule({ ...ADAPTIVE_DEFAULTS, ...options });
    case 'fixed':
      return createFixedSchedule({ intervalMs: 30 * DAY_MS, ...options });
    default:
      throw new TypeError(`schedule "${String(name)}" is none of ${SCHEDULE_NAMES.join(', ')}`);
  }
}

function initialState(intervalMs: number, weight: number): ScheduleState {
  return {
    intervalMs,
    belief: null,
    lastFetchAt: null,
    changedAt: null,
    nextFetchAt: null,
    weight,
    failures: 0,
    gone: 0,
  };
}

function failed(state: ScheduleState, fetch: FetchResult, firstMs: number, longestMs: number): ScheduleStep {
  const failures = state.failures + 1;
  const pauseMs = clamp(firstMs * 2 ** Math.min(failures - 1, 30), 0, longestMs);
  const nextFetchAt = Math.max(fetch.at + pauseMs, fetch.retryAt ?? 0);
  const terms: ScheduleTerm[] = [
    { label: 'failures in a row', value: failures },
    { label: 'pause, doubled with each failure', value: nextFetchAt - fetch.at, unit: 'ms' },
  ];
  return { state: { ...state, failures, nextFetchAt }, intervalMs: state.intervalMs, nextFetchAt, terms };
}

function gone(state: ScheduleState, fetch: FetchResult, pausesMs: readonly number[]): ScheduleStep {
  const pauseMs = pausesMs[state.gone];
  const nextFetchAt = pauseMs === undefined ? null : fetch.at + pauseMs;
  const next = { ...state, lastFetchAt: fetch.at, failures: 0, gone: state.gone + 1, nextFetchAt };
  const terms: ScheduleTerm[] = [{ label: 'gone, times in a row', value: next.gone }];
  if (pauseMs !== undefined) terms.push({ label: 'pause', value: pauseMs, unit: 'ms' });
  return { state: next, intervalMs: state.intervalMs, nextFetchAt, terms };
}

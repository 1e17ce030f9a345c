import { describe, expect, it } from 'vitest';
import {
  chanceWithin,
  changeGamma,
  expectedPeriodMs,
  NO_BELIEF,
} from '../../../src/core/domain/crawl/change/change-belief.ts';
import { visitWorth } from '../../../src/core/domain/crawl/hazard/due-decision.ts';
import { HostClocks } from '../../../src/core/domain/crawl/hazard/host-clocks.ts';
import type { FetchSchedule, ScheduleVisit } from '../../../src/core/domain/crawl/revisit/schedule.ts';
import { createFreshnessSchedule } from '../../../src/core/domain/crawl/schedules/freshness.ts';
import {
  createAdaptiveSchedule,
  createFixedSchedule,
} from '../../../src/core/domain/crawl/schedules/nutch-schedules.ts';
import { createSimilaritySchedule } from '../../../src/core/domain/crawl/schedules/similarity.ts';
import { DAY_MS } from '../../../src/core/domain/time.ts';
import {
  createSchedule,
  type FetchResult,
  SCHEDULE_NAMES,
  type ScheduleName,
  type ScheduleState,
} from '../../../src/core/schedules.ts';

/** The schedules of a crawl that bear these names. */
const OF_CRAWL: Readonly<Record<ScheduleName, FetchSchedule>> = {
  freshness: createFreshnessSchedule(),
  similarity: createSimilaritySchedule(),
  adaptive: createAdaptiveSchedule(),
  fixed: createFixedSchedule({ intervalMs: 30 * DAY_MS }),
};
const day = (days: number): number => days * DAY_MS;

/** Fetches of a page in turn, with what the schedule of a crawl is to see of each. */
const FETCHES: readonly (readonly [FetchResult, Partial<ScheduleVisit>])[] = [
  [
    { at: day(1), outcome: 'modified', distance: 3 },
    { elapsedMs: null, outcome: 'new', evidence: 'first', changedAt: day(1) },
  ],
  [
    { at: day(8), outcome: 'unchanged', distance: 5 },
    { elapsedMs: day(7), evidence: 'digest', changedAt: day(1) },
  ],
  [
    { at: day(15), outcome: 'modified', distance: 8, lastModifiedAt: day(10) },
    { elapsedMs: day(7), evidence: 'distance', distance: 8, changedAt: day(15), lastModifiedAt: day(10) },
  ],
  [
    { at: day(25), outcome: 'modified' },
    { elapsedMs: day(10), evidence: 'digest', changedAt: day(25) },
  ],
  [
    {
      ...{ at: day(30), outcome: 'modified', evidence: 'resigned', distance: 20, lastModifiedAt: day(29) },
      ...{ weight: 3, spread: 1.1, isHostTrusted: false, host: 'a.example' },
    } as FetchResult,
    {
      ...{ elapsedMs: day(5), evidence: 'resigned', distance: 20, changedAt: day(30), lastModifiedAt: day(29) },
      ...{ weight: 3, spread: 1.1, isHostTrusted: false },
    },
  ],
  [
    { at: day(40), outcome: 'unchanged', evidence: 'conditional' },
    { elapsedMs: day(10), evidence: 'conditional', changedAt: day(30), weight: 3 },
  ],
  [
    { at: day(47), outcome: 'modified', distance: 30 },
    { elapsedMs: day(7), evidence: 'distance', distance: 30, weight: 3 },
  ],
  // A clock that was set back.
  [
    { at: day(46), outcome: 'modified', distance: 1 },
    { elapsedMs: 0, evidence: 'distance', distance: 1, weight: 3 },
  ],
];

describe.each(SCHEDULE_NAMES)('incrawl/schedules: %s decides as that of a crawl', (name) => {
  const ofCrawl = OF_CRAWL[name];

  it.each([false, true])('with a budget: %s', (budgeted) => {
    const schedule = createSchedule(name, budgeted ? { budgeted, roundMs: day(7) } : {});
    const clocks = new HostClocks(ofCrawl.initialIntervalMs);
    let state: ScheduleState | null = null;
    let [price, worths, roundEndsAt]: [number | null, number[], number] = [null, [], 0];
    for (const [fetch, seen] of FETCHES) {
      const before: ScheduleState | null = state;
      const { at } = fetch;
      const host = fetch.host ?? before?.host;
      const { elapsedMs = null, weight = 1 } = seen;
      const expected = clocks.of(host, before?.lastFetchAt ?? null, at);
      if (budgeted && name === 'freshness' && elapsedMs !== null) {
        if (at >= roundEndsAt) {
          const mean = worths.length === 0 ? null : worths.reduce((sum, worth) => sum + worth) / worths.length;
          price = mean === null || price === null ? mean : price + 0.1 * (mean - price);
          [worths, roundEndsAt] = [[], at + day(7)];
        }
        worths.push(visitWorth(before?.belief ?? null, expected, elapsedMs, weight));
      }
      const memory = before ?? { intervalMs: ofCrawl.initialIntervalMs, belief: null };
      const decision = ofCrawl.onVisit(memory, {
        ...{ now: at, elapsedMs, outcome: fetch.outcome as 'modified', evidence: 'digest', distance: null },
        ...{ changedAt: at, lastModifiedAt: null, isHostTrusted: true, weight, price, rate: expected.rate, spread: 1 },
        ...seen,
      });
      if (decision.seen !== undefined) clocks.learn(host, at, elapsedMs ?? 0, decision.seen);
      const { intervalMs, belief } = decision.memory;
      const { nextFetchAt, terms } = decision;
      const step = schedule.onFetch(before, fetch);
      const { changedAt = at } = seen;
      const kept = { lastFetchAt: at, changedAt, nextFetchAt, weight, failures: 0, gone: 0 };
      expect(step).toEqual({
        ...{ intervalMs, nextFetchAt, terms },
        state: { intervalMs, belief, ...kept, ...(host !== undefined && { host }) },
      });
      expect(Object.hasOwn(step.state, 'host')).toBe(host !== undefined);
      expect(schedule.price === null ? null : schedule.price / (price ?? Number.NaN)).toBe(price === null ? null : 1);
      state = step.state;
    }
    expect(price !== null).toBe(budgeted && name === 'freshness');
  });

  it('ranks, and estimates, by what is known of the page and its host', () => {
    const schedule = createSchedule(name);
    const clocks = new HostClocks(ofCrawl.initialIntervalMs);
    const host = 'a.example';
    let { state } = schedule.onFetch(null, { at: day(1), outcome: 'new', weight: 2, host });
    expect(schedule.rank({ ...state, lastFetchAt: null }, day(1))).toBe(Number.POSITIVE_INFINITY);
    expect(schedule.periodMs({ ...state, lastFetchAt: null })).toBeNull();
    expect(schedule.chanceFresh({ ...state, lastFetchAt: null }, day(3))).toBeNull();
    ({ state } = schedule.onFetch(state, { at: day(11), outcome: 'modified', distance: 9 }));
    const { nextFetchAt, belief, weight } = state;
    const expected = clocks.of(host, day(1), day(11));
    const { seen } = ofCrawl.onVisit(
      { intervalMs: ofCrawl.initialIntervalMs, belief: null },
      {
        ...{ now: day(11), elapsedMs: day(10), outcome: 'modified', evidence: 'distance', distance: 9 },
        ...{ changedAt: day(11), lastModifiedAt: null, rate: expected.rate },
      },
    );
    if (seen !== undefined) clocks.learn(host, day(11), day(10), seen);
    for (const now of [day(15), day(90)]) {
      if (name !== 'freshness') {
        expect(schedule.rank(state, now)).toBe(now - (nextFetchAt as number));
        expect([schedule.periodMs(state), schedule.chanceFresh(state, now)]).toEqual([null, null]);
        continue;
      }
      const since = clocks.of(host, day(11), now);
      expect(schedule.rank(state, now)).toBeCloseTo(visitWorth(belief, since, now - day(11), weight), 9);
      const gamma = changeGamma(belief as NonNullable<typeof belief>, since.rate, now - day(11));
      expect(schedule.chanceFresh(state, now)).toBeCloseTo(1 - chanceWithin(gamma, since.hazardMs), 9);
      const then = changeGamma(belief as NonNullable<typeof belief>, clocks.of(host, day(11), day(11)).rate, 0);
      expect(schedule.periodMs(state)).toBeCloseTo(expectedPeriodMs(then), 0);
    }
  });

  it('what is known of other pages fades until a page is fetched', () => {
    const schedule = createSchedule(name);
    const clocks = new HostClocks(ofCrawl.initialIntervalMs);
    let { state } = schedule.onFetch(null, { at: day(1), outcome: 'new' });
    for (let i = 2; i < 20; i++) {
      const visit = {
        now: day(i),
        elapsedMs: day(1),
        outcome: 'modified',
        evidence: 'distance',
        distance: 20,
      } as const;
      const { rate } = clocks.of(undefined, day(i - 1), day(i));
      const memory = { intervalMs: state.intervalMs, belief: state.belief };
      const { seen } = ofCrawl.onVisit(memory, { ...visit, changedAt: day(i), lastModifiedAt: null, rate });
      if (seen !== undefined) clocks.learn(undefined, day(i), day(1), seen);
      ({ state } = schedule.onFetch(state, { at: day(i), outcome: 'modified', distance: 20 }));
    }
    const other = schedule.onFetch(null, { at: day(2_000), outcome: 'new' }).state;
    const { rate } = clocks.of(undefined, day(2_000), day(2_000));
    const expected = expectedPeriodMs(changeGamma(other.belief ?? NO_BELIEF, rate, 0));
    expect(schedule.periodMs(other)).toBe(name === 'freshness' ? expected : null);
  });

  it('ranks pages that have failed, or are gone', () => {
    const schedule = createSchedule(name);
    const never = schedule.onFetch(null, { at: day(1), outcome: 'failed', weight: 2 });
    expect(never.state).toMatchObject({ lastFetchAt: null, nextFetchAt: day(2), weight: 2, failures: 1 });
    expect(schedule.rank(never.state, day(2) - 1)).toBe(Number.NEGATIVE_INFINITY);
    const worth = visitWorth(null, new HostClocks(ofCrawl.initialIntervalMs).of(undefined, day(3), day(3)), 0, 2);
    expect(schedule.rank(never.state, day(3))).toBe(name === 'freshness' ? worth : day(1));
    const gone = schedule.onFetch(null, { at: day(1), outcome: 'gone' });
    expect(schedule.rank(gone.state, day(8) - 1)).toBe(Number.NEGATIVE_INFINITY);
    const both = schedule.onFetch(gone.state, { at: day(8), outcome: 'failed' });
    expect(both.state).toMatchObject({ failures: 1, gone: 1, nextFetchAt: day(9) });
    expect(schedule.rank(both.state, day(9) - 1)).toBe(Number.NEGATIVE_INFINITY);
    expect(schedule.rank(both.state, day(9))).not.toBe(Number.NEGATIVE_INFINITY);
  });

  it('explains its pauses', () => {
    const schedule = createSchedule(name, { goneIntervalsMs: [day(3)], retryIntervalMs: day(2) });
    const { state } = schedule.onFetch(null, { at: day(1), outcome: 'failed' });
    expect(schedule.onFetch(state, { at: day(3), outcome: 'failed' }).terms).toEqual([
      { label: 'failures in a row', value: 2 },
      { label: 'pause, doubled with each failure', value: day(4), unit: 'ms' },
    ]);
    const gone = schedule.onFetch(state, { at: day(3), outcome: 'gone' });
    expect(gone.terms).toEqual([
      { label: 'gone, times in a row', value: 1 },
      { label: 'pause', value: day(3), unit: 'ms' },
    ]);
    expect(schedule.onFetch(gone.state, { at: day(6), outcome: 'gone' }).terms).toEqual([
      { label: 'gone, times in a row', value: 2 },
    ]);
  });
});

describe.each(SCHEDULE_NAMES)('incrawl/schedules: %s', (name) => {
  const visits = (['new', 'unchanged', 'modified', 'unchanged', 'modified'] as const).map((outcome, i) => ({
    at: (i + 1) * 7 * DAY_MS,
    outcome,
    distance: outcome === 'modified' ? 8 : null,
  }));

  it('goes from state to state as plain JSON', () => {
    let direct: ScheduleState | null = null;
    let stored: ScheduleState | null = null;
    for (const visit of visits) {
      const step = createSchedule(name).onFetch(stored, visit);
      direct = createSchedule(name).onFetch(direct, visit).state;
      stored = JSON.parse(JSON.stringify(step.state)) as ScheduleState;
      expect(stored).toEqual(direct);
      expect(step.intervalMs).toBeGreaterThan(0);
      expect(step.nextFetchAt).toBeGreaterThan(visit.at);
      expect(step.terms.length).toBeGreaterThan(0);
    }
  });

  it('takes over the state of any other schedule', () => {
    for (const other of SCHEDULE_NAMES) {
      const { state } = createSchedule(other).onFetch(null, { at: 0, outcome: 'new' });
      const step = createSchedule(name).onFetch(state, { at: 9 * DAY_MS, outcome: 'modified', distance: 12 });
      expect(Number.isFinite(step.nextFetchAt)).toBe(true);
    }
  });

  it('ranks unfetched pages first, and paused ones last', () => {
    const schedule = createSchedule(name);
    const { state } = schedule.onFetch(null, { at: 0, outcome: 'new' });
    expect(schedule.rank(null, 0)).toBe(Number.POSITIVE_INFINITY);
    expect(schedule.rank(state, 60 * DAY_MS)).toBeGreaterThan(schedule.rank(state, 40 * DAY_MS));
    const failing = schedule.onFetch(state, { at: 40 * DAY_MS, outcome: 'failed' }).state;
    expect(schedule.rank(failing, 40.5 * DAY_MS)).toBe(Number.NEGATIVE_INFINITY);
    expect(schedule.rank(failing, 41 * DAY_MS)).toBeGreaterThan(Number.NEGATIVE_INFINITY);
  });

  it('backs off from failures and lets gone pages age', () => {
    const schedule = createSchedule(name);
    let { state } = schedule.onFetch(null, { at: 0, outcome: 'new' });
    const pauses = (outcome: 'failed' | 'gone', count: number): (number | null)[] =>
      Array.from({ length: count }, () => {
        const step = schedule.onFetch(state, { at: 100 * DAY_MS, outcome });
        state = step.state;
        return step.nextFetchAt === null ? null : (step.nextFetchAt - 100 * DAY_MS) / DAY_MS;
      });
    expect(pauses('failed', 7)).toEqual([1, 2, 4, 8, 16, 30, 30]);
    expect(pauses('gone', 6)).toEqual([7, 14, 28, 56, 112, null]);
    expect(schedule.rank(state, 10_000 * DAY_MS)).toBe(Number.NEGATIVE_INFINITY);
    const retry = schedule.onFetch(state, { at: 0, outcome: 'failed', retryAt: 77 * DAY_MS });
    expect(retry.nextFetchAt).toBe(77 * DAY_MS);
  });
});

describe('incrawl/schedules: freshness', () => {
  const visited = (budgeted: boolean) => {
    const schedule = createSchedule('freshness', { budgeted });
    let { state } = schedule.onFetch(null, { at: 0, outcome: 'new' });
    for (let i = 1; i <= 10; i++) {
      ({ state } = schedule.onFetch(state, {
        at: i * 10 * DAY_MS,
        outcome: i % 2 ? 'modified' : 'unchanged',
        distance: 9,
      }));
    }
    return { schedule, state };
  };

  it('estimates the period and the chance of being fresh', () => {
    const { schedule, state } = visited(false);
    const period = (schedule.periodMs(state) ?? 0) / DAY_MS;
    expect(period).toBeGreaterThan(9);
    expect(period).toBeLessThan(25);
    expect(schedule.chanceFresh(state, 100 * DAY_MS)).toBe(1);
    expect(schedule.chanceFresh(state, 130 * DAY_MS)).toBeLessThan(0.4);
  });

  it('learns the price of a visit only under a budget', () => {
    expect(visited(false).schedule.price).toBeNull();
    expect(visited(true).schedule.price).toBeGreaterThan(0);
  });

  it('weighs pages: one that matters twice as much comes back sooner', () => {
    const schedule = createSchedule('freshness');
    const at = (weight: number) => schedule.onFetch(null, { at: 0, outcome: 'new', weight }).intervalMs;
    expect(at(2)).toBeLessThan(at(1));
    expect(at(0.5)).toBeGreaterThan(at(1));
  });

  it('refuses a name that is none', () => {
    expect(() => createSchedule('fresh' as never)).toThrow('is none of freshness, similarity, adaptive, fixed');
  });
});

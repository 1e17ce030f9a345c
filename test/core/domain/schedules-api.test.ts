import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../src/core/domain/time.ts';
import { createSchedule, SCHEDULE_NAMES, type ScheduleState } from '../../../src/core/schedules.ts';

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

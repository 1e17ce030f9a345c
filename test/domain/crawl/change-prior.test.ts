import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectedPeriodMs, PRIOR_BELIEF } from '../../../src/domain/crawl/change/change-belief.ts';
import { crawlPrior, hostPrior, NO_CHANGE_COUNT } from '../../../src/domain/crawl/change/change-prior.ts';
import { DAY_MS } from '../../../src/domain/time.ts';
import { createSchedule } from '../../../src/schedules.ts';

const count = fc.record({
  changes: fc.double({ min: 0, max: 1e5, noNaN: true }),
  watchedMs: fc.double({ min: 0, max: 1e6 * DAY_MS, noNaN: true }),
});

describe('beliefs before any evidence', () => {
  it('are the general one where nothing was seen', () => {
    expect(crawlPrior(NO_CHANGE_COUNT)).toEqual({ ...PRIOR_BELIEF, b: expect.closeTo(PRIOR_BELIEF.b, 3) });
    const prior = { a: 0.7, b: 3 * DAY_MS, noise: 0.3 };
    expect(hostPrior(prior, NO_CHANGE_COUNT)).toEqual({ ...prior, b: expect.closeTo(prior.b, 3) });
  });

  it('have the rate (2 + changes) / (2 / rate of the crawl + time) on a host', () => {
    const prior = { a: 0.5, b: 5 * DAY_MS, noise: 0.3 };
    const { a, b } = hostPrior(prior, { changes: 3, watchedMs: 30 * DAY_MS });
    expect([a, b / DAY_MS / a]).toEqual([0.5, expect.closeTo(50 / 5, 9)]);
  });

  it('come between what was expected and what was seen, within bounds', () => {
    fc.assert(
      fc.property(count, count, (crawl, host) => {
        const prior = crawlPrior(crawl);
        const [before, after] = [expectedPeriodMs(prior), expectedPeriodMs(hostPrior(prior, host))];
        const seen = host.watchedMs / host.changes;
        if (Number.isNaN(seen)) expect(after).toBeCloseTo(before, 3);
        else {
          const [low, high] = [Math.min(before, seen), Math.max(before, seen)];
          expect(after).toBeGreaterThanOrEqual(Math.min(low, (2_000 * DAY_MS) / prior.a) * (1 - 1e-9));
          expect(after).toBeLessThanOrEqual(Math.max(high, (0.5 * DAY_MS) / prior.a) * (1 + 1e-9));
        }
      }),
    );
  });
});

describe('the schedule freshness', () => {
  it('ranks a page without evidence by what the pages of its host have shown', () => {
    const schedule = createSchedule('freshness');
    const visit = (host: string, outcome: 'modified' | 'unchanged'): void => {
      let { state } = schedule.onFetch(null, { at: 0, outcome: 'new', host });
      for (let day = 5; day <= 50; day += 5) {
        ({ state } = schedule.onFetch(state, { at: day * DAY_MS, outcome, distance: 20, host }));
      }
    };
    visit('lively', 'modified');
    visit('still', 'unchanged');
    const [lively, still] = ['lively', 'still'].map((host) => {
      const { state } = schedule.onFetch(null, { at: 60 * DAY_MS, outcome: 'new', host });
      return { rank: schedule.rank(state, 70 * DAY_MS), period: schedule.periodMs(state) ?? 0, ...state };
    });
    expect(lively?.rank).toBeGreaterThan(2 * (still?.rank ?? Number.NaN));
    expect(lively?.period).toBeLessThan((still?.period ?? Number.NaN) / 2);
    expect(lively?.nextFetchAt).toBeLessThan(still?.nextFetchAt ?? Number.NaN);
    expect(JSON.parse(JSON.stringify(lively))).toMatchObject({ host: 'lively', belief: null });
  });

  it('keeps to the evidence of a page that has its own', () => {
    const schedule = createSchedule('freshness');
    let { state } = schedule.onFetch(null, { at: 0, outcome: 'new', host: 'h' });
    for (let day = 1; day <= 40; day++) {
      ({ state } = schedule.onFetch(state, { at: day * DAY_MS, outcome: 'modified', distance: 20, host: 'h' }));
    }
    const own = state;
    expect(own.belief).not.toBeNull();
    const before = schedule.rank(own, 41 * DAY_MS);
    let { state: other } = schedule.onFetch(null, { at: 0, outcome: 'new', host: 'h' });
    for (let day = 50; day <= 500; day += 50) {
      ({ state: other } = schedule.onFetch(other, { at: day * DAY_MS, outcome: 'unchanged', host: 'h' }));
    }
    expect(schedule.rank(own, 41 * DAY_MS)).toBe(before);
  });
});

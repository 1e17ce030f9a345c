import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ChangeBelief,
  type ChangeEvidence,
  chanceWithin,
  changeGamma,
  expectedPeriodMs,
  learnChange,
  NO_BELIEF,
  needMs,
  rateOfInterval,
  withNewUrls,
} from '../../../../src/core/domain/crawl/change/change-belief.ts';
import { DAY_MS, HOUR_MS } from '../../../../src/core/domain/time.ts';

const RATE = rateOfInterval(7 * DAY_MS);
const UNCHANGED: ChangeEvidence = { kind: 'unchanged' };
const differs = (distance: number | null, changeAgeMs: number | null = null): ChangeEvidence => ({
  ...{ kind: 'differs', distance, changeAgeMs },
});
const beliefs: fc.Arbitrary<ChangeBelief> = fc
  .record({
    changes: fc.double({ min: 0, max: 40, noNaN: true }),
    days: fc.double({ min: 0, max: 2_000, noNaN: true }),
    newUrls: fc.double({ min: 0, max: 9, noNaN: true }),
  })
  .map(({ changes, days, newUrls }) => ({ ...NO_BELIEF, changes, watchedMs: days * DAY_MS, newUrls }));
const rates = fc.double({ min: 1e-4, max: 1, noNaN: true }).map((perDay) => perDay / DAY_MS);
const spans = fc.double({ min: 0.04, max: 400, noNaN: true }).map((days) => days * DAY_MS);

describe('needMs', () => {
  it('is the first interval for an unknown page, longer after a quiet visit, as the reference simulator has it', () => {
    expect(needMs(NO_BELIEF, RATE) / DAY_MS).toBeCloseTo(7, 9);
    const quiet = learnChange(NO_BELIEF, RATE, 7 * DAY_MS, UNCHANGED).belief;
    expect(needMs(quiet, RATE) / DAY_MS).toBeCloseTo(11.65, 2);
  });

  it('falls as the believed rate rises: by changes, by less time watched, by the rate of pages like it', () => {
    fc.assert(
      fc.property(beliefs, rates, fc.double({ min: 0, max: 5, noNaN: true }), (page, rate, more) => {
        const need = needMs(page, rate) * 1.000_001;
        expect(needMs({ ...page, changes: page.changes + more }, rate)).toBeLessThanOrEqual(need);
        expect(needMs({ ...page, watchedMs: page.watchedMs / (1 + more) }, rate)).toBeLessThanOrEqual(need);
        expect(needMs(page, rate * (1 + more))).toBeLessThanOrEqual(need);
        expect(needMs({ ...page, newUrls: page.newUrls + more }, rate)).toBeLessThanOrEqual(need);
      }),
    );
  });

  it('is not longer after a substantive change than before it', () => {
    fc.assert(
      fc.property(beliefs, rates, spans, fc.option(spans, { nil: null }), (page, rate, elapsed, age) => {
        const after = learnChange(page, rate, elapsed, differs(null, age)).belief;
        expect(needMs(after, rate)).toBeLessThanOrEqual(needMs(page, rate, 1, elapsed) * 1.000_001);
      }),
    );
  });

  // Intervals after 1, 2, 3, 5, 10, 20 and 50 changes in a row, of the reference simulator, days.
  it.each([
    [RATE * DAY_MS, [3.28, 2.22, 1.7, 0.72, 0.34, 0.18, 0.08]],
    [0.01, [7, 7, 7, 2.67, 1, 0.47, 0.2]],
    [0.001, [7, 7, 7, 7, 4.74, 1.64, 0.56]],
  ])('comes down to an hour on a page that changes at every visit, others changing %f times a day', (perDay, known) => {
    const rate = perDay / DAY_MS;
    const intervals: number[] = [];
    let page = NO_BELIEF;
    let interval = 7 * DAY_MS;
    while (interval > HOUR_MS && intervals.length < 500) {
      page = learnChange(page, rate, interval, differs(null)).belief;
      interval = Math.min(interval, Math.max(HOUR_MS, needMs(page, rate)));
      intervals.push(interval / DAY_MS);
    }
    for (const [i, visit] of [1, 2, 3, 5, 10, 20, 50].entries()) {
      expect(intervals[visit - 1]).toBeCloseTo(known[i]!, 1);
    }
    // In a group that never changes certainty has its cap before; the group learns from the page, too.
    if (perDay > 0.001) expect(interval).toBe(HOUR_MS);
    else expect(interval).toBeLessThan(5 * HOUR_MS);
  });

  it('asks for a smaller chance on a page whose changes bring new URLs', () => {
    const hub = withNewUrls({ ...NO_BELIEF, changes: 2 }, 10);
    expect(hub.newUrls).toBeCloseTo(3, 12);
    const chance = chanceWithin(changeGamma(hub, RATE, 0), needMs(hub, RATE));
    expect(chance).toBeCloseTo(0.3 / 4, 9);
  });
});

describe('learnChange', () => {
  it('adds the time without a change, and forgets by half in 240 days', () => {
    const before = { ...NO_BELIEF, changes: 2, watchedMs: 60 * DAY_MS, noise: 0.4 };
    const { belief, changes, expected } = learnChange(before, RATE, 240 * DAY_MS, UNCHANGED);
    expect(changes).toBe(0);
    expect(expected).toBeGreaterThan(0.9);
    expect(belief.changes).toBeCloseTo(1, 12);
    expect(belief.watchedMs / DAY_MS).toBeCloseTo(30 + 240, 9);
    expect(belief.noise).toBeCloseTo(0.34, 12);
    expect(belief.mostMs).toBeNull();
  });

  it('counts half the time with a change, and less where a trusted Last-Modified says so', () => {
    const watched = (age: number | null): number =>
      learnChange(NO_BELIEF, RATE, 10 * DAY_MS, differs(null, age)).belief.watchedMs / DAY_MS;
    expect(watched(null)).toBeCloseTo(5, 9);
    expect(watched(2 * DAY_MS)).toBeCloseTo(2, 9);
    expect(watched(11 * DAY_MS)).toBeCloseTo(5, 9);
  });

  it('believes in a change the more the larger the distance, and less on a page that always differs', () => {
    fc.assert(
      fc.property(beliefs, rates, spans, (page, rate, elapsed) => {
        const shares = [0, 1, 2, 3, 4, 5, 6, 20].map((bits) => learnChange(page, rate, elapsed, differs(bits)).changes);
        for (const [i, share] of shares.entries()) {
          expect(share).toBeGreaterThanOrEqual(i === 0 ? 0 : shares[i - 1]! * 0.999_999);
          expect(share).toBeLessThanOrEqual(1);
        }
        const noisy = learnChange({ ...page, noise: 0.95 }, rate, elapsed, differs(1)).changes;
        const calm = learnChange({ ...page, noise: 0.05 }, rate, elapsed, differs(1)).changes;
        expect(noisy).toBeLessThanOrEqual(calm + 1e-9);
      }),
    );
  });

  it('caps its certainty at that of 40 changes', () => {
    const page = { ...NO_BELIEF, changes: 40, watchedMs: 400 * DAY_MS };
    const after = learnChange(page, RATE, DAY_MS / 10, differs(null)).belief;
    expect(after.changes).toBe(40);
    expect(after.watchedMs).toBeLessThan(400 * DAY_MS);
  });

  it('finds the period of a page that changes wholly every 8 days, visited daily', () => {
    let page = NO_BELIEF;
    for (let day = 1; day <= 200; day++) {
      page = learnChange(page, RATE, DAY_MS, day % 8 === 0 ? differs(20) : UNCHANGED).belief;
    }
    const periodMs = expectedPeriodMs(changeGamma(page, RATE, 0));
    expect(periodMs / DAY_MS).toBeGreaterThan(6);
    expect(periodMs / DAY_MS).toBeLessThan(10.5);
    expect(page.noise).toBeLessThan(0.05);
  });

  it('learns that a page only flickers', () => {
    let page = NO_BELIEF;
    for (let day = 1; day <= 200; day++) {
      page = learnChange(page, RATE, DAY_MS, differs(day % 3 === 0 ? 1 : 0)).belief;
    }
    expect(page.noise).toBeGreaterThan(0.9);
    expect(expectedPeriodMs(changeGamma(page, RATE, 0)) / DAY_MS).toBeGreaterThan(60);
  });
});

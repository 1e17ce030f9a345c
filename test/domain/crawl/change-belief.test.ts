import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ChangeBelief,
  type ChangeEvidence,
  chanceFresh,
  expectedPeriodMs,
  learnChange,
  PRIOR_BELIEF,
  timeToValue,
  visitValue,
} from '../../../src/domain/crawl/change/change-belief.ts';
import { DAY_MS } from '../../../src/domain/time.ts';

const belief = (a: number, days: number, noise = 0): ChangeBelief => ({ a, b: days * DAY_MS, noise });
const differs = (distance: number | null, changeAgeMs: number | null = null): ChangeEvidence => ({
  kind: 'differs',
  distance,
  changeAgeMs,
});
const beliefs = fc
  .record({ a: fc.double({ min: 0.05, max: 40, noNaN: true }), days: fc.double({ min: 0.5, max: 2_000, noNaN: true }) })
  .map(({ a, days }) => belief(a, days, 0.3));
const days = fc.double({ min: 0.01, max: 1_000, noNaN: true });

/** Means over Gamma(a, b days), by quadrature in the logarithm of the rate. */
function mean(a: number, b: number, of: (rate: number) => number): number {
  let sum = 0;
  let mass = 0;
  for (let x = -40; x <= 8; x += 0.002) {
    const rate = Math.exp(x);
    const weight = Math.exp(a * x - rate * b);
    sum += weight * of(rate);
    mass += weight;
  }
  return sum / mass;
}

describe('visitValue', () => {
  it.each([
    [0.35, 7, 3],
    [0.35, 7, 60],
    [1, 7, 10],
    [2.5, 30, 12],
    [20, 100, 400],
  ])('is the mean of 1/L - (t + 1/L) e^(-Lt) over Gamma(%s, %s d), at %s d', (a, b, t) => {
    const byQuadrature = mean(a, b, (rate) => -Math.expm1(-rate * t) / rate - t * Math.exp(-rate * t));
    expect(visitValue(belief(a, b), t * DAY_MS)).toBeCloseTo(byQuadrature, 4);
  });

  it('has no step at a = 1', () => {
    const at = (a: number): number => visitValue(belief(a, 10), 20 * DAY_MS);
    expect(at(1 - 1e-7)).toBeCloseTo(at(1), 5);
    expect(at(1 + 1e-7)).toBeCloseTo(at(1), 5);
    expect(at(1 - 1e-5)).toBeCloseTo(at(1), 4);
  });

  it('grows with time from 0, and timeToValue undoes it', () => {
    fc.assert(
      fc.property(beliefs, days, days, (page, one, other) => {
        const [early, late] = [Math.min(one, other) * DAY_MS, Math.max(one, other) * DAY_MS];
        expect(visitValue(page, 0)).toBe(0);
        expect(visitValue(page, early)).toBeLessThanOrEqual(visitValue(page, late) + 1e-9);
        const value = visitValue(page, early);
        const found = timeToValue(page, value, 5_000 * DAY_MS);
        expect(visitValue(page, found)).toBeCloseTo(value, 6);
        expect(timeToValue(page, value, early / 2)).toBe(early / 2);
      }),
    );
  });

  it('has pages that change faster than they can be followed visited less', () => {
    const price = 0.3;
    const periods = [0.1, 3].map((period) => timeToValue(belief(40, 40 * period), price, 365 * DAY_MS));
    expect(periods[0]).toBe(365 * DAY_MS);
    expect(periods[1]).toBeLessThan(5 * DAY_MS);
  });
});

const learnt = (...visit: Parameters<typeof learnChange>): ChangeBelief => learnChange(...visit).belief;

describe('learnChange', () => {
  const t = 10 * DAY_MS;
  const kept = Math.exp(-10 / 120);
  const fadedB = 20 + (50 - 20) * kept;
  const fadedA = 0.7 + (2 - 0.7) * kept;

  it('adds the time without a change, after forgetting towards the prior', () => {
    const after = learnt(belief(2, 50, 0.4), t, { kind: 'unchanged' });
    expect(after.a).toBeCloseTo(fadedA, 12);
    expect(after.b / DAY_MS).toBeCloseTo(fadedB + 10, 9);
    expect(after.noise).toBeCloseTo(0.34, 12);
  });

  it('takes the moments of the rate given that something changed', () => {
    const after = learnt(belief(2, 50), t, differs(null));
    const seen = (rate: number): number => -Math.expm1(-rate * 10);
    const mass = mean(fadedA, fadedB, seen);
    const first = mean(fadedA, fadedB, (rate) => rate * seen(rate)) / mass;
    const second = mean(fadedA, fadedB, (rate) => rate * rate * seen(rate)) / mass;
    expect(after.a).toBeCloseTo(first ** 2 / (second - first ** 2), 4);
    expect(after.b / DAY_MS).toBeCloseTo(first / (second - first ** 2), 3);
  });

  it('takes a trusted Last-Modified for the time of the last change: Gamma(a + 1, b + s)', () => {
    const after = learnt(belief(2, 50), t, differs(null, 4 * DAY_MS));
    expect(after.a).toBeCloseTo(fadedA + 1, 9);
    expect(after.b / DAY_MS).toBeCloseTo(fadedB + 4, 9);
    expect(learnt(belief(2, 50), t, differs(null, 11 * DAY_MS))).toEqual(learnt(belief(2, 50), t, differs(null)));
  });

  it('believes in a higher rate the larger the distance, and in a lower one on a page that always differs', () => {
    fc.assert(
      fc.property(beliefs, days, (page, elapsed) => {
        const rates = [0, 1, 2, 3, 4, 5, 6, 20].map((distance) => {
          const after = learnt(page, elapsed * DAY_MS, differs(distance));
          expect(after.a).toBeGreaterThan(0);
          expect(after.a).toBeLessThanOrEqual(40);
          expect(Number.isFinite(after.b) && after.b > 0).toBe(true);
          expect(after.noise >= 0 && after.noise <= 1).toBe(true);
          return after.a / after.b;
        });
        for (const [i, rate] of rates.slice(1).entries())
          expect(rate).toBeGreaterThanOrEqual((rates[i] ?? 0) * 0.999_999);
        const noisy = learnt({ ...page, noise: 0.95 }, elapsed * DAY_MS, differs(1));
        const calm = learnt({ ...page, noise: 0.05 }, elapsed * DAY_MS, differs(1));
        expect(noisy.a / noisy.b).toBeLessThanOrEqual((calm.a / calm.b) * 1.000_001);
      }),
    );
  });

  it('finds the period of a page that changes wholly every 8 days, visited daily', () => {
    let page = PRIOR_BELIEF;
    for (let day = 1; day <= 200; day++) {
      page = learnt(page, DAY_MS, day % 8 === 0 ? differs(20) : { kind: 'unchanged' });
    }
    expect(expectedPeriodMs(page) / DAY_MS).toBeGreaterThan(6);
    expect(expectedPeriodMs(page) / DAY_MS).toBeLessThan(10.5);
    expect(page.noise).toBeLessThan(0.05);
  });

  it('learns that a page only flickers', () => {
    let page = PRIOR_BELIEF;
    for (let day = 1; day <= 200; day++) page = learnt(page, DAY_MS, differs(day % 3 === 0 ? 1 : 0));
    expect(page.noise).toBeGreaterThan(0.9);
    expect(expectedPeriodMs(page) / DAY_MS).toBeGreaterThan(60);
  });

  it('learns nothing from no time', () => {
    expect(learnt(PRIOR_BELIEF, 0, differs(30))).toEqual(PRIOR_BELIEF);
  });
});

it('the chance of being fresh falls from 1', () => {
  expect(chanceFresh(PRIOR_BELIEF, 0)).toBe(1);
  expect(chanceFresh(belief(1, 10), 10 * DAY_MS)).toBeCloseTo(0.5, 12);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { axisLevels, axisTop } from '../../src/serve/charts/column-chart.ts';
import {
  axisLabels,
  bucketsOf,
  chosenSpan,
  SPANS,
  type Span,
  sumsOf,
  visitsOf,
} from '../../src/serve/charts/time-buckets.ts';
import { DAY, HOUR, NOW, pastRound } from './live-fixtures.ts';

const span = (name: string): Span => SPANS.find((each) => each.name === name) as Span;

describe('the time shown', () => {
  it.each([
    ['no round', undefined, '2h'],
    ['an hour', HOUR, '2h'],
    ['a day', DAY, '2d'],
    ['a month', 28 * DAY, '30d'],
    ['a year', 365 * DAY, '30d'],
  ])('after %s is as long as the crawl, and 30 days at most', (_, age, name) => {
    expect(chosenSpan(undefined, age === undefined ? undefined : NOW - age, NOW).name).toBe(name);
    expect(chosenSpan('1y', undefined, NOW).name).toBe('1y');
    expect(chosenSpan('for ever', age === undefined ? undefined : NOW - age, NOW).name).toBe(name);
  });

  it('has buckets of whole days and of weeks from Monday on, the last one with now', () => {
    for (const each of SPANS) {
      const buckets = bucketsOf([], each, NOW);
      expect(buckets).toHaveLength(each.buckets);
      expect(buckets.every(({ from, to }) => to - from === each.bucketMs)).toBe(true);
      expect([buckets.at(-1)!.from <= NOW, buckets.at(-1)!.to > NOW]).toEqual([true, true]);
    }
    expect(new Date(bucketsOf([], span('30d'), NOW)[0]!.from).toISOString()).toBe('2026-02-03T00:00:00.000Z');
    expect(new Date(bucketsOf([], span('1y'), NOW)[0]!.from).getUTCDay()).toBe(1);
  });
});

describe('counts of rounds by time', () => {
  it('are spread over the duration of a round, not put to its end', () => {
    const long = pastRound(NOW, { ms: 10 * HOUR, modified: 100, failed: 1 });
    const buckets = bucketsOf([long], span('2d'), NOW);
    expect(buckets.slice(-12).map(({ modified }) => modified)).toEqual([0, 5, 10, 10, 10, 10, 10, 10, 10, 10, 10, 5]);
    expect(sumsOf([long], NOW - DAY, NOW + 1)).toMatchObject({ modified: 100, failed: 1 });
    expect(sumsOf([long], NOW - 5 * HOUR, NOW + 1)).toMatchObject({ modified: 50 });
  });

  it('keep their sums in any buckets', () => {
    const counts = fc.record({
      ago: fc.integer({ min: 0, max: 40 * HOUR }),
      ms: fc.integer({ min: 0, max: 5 * HOUR }),
      new: fc.nat(1_000),
      failed: fc.nat(3),
      bytesReceived: fc.nat(1e9),
    });
    fc.assert(
      fc.property(fc.array(counts, { maxLength: 20 }), (list) => {
        const rounds = list.map(({ ago, ...each }) => pastRound(NOW - ago, each));
        const buckets = bucketsOf(rounds, span('2d'), NOW);
        for (const field of ['new', 'failed', 'bytesReceived'] as const) {
          const sum = (each: readonly { readonly [Key in typeof field]: number }[]): number =>
            each.reduce((total, one) => total + one[field], 0);
          expect(sum(buckets)).toBe(sum(rounds));
        }
        expect(buckets.every((bucket) => visitsOf(bucket) >= 0)).toBe(true);
      }),
    );
  });

  it('leave out rounds of other times, and those of a clock that ran ahead', () => {
    const rounds = [NOW - 3 * DAY, NOW + 3 * DAY].map((at) => pastRound(at, { new: 5 }));
    expect(bucketsOf(rounds, span('2d'), NOW).every((bucket) => visitsOf(bucket) === 0)).toBe(true);
  });
});

describe('axes', () => {
  it('end at round numbers, with whole numbers between', () => {
    expect([0, 1, 2, 3, 7, 13, 99, 1_204, 12_400].map(axisTop)).toEqual([1, 1, 2, 3, 8, 16, 100, 1_600, 16_000]);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e12 }), (max) => {
        const top = axisTop(max);
        expect(top).toBeGreaterThanOrEqual(max);
        expect(top).toBeLessThanOrEqual(Math.max(1, 2 * max));
        expect(axisLevels(top).every(Number.isInteger)).toBe(true);
      }),
    );
  });

  it('name days, noons and half hours', () => {
    const texts = (name: string): string[] => {
      const starts = bucketsOf([], span(name), NOW).map(({ from }) => from);
      return axisLabels(starts, span(name).bucketMs).map(({ text }) => text);
    };
    expect(texts('2h')).toEqual(['06:00', '06:30', '07:00', '07:30']);
    expect(texts('2d')).toEqual(['12:00', '3 Mar', '12:00', '4 Mar']);
    expect(texts('30d')).toEqual(['4 Feb', '11 Feb', '18 Feb', '25 Feb', '4 Mar']);
    expect(texts('1y').at(-1)).toBe('2 Mar');
  });
});

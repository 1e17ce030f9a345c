import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type FetchesOfDay,
  fetchesLeft,
  fetchesToday,
  nextDayAt,
  spentText,
  withFetches,
  withoutFetches,
} from '../../../../src/core/domain/crawl/revisit/budget-shares.ts';
import { DAY_MS } from '../../../../src/core/domain/time.ts';

const NIGHT = Date.UTC(2026, 5, 2);

it('counts by the UTC day, which ends at midnight', () => {
  const bound = { fetchesPerDay: 5, name: 'hosts[0].fetchesPerDay' };
  const late = withFetches(withFetches(null, 3, NIGHT - 2), 1, NIGHT - 1);
  expect([fetchesToday(late, NIGHT - 1), fetchesLeft(late, bound, NIGHT - 1), nextDayAt(NIGHT - 1)]).toEqual([
    4,
    1,
    NIGHT,
  ]);
  expect([fetchesToday(late, NIGHT), fetchesLeft(late, bound, NIGHT), nextDayAt(NIGHT)]).toEqual([
    0,
    5,
    NIGHT + DAY_MS,
  ]);
  expect(fetchesToday(withFetches(late, 2, NIGHT), NIGHT)).toBe(2);
  // A bound that was lowered since.
  expect(fetchesLeft(late, { ...bound, fetchesPerDay: 2 }, NIGHT - 1)).toBe(0);
});

it('gives back to the day of which it was taken, and to no other', () => {
  const known = withFetches(null, 3, NIGHT);
  expect(withoutFetches(known, 2, NIGHT + DAY_MS - 1)).toEqual({ ...known, fetches: 1 });
  expect(withoutFetches(known, 9, NIGHT)).toEqual({ ...known, fetches: 0 });
  expect(withoutFetches(known, 2, NIGHT - 1)).toBe(known);
  expect(withoutFetches(null, 2, NIGHT)).toBeNull();
});

it('never lets a day have more than its bound, whatever is taken and given back when', () => {
  const step = fc.record({
    hours: fc.integer({ min: 0, max: 9 }),
    wanted: fc.integer({ min: 0, max: 9 }),
    back: fc.nat(9),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 12 }), (steps, fetchesPerDay) => {
      const bound = { fetchesPerDay, name: '' };
      const done = new Map<number, number>();
      let known: FetchesOfDay | null = null;
      let now = NIGHT;
      for (const { hours, wanted, back } of steps) {
        now += hours * 3_600_000;
        const taken = Math.min(wanted, fetchesLeft(known, bound, now));
        const returned = Math.min(back, taken);
        known = withoutFetches(withFetches(known, taken, now), returned, now);
        const day = Math.floor(now / DAY_MS);
        done.set(day, (done.get(day) ?? 0) + taken - returned);
        expect(fetchesToday(known, now)).toBe(done.get(day));
      }
      for (const fetches of done.values()) expect(fetches).toBeLessThanOrEqual(fetchesPerDay);
    }),
  );
});

it('says what a bound has allowed', () => {
  expect(spentText({ fetchesPerDay: 50, name: 'hosts[0].fetchesPerDay' }, 49)).toBe(
    'hosts[0].fetchesPerDay: 49 of 50 asked today',
  );
});

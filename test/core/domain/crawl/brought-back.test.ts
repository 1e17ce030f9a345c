import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type CrawlDatum, newDatum, type Visit } from '../../../../src/core/domain/crawl/states/datum.ts';
import { datumBroughtBack } from '../../../../src/core/domain/crawl/states/settle.ts';
import { DAY_MS } from '../../../../src/core/domain/time.ts';

const NOW = Date.UTC(2026, 5, 1);
const AHEAD = 400 * DAY_MS;

const visit = (at: number, elapsedMs: number | null): Visit => ({
  at,
  outcome: elapsedMs === null ? 'new' : 'unchanged-304',
  distance: null,
  elapsedMs,
  bytes: 0,
  intervalMs: 3 * DAY_MS,
});

it('a record without a stamp of the future stays, however late it is due', () => {
  const datum = {
    ...newDatum({ url: 'http://a.org/', now: NOW, intervalMs: DAY_MS }),
    nextFetchAt: NOW + 900 * DAY_MS,
  };
  expect(datumBroughtBack(datum, { now: NOW, aheadMs: AHEAD })).toBeNull();
});

it('a seed that was injected by a clock ahead is due now', () => {
  const datum = newDatum({ url: 'http://a.org/', now: NOW + AHEAD, intervalMs: DAY_MS });
  const back = datumBroughtBack(datum, { now: NOW, aheadMs: AHEAD });
  expect(back).toEqual({ ...datum, discoveredAt: NOW, nextFetchAt: NOW });
});

it('visits keep their distances, and a belief that learnt from the jump is dropped with its interval', () => {
  const first = NOW - 9 * DAY_MS;
  const datum: CrawlDatum = {
    ...newDatum({ url: 'http://a.org/', now: first, intervalMs: DAY_MS }),
    state: 'notmodified',
    visits: [visit(first, null), visit(NOW + AHEAD - 2 * DAY_MS, AHEAD + 7 * DAY_MS), visit(NOW + AHEAD, 2 * DAY_MS)],
    lastFetchAt: NOW + AHEAD,
    changedAt: first,
    schedule: { intervalMs: 90 * DAY_MS, belief: { changes: 1, watchedMs: 2, newUrls: 0, noise: 0.1, mostMs: null } },
    nextFetchAt: NOW + AHEAD + 90 * DAY_MS,
  };
  const back = datumBroughtBack(datum, { now: NOW, aheadMs: AHEAD }) as CrawlDatum;
  expect(back.visits.map(({ at, elapsedMs }) => [at, elapsedMs])).toEqual([
    [first, null],
    [NOW - 2 * DAY_MS, 7 * DAY_MS],
    [NOW, 2 * DAY_MS],
  ]);
  expect([back.lastFetchAt, back.changedAt, back.nextFetchAt]).toEqual([NOW, first, NOW + 3 * DAY_MS]);
  expect(back.schedule).toEqual({ intervalMs: 3 * DAY_MS, belief: null });
});

it('no stamp stays ahead, order is kept, and a second pass finds nothing', () => {
  const span = fc.integer({ min: 0, max: 500 * DAY_MS });
  fc.assert(
    fc.property(fc.array(span, { minLength: 1, maxLength: 8 }), span, (steps, start) => {
      let at = NOW - start;
      const visits = steps.map((step, i) => {
        at += step;
        return visit(at, i === 0 ? null : step);
      });
      const newest = visits.at(-1)!.at;
      const datum: CrawlDatum = {
        ...newDatum({ url: 'http://a.org/', now: visits[0]!.at, intervalMs: DAY_MS }),
        state: 'notmodified',
        visits,
        lastFetchAt: newest,
        changedAt: visits[0]!.at,
        lastError: { code: 'fetch-timeout', message: '', at: newest },
        nextFetchAt: newest + DAY_MS,
      };
      const shift = { now: NOW, aheadMs: Math.max(0, newest - NOW) };
      const back = datumBroughtBack(datum, shift) ?? datum;
      const times = back.visits.map((each) => each.at);
      expect(Math.max(...times, back.discoveredAt, back.changedAt ?? 0, back.lastError?.at ?? 0)).toBeLessThanOrEqual(
        NOW,
      );
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(back.nextFetchAt).toBeLessThanOrEqual(Math.max(NOW, newest) + DAY_MS);
      expect(datumBroughtBack(back, { ...shift, aheadMs: 0 })).toBeNull();
    }),
  );
});

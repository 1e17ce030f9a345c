import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_BELIEF, needMs, rateOfInterval } from '../../../../../src/core/domain/crawl/change/change-belief.ts';
import {
  dueDecision,
  gapBetweenLooks,
  groupsToLookAt,
  lateAfterMs,
  nextLookAt,
  timeToWorth,
  visitWorth,
} from '../../../../../src/core/domain/crawl/hazard/due-decision.ts';
import { NO_CLOCK } from '../../../../../src/core/domain/crawl/hazard/host-clock.ts';
import { NO_LEVEL } from '../../../../../src/core/domain/crawl/hazard/level.ts';
import { DAY_MS, HOUR_MS } from '../../../../../src/core/domain/time.ts';

const day = (n: number): number => n * DAY_MS;
const RATE = rateOfInterval(day(7));
const NOW = day(1_000);
const terms = { now: NOW, aheadMs: 0, minIntervalMs: HOUR_MS, maxIntervalMs: day(30) };
const page = (since: number, rest: object = {}) => ({
  ...{ belief: null, lastFetchAt: NOW - day(since), spread: 1, weight: 1 },
  ...rest,
});
const expected = (hazard: number, rate = RATE) => ({ group: 0, rate, hazardMs: day(hazard) });

describe('dueDecision', () => {
  it.each([
    [6, 6, null, 'before its time'],
    [7.01, 7.01, 'hazard', 'at its time'],
    [3, 9, 'hazard', 'before its time, where the clock of its group is ahead'],
    [12, 3, null, 'after its time, where its group was quiet'],
    [30, 3, 'cap', 'at the longest interval, whatever its group says'],
    [0.02, 200, null, 'never before the shortest interval'],
  ] as const)('a page seen %f days ago, %f by its clock: %s, %s', (since, hazard, due, _when) => {
    expect(dueDecision(page(since), expected(hazard), terms).due).toBe(due);
  });

  it('lets a page wait for what is missing, at least a day, never beyond the longest interval', () => {
    const wait = (since: number, hazard: number): number =>
      (dueDecision(page(since), expected(hazard), terms).waitUntil - NOW) / DAY_MS;
    expect(wait(12, 3)).toBeCloseTo(4, 0);
    expect(wait(12, 6.9)).toBe(1);
    expect(wait(28, 1)).toBeCloseTo(2, 9);
  });

  it('counts pages due within a quarter of the gap between runs as due, those at the longest interval, too', () => {
    const ahead = { ...terms, aheadMs: day(3.5) };
    expect(dueDecision(page(6), expected(6), terms).due).toBeNull();
    expect(dueDecision(page(6), expected(6), ahead).due).toBe('hazard');
    expect(dueDecision(page(29), expected(1), terms).due).toBeNull();
    expect(dueDecision(page(27), expected(1), ahead).due).toBe('cap');
    expect(dueDecision(page(26), expected(1), ahead).due).toBeNull();
  });

  it('looks ahead by a quarter of the time since the visit at most: none is due again in the run that visits it', () => {
    const belief = { ...NO_BELIEF, changes: 5, watchedMs: day(5) };
    const ahead = { ...terms, aheadMs: day(3.5) };
    expect(dueDecision(page(2 / 24, { belief }), expected(2 / 24), ahead).due).toBeNull();
    expect(dueDecision(page(0.5, { belief }), expected(0.5), ahead).due).toBe('hazard');
  });

  it('is due after the interval before a change at the latest', () => {
    const belief = { ...NO_BELIEF, mostMs: day(2) };
    expect(dueDecision(page(2.1, { belief }), expected(2.1, RATE / 50), terms).due).toBe('hazard');
    expect(dueDecision(page(1.9, { belief }), expected(1.9, RATE / 50), terms).due).toBeNull();
  });

  it('is due no later the more its clock has run', () => {
    const days = fc.double({ min: 0.1, max: 60, noNaN: true });
    fc.assert(
      fc.property(days, days, days, (since, hazard, more) => {
        const [one, other] = [hazard, hazard + more].map((each) => dueDecision(page(since), expected(each), terms));
        if (one?.due !== null) expect(other?.due).toBe(one?.due);
        expect(other!.waitUntil).toBeLessThanOrEqual(NOW - day(since) + day(30) + 1);
      }),
    );
  });
});

describe('sentinels', () => {
  const group = (pages: number, lookedDaysAgo: number) => ({
    ...{ number: 1, level: NO_LEVEL, pages, lookedAt: NOW - day(lookedDaysAgo) },
  });
  const host = (pages: number, lookedDaysAgo: number) => ({
    ...{ clock: { ...NO_CLOCK, groups: [group(pages, lookedDaysAgo)] }, above: RATE },
  });

  it('look the oftener the more pages change, and cost at most 15 % of visits at the cap', () => {
    // 4 / sqrt(100 pages x 1/15 a day) is 1.55 days; 30 days / 15 pages 2.
    expect(gapBetweenLooks(group(100, 0), RATE, day(30)) / DAY_MS).toBeCloseTo(2, 2);
    expect(gapBetweenLooks(group(1_000, 0), RATE, day(30)) / DAY_MS).toBeCloseTo(0.49, 2);
    expect(gapBetweenLooks(group(1_000, 0), RATE / 100, day(30)) / DAY_MS).toBeCloseTo(4.9, 1);
  });

  it('are one or two pages of a group that nobody has looked at for so long', () => {
    expect(groupsToLookAt(host(100, 1), day(30), NOW)).toEqual(new Map());
    expect(groupsToLookAt(host(100, 3), day(30), NOW)).toEqual(new Map([[1, 1]]));
    expect(groupsToLookAt(host(100, 9), day(30), NOW)).toEqual(new Map([[1, 2]]));
    expect(nextLookAt(host(100, 1), day(30), NOW)).toBeCloseTo(NOW + day(1), -8);
    // A group of few pages has visits enough.
    expect(nextLookAt(host(5, 1), day(30), NOW)).toBeNull();
  });
});

describe('visitWorth', () => {
  const at = (days: number, changes = 1): number =>
    visitWorth({ ...NO_BELIEF, changes, watchedMs: day(30) }, { rate: RATE, hazardMs: day(days) }, day(days));

  it('is the expected number of stale days, and grows with time and with the changes seen', () => {
    expect(at(0)).toBe(0);
    for (const days of [1, 5, 20, 80]) {
      expect(at(days)).toBeLessThanOrEqual(days);
      expect(at(days * 1.5)).toBeGreaterThan(at(days));
      expect(at(days, 3)).toBeGreaterThan(at(days, 1));
    }
  });

  it('is found again by its time', () => {
    const belief = { ...NO_BELIEF, changes: 1, watchedMs: day(30) };
    for (const days of [0.5, 4, 50]) {
      expect(timeToWorth(belief, RATE, at(days), day(400)) / DAY_MS).toBeCloseTo(days, 3);
    }
    expect(timeToWorth(belief, RATE, 1e9, day(400))).toBe(day(400));
  });

  it('of a page that was not seen to change follows its clock at twice the speed of time at most', () => {
    const worth = (hazard: number): number => visitWorth(null, { rate: RATE, hazardMs: day(hazard) }, day(10));
    expect(worth(200)).toBe(worth(20));
    expect(worth(5)).toBeLessThan(worth(20));
  });

  it('gives way to pages that round robin would have visited long ago', () => {
    expect(needMs(NO_BELIEF, RATE)).toBeLessThan(lateAfterMs(700, 70));
    expect(lateAfterMs(700, 70)).toBe(day(15));
  });
});

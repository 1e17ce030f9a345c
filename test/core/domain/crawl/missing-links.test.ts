import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  absenceOf,
  absentInARow,
  afterAnswers,
  afterDeadLink,
  deadLinksFrom,
  folderNumber,
  isInDeadFolder,
  isRefusedForGood,
  LEFT_OUT_PART,
  type MissingLinks,
  NO_MISSING_LINKS,
  redirectsInARow,
  wasNeverThere,
} from '../../../../src/core/domain/crawl/revisit/missing-links.ts';
import type { SettlePolicy } from '../../../../src/core/domain/crawl/revisit/next-visit.ts';
import { createFreshnessSchedule } from '../../../../src/core/domain/crawl/schedules/freshness.ts';
import {
  type CrawlDatum,
  type CrawlState,
  newDatum,
  type Visit,
  type VisitOutcome,
} from '../../../../src/core/domain/crawl/states/datum.ts';
import { DAY_MS, HOUR_MS } from '../../../../src/core/domain/time.ts';

const NOW = Date.UTC(2026, 0, 10);
const PAUSES = [30, 60, 120].map((days) => days * DAY_MS);
const policy: SettlePolicy = {
  schedule: createFreshnessSchedule(),
  ...{ minIntervalMs: HOUR_MS, maxIntervalMs: 30 * DAY_MS, retryIntervalMs: DAY_MS, maxRetryIntervalMs: 30 * DAY_MS },
  goneIntervalsMs: [7 * DAY_MS, 14 * DAY_MS],
  missingIntervalsMs: PAUSES,
};
const at = (path: string): string => `http://h.example${path}`;
const dead = (folder: string, count: number) =>
  Array.from({ length: count }, (_, i) => ({
    url: at(`${folder}${String.fromCharCode(97 + i)}.html`),
    isThere: false,
  }));
const live = (folder: string, count: number) => dead(folder, count).map(({ url }) => ({ url, isThere: true }));

describe('folders of dead links', () => {
  it.each([
    ['/docs/8_1/a.html', '/docs/10_12/b.html?c=/', true],
    ['/a/', '/b/', true],
    ['/a/?page=1', '/b/', true],
    ['/x/a/', '/x/b/', true],
    ['/x/a/', '/y/a/', false],
    ['/a/', '/a/index.html', false],
    ['/', '/a.html', true],
    ['/a', '/b', true],
    ['/a/b', '/b/b', false],
  ])('%s and %s are siblings: %s', (one, other, isSame) => {
    expect(folderNumber(at(one)) === folderNumber(at(other))).toBe(isSame);
  });

  it.each([
    ['nine are missing', dead('/f/', 9), false],
    ['ten are missing', dead('/f/', 10), true],
    ['ten are missing in two versions', [...dead('/f1/', 5), ...dead('/f22/', 5)], false],
    ['one of ten is there', [...dead('/f/', 10), ...live('/f/', 1)], false],
    ['one of twenty-one is there', [...dead('/f/', 20), ...live('/f/', 1)], true],
    ['all are there', live('/f/', 50), false],
  ])('%s: new URLs wait: %s', (_, answers, waits) => {
    expect(isInDeadFolder(afterAnswers(null, answers) ?? NO_MISSING_LINKS, at('/f/new.html'))).toBe(waits);
  });

  it('are remembered from the first missing URL on, the ones met last up to 64', () => {
    expect(afterAnswers(null, live('/f/', 3))).toBeNull();
    const many = Array.from({ length: 80 }, (_, i) => `/${String.fromCharCode(97 + (i % 26), 97 + i / 26)}/`);
    const known = many.reduce<MissingLinks | null>((before, folder) => afterAnswers(before, dead(folder, 1)), null);
    expect(known?.folders).toHaveLength(64);
    expect(known?.folders.at(-1)?.folder).toBe(folderNumber(at(`${many.at(-1)}x.html`)));
  });

  it('count what is there once something was missing, and keep what else is known', () => {
    const folder = folderNumber(at('/f/a.html'));
    const first = afterAnswers(null, [...dead('/f/', 2), ...live('/f/', 1), ...live('/g/', 3)]);
    expect(first).toEqual({ ...NO_MISSING_LINKS, folders: [{ folder, missing: 2, found: 1 }] });
    expect(NO_MISSING_LINKS).toEqual({ times: 0, at: 0, folders: [] });
    const known = { ...(first as MissingLinks), times: 3, at: NOW };
    expect(afterAnswers(known, live('/f/', 2))).toEqual({ ...known, folders: [{ folder, missing: 2, found: 3 }] });
    expect(afterAnswers(known, live('/g/', 2))).toBe(known);
    expect(afterAnswers(known, [])).toBe(known);
  });

  it.each([
    [1_000, 1_000],
    [1_001, 501],
  ])('%s answers are kept as %s', (answers, kept) => {
    expect(afterAnswers(null, dead('/f/', answers))?.folders).toMatchObject([{ missing: kept, found: 0 }]);
  });

  it('keep the share of what is there however many answers come', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), (found) => {
        let known: MissingLinks | null = null;
        for (let i = 0; i < 100; i++) known = afterAnswers(known, [...dead('/f/', 20), ...live('/f/', found)]);
        const [{ missing, found: there } = { missing: 0, found: 0 }] = known?.folders ?? [];
        expect(missing + there).toBeLessThanOrEqual(1_000);
        expect(there / (missing + there)).toBeCloseTo(found / (found + 20), 1);
      }),
    );
  });
});

describe('dead links of a host', () => {
  it('are asked for after ever longer pauses while none is there, and at once where one was', () => {
    let known: MissingLinks | null = null;
    let now = NOW;
    const pauses = [false, false, false, false, true, false].map((isThere) => {
      known = afterDeadLink(known, isThere, now);
      // The others of the same round.
      known = afterDeadLink(known, isThere, now + HOUR_MS);
      const pause = deadLinksFrom(known, PAUSES) - now;
      now += Math.max(pause, DAY_MS);
      return Math.max(0, pause) / DAY_MS;
    });
    expect(pauses).toEqual([30, 60, 120, 120, 0, 30]);
  });
});

it('requests within six hours count as one', () => {
  const once = afterDeadLink(null, false, NOW);
  expect(once).toEqual({ times: 1, at: NOW, folders: [] });
  expect(afterDeadLink(once, false, NOW + 6 * HOUR_MS - 1)).toBe(once);
  expect(afterDeadLink(once, false, NOW + 6 * HOUR_MS)).toEqual({ times: 2, at: NOW + 6 * HOUR_MS, folders: [] });
});

describe('what the record of a URL tells', () => {
  const digest = '1'.repeat(32);

  it.each<[CrawlState, string | null, boolean]>([
    ['gone', null, true],
    ['gone', digest, false],
    ['unfetched', null, false],
    ['fetched', digest, false],
  ])('%s, with digest %s: it was never there: %s', (state, known, expected) => {
    expect(wasNeverThere({ state, digest: known })).toBe(expected);
  });

  it.each([
    ...[400, 401, 405, 406, 414, 451].map((status) => [status, true] as const),
    ...[null, 403, 404, 410, 429, 500].map((status) => [status, false] as const),
  ])('status %s is a refusal for good: %s; never of a seed or a known page', (status, expected) => {
    const datum = newDatum({ url: at('/a'), now: NOW, intervalMs: DAY_MS, depth: 1 });
    expect(isRefusedForGood(datum, status)).toBe(expected);
    expect(isRefusedForGood({ ...datum, seed: true }, status)).toBe(false);
    expect(isRefusedForGood({ ...datum, digest }, status)).toBe(false);
  });

  it.each<[VisitOutcome[], number, number]>([
    [[], 0, 0],
    [['gone', 'failed', 'gone'], 2, 0],
    [['gone', 'denied', 'gone'], 3, 0],
    [['gone', 'new', 'gone'], 1, 0],
    [['redirect', 'failed', 'denied', 'redirect'], 0, 2],
    [['redirect', 'unchanged-304', 'redirect', 'failed'], 0, 1],
    [['gone', 'redirect'], 0, 1],
    [['redirect', 'gone', 'denied'], 2, 0],
  ])('%j: absent %s times in a row, a redirect %s times', (outcomes, absent, redirects) => {
    const visits = outcomes.map(
      (outcome): Visit => ({ at: NOW, outcome, distance: null, elapsedMs: null, bytes: 0, intervalMs: DAY_MS }),
    );
    expect([absentInARow({ visits }), redirectsInARow({ visits })]).toEqual([absent, redirects]);
  });
});

describe('a URL is asked for', () => {
  const url = at('/f/z.html');
  const fresh = newDatum({ url, now: NOW, intervalMs: DAY_MS, depth: 1 });
  const visit = (outcome: Visit['outcome'], days: number): Visit => ({
    ...{ at: NOW - days * DAY_MS, outcome, distance: null, elapsedMs: null, bytes: 0, intervalMs: DAY_MS },
  });
  const missing = (times: number): CrawlDatum => ({
    ...{ ...fresh, state: 'gone', lastFetchAt: NOW - 30 * DAY_MS, nextFetchAt: NOW },
    visits: Array.from({ length: times }, (_, i) =>
      visit('gone', (PAUSES[times - 1] as number) / DAY_MS + times - 1 - i),
    ),
  });
  const gone: CrawlDatum = { ...missing(1), digest: '1'.repeat(32), visits: [visit('new', 9), visit('gone', 7)] };
  const deadFolder = { ...NO_MISSING_LINKS, folders: [{ folder: folderNumber(url), missing: 10, found: 0 }] };
  const leftOut = NOW - 30 * DAY_MS + LEFT_OUT_PART * 30 * DAY_MS;

  it.each<[string, CrawlDatum, MissingLinks | null, string | null]>([
    ['that is new', fresh, null, null],
    ['that is new in a dead folder', fresh, deadFolder, 'dead'],
    ['that was missing once', missing(1), null, 'missing'],
    ['that was missing once in a dead folder', missing(1), deadFolder, 'dead'],
    ['that was missing twice', missing(2), null, 'dead'],
    ['that is gone', gone, deadFolder, 'gone'],
    ['that is there', { ...gone, state: 'fetched' }, deadFolder, null],
    ['of a seed', { ...missing(2), seed: true }, deadFolder, null],
    ['at a fixed interval', { ...missing(2), fixedIntervalMs: DAY_MS }, deadFolder, null],
    ['before its pause is over', { ...missing(2), nextFetchAt: NOW - 40 * DAY_MS }, deadFolder, null],
    ['a moment before', { ...missing(1), nextFetchAt: leftOut - 2 }, null, null],
    ['when those left out come back', { ...missing(1), nextFetchAt: leftOut - 1 }, null, 'missing'],
    ['half a day before', { ...missing(3), nextFetchAt: NOW - 1.7 * DAY_MS }, null, null],
    ['that has no time', { ...missing(2), nextFetchAt: null }, null, 'dead'],
    ['that has failed since', { ...missing(2), failures: 1, nextFetchAt: NOW - 40 * DAY_MS }, null, 'dead'],
    ['that has failed', { ...fresh, failures: 1, visits: [visit('failed', 1)] }, deadFolder, null],
  ])('%s', (_, datum, host, absence) => {
    expect(absenceOf(datum, host, policy)).toBe(absence);
  });
});

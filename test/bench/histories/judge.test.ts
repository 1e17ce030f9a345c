import { describe, expect, it } from 'vitest';
import { roundRobin, visitAll, visitByInterval } from '../../../bench/histories/baselines.ts';
import { atEqualRequests, baselineFigures, familiesOf } from '../../../bench/histories/families.ts';
import { interpolated } from '../../../bench/histories/figures.ts';
import { judge } from '../../../bench/histories/judge.ts';
import { truthOf } from '../../../bench/histories/truth.ts';
import { countRequests, type Found, visitsOf } from '../../../bench/histories/visits.ts';
import { type MadeTree, madeHistory } from './made-history.ts';

const page = (text: string, ...links: string[]): string =>
  `<p>${text}</p>${links.map((to) => `<a href="/${to}">link</a>`).join('')}`;
const first: MadeTree = { 'index.html': page('start', 'a.html', 'b.html'), 'a.html': page('one'), 'b.html': page('b') };
const changed: MadeTree = { ...first, 'a.html': page('two') };
const added: MadeTree = {
  ...changed,
  'index.html': page('start again', 'a.html', 'b.html', 'c.html'),
  'c.html': page('c'),
};
const { 'b.html': _, ...without } = added;
const removed: MadeTree = { ...without, 'index.html': page('start again', 'a.html', 'c.html') };

/** Ten days: `a` changes on day 2, `c` comes on day 4, `b` goes on day 6. */
const truth = truthOf(
  madeHistory([0, 0, 1, 1, 2, 2, 3, 3, 3, 3].map((i) => [first, changed, added, removed][i] as MadeTree)),
);
const { history } = truth;
const none = new Map<string, Found>();
const visits = (...days: Record<string, Found>[]) =>
  Array.from({ length: 10 }, (_, i) => (days[i] === undefined ? none : new Map(Object.entries(days[i]))));
const ALL = { 'index.html': 'seen', 'a.html': 'seen', 'b.html': 'seen' } as const;

describe('the judge', () => {
  it('counts days from a change to the visit that saw it', () => {
    const seenLate = judge(truth, visits(ALL, {}, {}, {}, {}, { 'a.html': 'seen', 'index.html': 'seen' }));
    // `a` changed on day 2 and was seen on day 5; the start page changed on days 4 and 6, the latter was never seen.
    expect(seenLate.lags.substantive).toEqual({
      changes: 3,
      seen: 2,
      within7: 2,
      within30: 2,
      mean: 2,
      p50: 3,
      p90: null,
    });
    expect(seenLate.lags.added).toMatchObject({ changes: 1, seen: 0, p50: null });
    expect(seenLate.lags.removed).toMatchObject({ changes: 1, seen: 0 });
    expect(seenLate).toMatchObject({ missedAtEnd: 1, ghosts: 1 });
  });

  it('counts copies without an unseen substantive change, by page and day', () => {
    const { fresh, freshMajor, freshAtEnd } = judge(truth, visits(ALL));
    // Of 3 pages: all on days 0 and 1, two on days 2 and 3; of 4 pages `b` alone on days 4 and 5; then none of 3.
    expect(freshMajor).toBeCloseTo((3 + 3 + 2 + 2 + 1 + 1) / (4 * 3 + 2 * 4 + 4 * 3), 10);
    expect(fresh).toBe(freshMajor);
    expect(freshAtEnd).toBe(0);
  });

  it('a copy is dropped where the page was found gone', () => {
    const { lags, ghosts } = judge(truth, visits(ALL, {}, {}, {}, {}, {}, {}, {}, { 'b.html': 'gone' }));
    expect(lags.removed).toMatchObject({ changes: 1, seen: 1, p50: 2 });
    expect(ghosts).toBe(0);
  });
});

describe('visits', () => {
  const get = (uri: string, status: number) => ({ method: 'GET', uri, status, bodyBytes: 0 });

  it('are read from the log: pages, confirmed copies, pages gone', () => {
    const logs = [
      [get('/robots.txt', 404), get('/', 200), get('/a.html', 200), get('/b.html', 200), get('/dead.html', 404)],
      [get('/a.html', 304)],
      [get('/a.html', 304), get('/', 304)],
      ...Array.from({ length: 3 }, () => []),
      [get('/b.html', 404), get('/folder', 301)],
    ];
    const read = visitsOf(history.steps, logs).map((found) => Object.fromEntries(found));
    expect(read[0]).toEqual(ALL);
    expect(read[1]).toEqual({ 'a.html': 'seen' });
    // On day 2 a 304 would stand for a version that was never sent.
    expect(read[2]).toEqual({ 'index.html': 'seen' });
    expect(read[6]).toEqual({ 'b.html': 'gone' });
    expect(countRequests(logs)).toEqual({
      all: 10,
      pages: 6,
      later: 5,
      laterNotLive: 2,
      laterByKind: { page: 3, missing: 1, redirect: 1 },
    });
  });
});

describe('baselines', () => {
  it('conditional GET of all sees all, the oracle asks only for what changed', () => {
    const all = baselineFigures(truth, visitAll(history, 1, false));
    expect(all).toMatchObject({
      pageRequests: 32,
      freshMajor: 1,
      seen: 3,
      changes: 3,
      lagP90: 0,
      newP90: 0,
      notLive: 0,
    });
    // Three pages, `a` again, the start page twice and `c`; that `b` is gone.
    const oracle = baselineFigures(truth, visitAll(history, 1, true));
    expect(oracle).toMatchObject({ pageRequests: 8, freshMajor: 1, seen: 3, lagP50: 0, notLive: 1 / 5 });
  });

  it('fixed intervals see changes at their next visit', () => {
    const { requests, visits: made } = visitByInterval(history, 3, 'fixed');
    expect(made.map((found) => found.size)).toEqual([3, 0, 0, 3, 0, 0, 4, 0, 0, 3]);
    expect(requests).toBe(13);
    // `a` after a day; the start page on day 6, which is two days after its first and at once at its second change.
    expect(judge(truth, made).lags.substantive).toMatchObject({ seen: 3, mean: 1, p50: 1, p90: 2 });
  });

  it("Nutch's rule waits longer for pages that were the same", () => {
    const gaps = (file: string): number[] =>
      visitByInterval(history, 1, 'adaptive').visits.flatMap((found, day) => (found.has(file) ? [day] : []));
    // Intervals of 1, 1.4, 1.96 and 2.74 days for `b` until it is gone; days begin when the interval has passed.
    expect(gaps('b.html')).toEqual([0, 1, 3, 5, 8]);
    // After the change of `a`, found on day 3: 1.12, 1.57 and 2.2 days.
    expect(gaps('a.html')).toEqual([0, 1, 3, 5, 7]);
  });

  it('round robin keeps to its budget, new pages first', () => {
    const { visits: made } = roundRobin(history, 0.34);
    expect(made.slice(1).map((found) => found.size)).toEqual(Array.from({ length: 9 }, () => 1));
    expect(made.slice(1).map((found) => [...found.keys()][0])).toEqual([
      'index.html',
      'a.html',
      'b.html',
      'index.html',
      'c.html',
      'a.html',
      'b.html',
      'index.html',
      'c.html',
    ]);
  });

  it('are compared at equal page requests, between their nearest members', () => {
    const [cheap, dear] = [3, 1].map((days) => baselineFigures(truth, visitByInterval(history, days, 'fixed')));
    const half = interpolated([dear!, cheap!], (cheap!.pageRequests + dear!.pageRequests) / 2);
    expect(half?.freshMajor).toBeCloseTo((cheap!.freshMajor + dear!.freshMajor) / 2, 10);
    expect(half?.lagP90).toBe(1);
    expect(interpolated([dear!, cheap!], cheap!.pageRequests - 1)).toBeNull();
    const families = familiesOf(truth, 0.5);
    const oracle = families.find(({ name }) => name === 'oracle')!;
    expect(atEqualRequests(oracle, 1_000)).toMatchObject({ pageRequests: 8, freshMajor: 1 });
    expect(families.find(({ name }) => name === 'round robin')?.shown[0]?.name).toBe('round robin, 50 % a run');
  });

  it('what was never seen stays never seen between two members', () => {
    const { freshMajor, ...figures } = baselineFigures(truth, visitByInterval(history, 365, 'fixed'));
    const curve = [
      { ...figures, freshMajor: 0.5, pageRequests: 10, lagP50: null },
      { ...figures, freshMajor, pageRequests: 20, lagP50: 4 },
    ];
    expect(interpolated(curve, 15)?.lagP50).toBeNull();
  });
});

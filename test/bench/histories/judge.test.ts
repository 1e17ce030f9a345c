import { describe, expect, it } from 'vitest';
import { roundRobin, visitAll, visitByInterval } from '../../../bench/histories/baselines.ts';
import { atEqualRequests, baselineFigures, familiesOf } from '../../../bench/histories/families.ts';
import { interpolated } from '../../../bench/histories/figures.ts';
import { judge } from '../../../bench/histories/judge.ts';
import { truthOf } from '../../../bench/histories/truth.ts';
import { countRequests, visitsOf } from '../../../bench/histories/visits.ts';
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
const visits = (...days: readonly string[][]) => Array.from({ length: 10 }, (_, i) => new Set(days[i]));
const ALL = ['index.html', 'a.html', 'b.html'];

describe('the judge', () => {
  it('counts days from a change to the visit that saw it', () => {
    const seenLate = judge(truth, visits(ALL, [], [], [], [], ['a.html', 'index.html']));
    // `a` changed on day 2 and was seen on day 5; the start page changed on days 4 and 6, the latter was never seen.
    expect(seenLate).toMatchObject({ changes: 3, seen: 2, within7: 2, lagP50: 3, lagP90: null });
  });

  it('counts copies without an unseen substantive change, by page and day', () => {
    const { freshMajor } = judge(truth, visits(ALL));
    // Of 3 pages: all on days 0 and 1, two on days 2 and 3; of 4 pages `b` alone on days 4 and 5; then none of 3.
    expect(freshMajor).toBeCloseTo((3 + 3 + 2 + 2 + 1 + 1) / (4 * 3 + 2 * 4 + 4 * 3), 10);
  });
});

describe('visits', () => {
  const get = (uri: string, status: number) => ({ method: 'GET', uri, status });

  it('are read from the log: pages and confirmed copies', () => {
    const logs = [
      [get('/robots.txt', 404), get('/', 200), get('/a.html', 200), get('/b.html', 200), get('/dead.html', 404)],
      [get('/a.html', 304)],
      [get('/a.html', 304), get('/', 304)],
      ...Array.from({ length: 3 }, () => []),
      [get('/b.html', 404), get('/folder', 301)],
    ];
    const read = visitsOf(history.steps, logs).map((seen) => [...seen]);
    expect(read[0]).toEqual(ALL);
    expect(read[1]).toEqual(['a.html']);
    // On day 2 a 304 would stand for a version that was never sent.
    expect(read[2]).toEqual(['index.html']);
    expect(read[6]).toEqual([]);
    expect(countRequests(logs)).toEqual({
      pages: 6,
      notLive: 2 / 5,
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
      notLive: 0,
    });
    // Three pages, `a` again, the start page twice and `c`; that `b` is gone.
    const oracle = baselineFigures(truth, visitAll(history, 1, true));
    expect(oracle).toMatchObject({ pageRequests: 8, freshMajor: 1, seen: 3, lagP50: 0, notLive: 1 / 5 });
  });

  it('fixed intervals see changes at their next visit', () => {
    const { requests, visits: made } = visitByInterval(history, 3, 'fixed');
    // On day 6 it asks for `b` as well, which is gone.
    expect(made.map((seen) => seen.size)).toEqual([3, 0, 0, 3, 0, 0, 3, 0, 0, 3]);
    expect(requests).toBe(13);
    // `a` after a day; the start page on day 6, which is two days after its first and at once at its second change.
    expect(judge(truth, made)).toMatchObject({ seen: 3, lagP50: 1, lagP90: 2 });
  });

  it("Nutch's rule waits longer for pages that were the same", () => {
    const gaps = (file: string): number[] =>
      visitByInterval(history, 1, 'adaptive').visits.flatMap((found, day) => (found.has(file) ? [day] : []));
    // Intervals of 1, 1.4 and 1.96 days for `b` until it is gone; days begin when the interval has passed.
    expect(gaps('b.html')).toEqual([0, 1, 3, 5]);
    // After the change of `a`, found on day 3: 1.12, 1.57 and 2.2 days.
    expect(gaps('a.html')).toEqual([0, 1, 3, 5, 7]);
  });

  it('round robin keeps to its budget, new pages first', () => {
    const { visits: made } = roundRobin(history, 0.34);
    // On day 7 it asks for `b`, which is gone.
    expect(made.slice(1).map((seen) => [...seen].join())).toEqual([
      'index.html',
      'a.html',
      'b.html',
      'index.html',
      'c.html',
      'a.html',
      '',
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
    expect(atEqualRequests(families[0]!, 1_000)).toBeNull();
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

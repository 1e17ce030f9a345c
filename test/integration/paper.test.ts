import { describe, expect, it } from 'vitest';
import { type PaperPage, paperExperiment, settledAt } from '../../bench/freshness/paper-experiment.ts';

const pages: readonly PaperPage[] = [
  { path: '/regular-2', periodDays: 2, isRegular: true },
  { path: '/regular-8', periodDays: 8, isRegular: true },
];
const run = (schedule: string, intervalDays: number) =>
  paperExperiment({ schedule, pages, days: 70, seed: 1, intervalDays });

/**
 * The experiment of the paper behind the project, by the real crawler under a simulated clock; all of it: npm run
 * bench:paper.
 */
describe('pages with known periods', () => {
  it('similarity: the interval floats around the period, and nothing is missed', { timeout: 60_000 }, async () => {
    const { pages: seen } = await run('similarity', 4);
    for (const page of seen) {
      // Mean 0.60 T for a page that changes every T exactly, 0.42 to 0.83 on the way (growth 0.4, shrinkage 0.2).
      expect(settledAt(page), page.path).toBeGreaterThan(0.42);
      expect(settledAt(page), page.path).toBeLessThan(0.9);
      // The first interval of four days is longer than two changes of the faster page; later ones vary by a tenth with
      // the URL.
      expect(page.found, page.path).toBeGreaterThanOrEqual(0.85 * page.changes);
      expect(page.fetches, page.path).toBeLessThan(70 / 0.5);
    }
  });

  it('freshness: estimates the periods, visits less often than the shortest fixed interval, and misses nothing', {
    timeout: 60_000,
  }, async () => {
    const { pages: seen } = await run('freshness', 4);
    const [fast, slow] = seen;
    const last = (page: (typeof seen)[number] | undefined): number => page?.intervals.at(-1) ?? 0;
    expect(last(slow)).toBeGreaterThan(1.3 * last(fast));
    for (const page of seen) {
      expect(page.found, page.path).toBeGreaterThanOrEqual(0.85 * page.changes);
      expect(page.fetches, page.path).toBeLessThan(70 / 0.5);
    }
  });
});

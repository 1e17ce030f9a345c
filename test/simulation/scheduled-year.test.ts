import { describe, expect, it } from 'vitest';
import { DAY, scheduledYear } from './scheduled-year.ts';

/** INCRAWL_YEAR_PAGES=2000 is the size of the figures in bench/RESULTS.md. */
const pages = Number(process.env.INCRAWL_YEAR_PAGES ?? 150);
const seed = Number(process.env.INCRAWL_SEED ?? 11);

describe(`a year of scheduled rounds over ${pages} pages (seed ${seed})`, () => {
  it('spends its budget evenly, never exceeds it, and revisits every page in time', {
    timeout: 600_000,
  }, async () => {
    const budgetPerDay = Math.round(pages / 10);
    const year = await scheduledYear({ pages, days: 365, roundsPerDay: 4, budgetPerDay, seed });
    for (const { fetched, budget } of year.rounds) expect(fetched).toBeLessThanOrEqual(budget);
    for (const fetched of year.fetchesByDay) expect(fetched).toBeLessThanOrEqual(budgetPerDay);
    const total = year.fetchesByDay.reduce((sum, each) => sum + each, 0);
    expect(total).toBeGreaterThanOrEqual(0.99 * budgetPerDay * 365);
    const settled = year.fetchesByDay.slice(30);
    const mean = settled.reduce((sum, each) => sum + each, 0) / settled.length;
    expect(Math.max(...settled)).toBeLessThanOrEqual(1.3 * mean);
    // No page waits longer than three passes over all pages, or 90 days.
    const longest = Math.max(30, (3 * pages) / budgetPerDay, 90);
    for (const { url, lastFetchAt } of year.records) {
      expect((year.end - (lastFetchAt ?? 0)) / DAY, url).toBeLessThanOrEqual(longest * 1.1);
    }
    expect(year.records).toHaveLength(pages);
  });

  it('unreachable pages take no budget from the others', { timeout: 600_000 }, async () => {
    const budgetPerDay = Math.round(pages / 10);
    const from = 60;
    const isRefused = (page: number, day: number): boolean => day >= from && page % 2 === 0;
    const year = await scheduledYear({ pages, days: 200, roundsPerDay: 4, budgetPerDay, seed, isRefused });
    // The reachable half of the pages keeps its half of the budget.
    const mean = (days: readonly number[]): number => days.reduce((sum, each) => sum + each, 0) / days.length;
    expect(mean(year.answeredByDay.slice(from + 60))).toBeGreaterThanOrEqual(0.45 * budgetPerDay);
  });
});

import { expect, it } from 'vitest';
import { budgetView, fetchBudgetFacts, openFetchBudget } from '../../../src/core/steps/facts/fetch-budget.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';

const HOUR = 3_600_000;
const NOON = Date.parse('2026-03-04T12:00:00Z');

it('shows the budget of the last round, and what the day has spent of it', async () => {
  const db = createMemoryCrawlDb();
  const spend = async (options: { budget: number; budgetPerDay: number }, fetches: number, at: number) => {
    const budget = await openFetchBudget(db, options, at);
    await db.write({ meta: fetchBudgetFacts(budget, fetches, options) });
  };
  expect(await budgetView(db, NOON)).toBeNull();
  await spend({ budget: 0, budgetPerDay: 100 }, 30, NOON - HOUR);
  await spend({ budget: 0, budgetPerDay: 100 }, 12, NOON);
  expect(await budgetView(db, NOON + HOUR)).toEqual({ perDay: 100, spentToday: 42 });
  expect(await budgetView(db, NOON + 13 * HOUR)).toEqual({ perDay: 100, spentToday: 0 });
  await spend({ budget: 0, budgetPerDay: 0 }, 500, NOON + HOUR);
  expect(await budgetView(db, NOON + 2 * HOUR)).toBeNull();
});

it('shows the budget of a run as one without a day', async () => {
  const db = createMemoryCrawlDb();
  const options = { budget: 40, budgetPerDay: 0 };
  await db.write({ meta: fetchBudgetFacts(await openFetchBudget(db, options, NOON), 40, options) });
  expect(await budgetView(db, NOON)).toEqual({ perDay: 40, spentToday: null });
});

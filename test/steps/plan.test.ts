import { expect, it } from 'vitest';
import { createMemoryCrawlDb } from '../../src/adapters/memory/crawl-db.ts';
import { newDatum } from '../../src/domain/crawl/states/datum.ts';
import { planAhead } from '../../src/steps/inspect/plan.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = 100 * DAY;

it('plans a page with a fixed interval by that interval, whatever its schedule has learnt', async () => {
  const db = createMemoryCrawlDb();
  const pinned = newDatum({ url: 'http://a.example/', now: 0, intervalMs: 30 * DAY, fixedIntervalMs: HOUR });
  const free = newDatum({ url: 'http://b.example/', now: 0, intervalMs: 30 * DAY });
  const visited = {
    state: 'fetched',
    lastFetchAt: NOW - HOUR,
    schedule: { intervalMs: 30 * DAY, belief: null },
  } as const;
  const puts = [pinned, free].map((datum) => ({ datum: { ...datum, ...visited, nextFetchAt: NOW }, previous: null }));
  await db.write({ puts });
  const plan = await planAhead(db, { now: NOW, days: 2, budgetPerDay: 0 });
  expect(plan.days.map(({ due }) => due)).toEqual([25, 24]);
  expect(plan.needPerDay).toBeCloseTo(24, 1);
  expect(plan.hosts).toEqual([
    { host: 'a.example', visits: 48 },
    { host: 'b.example', visits: 1 },
  ]);
});

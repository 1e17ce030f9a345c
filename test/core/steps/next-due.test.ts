import { expect, it } from 'vitest';
import { newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { DAY_MS, HOUR_MS } from '../../../src/core/domain/time.ts';
import { nextDue } from '../../../src/core/steps/generate/generate.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';

const NOW = Date.UTC(2026, 5, 1, 12);

/** A crawl db of visited pages that are due so many hours from now; `null`: never. */
async function dueAfter(...hours: readonly (number | null)[]) {
  const db = createMemoryCrawlDb();
  const puts = hours.map((each, i) => ({
    datum: {
      ...newDatum({ url: `http://h.example/${i}`, now: NOW - DAY_MS, intervalMs: DAY_MS }),
      ...({ state: 'fetched', lastFetchAt: NOW - DAY_MS } as const),
      nextFetchAt: each === null ? null : NOW + each * HOUR_MS,
    },
    previous: null,
  }));
  await db.write({ puts });
  return db;
}

it.each([
  { hours: [30, 31, 35, 36, 80], next: { at: '2026-06-02T18:00:00.000Z', urls: 3 } },
  { hours: [-5, 0, 1], next: { at: '2026-06-01T13:00:00.000Z', urls: 1 } },
  { hours: [-5, null], next: null },
  { hours: [], next: null },
])('of pages due in $hours hours the next is $next', async ({ hours, next }) => {
  expect(await nextDue(await dueAfter(...hours), NOW)).toEqual(next);
});

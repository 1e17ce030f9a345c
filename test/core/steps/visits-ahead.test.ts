import { expect, it } from 'vitest';
import { NO_BELIEF, rateOfInterval } from '../../../src/core/domain/crawl/change/change-belief.ts';
import { groupOf } from '../../../src/core/domain/crawl/hazard/expectation.ts';
import { EPOCH_MS, type HostClock, NO_CLOCK } from '../../../src/core/domain/crawl/hazard/host-clock.ts';
import { NO_LEVEL } from '../../../src/core/domain/crawl/hazard/level.ts';
import type { SettlePolicy } from '../../../src/core/domain/crawl/revisit/next-visit.ts';
import { createFreshnessSchedule } from '../../../src/core/domain/crawl/schedules/freshness.ts';
import { DAY_MS, HOUR_MS } from '../../../src/core/domain/time.ts';
import { NO_HOST_FACTS } from '../../../src/core/ports/crawl-db.ts';
import { watchedHostFacts } from '../../../src/core/steps/facts/host-observations.ts';
import { planAhead } from '../../../src/query/records/plan.ts';
import { visitedDatum } from '../../contracts/crawl-db-exam.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';

const NOW = 1_000 * DAY_MS;
const policy: SettlePolicy = {
  schedule: createFreshnessSchedule(),
  ...{ minIntervalMs: HOUR_MS, maxIntervalMs: 30 * DAY_MS, retryIntervalMs: DAY_MS, maxRetryIntervalMs: 30 * DAY_MS },
  goneIntervalsMs: [7 * DAY_MS],
};
const URL = 'http://h.example/f/a';

/** Days of the visits that are planned of a page last seen six days ago, when its folder was looked at meanwhile. */
async function planned(observed: number | null, dueInDays: number): Promise<number[]> {
  const db = createMemoryCrawlDb();
  const lastFetchAt = NOW - 6 * DAY_MS;
  const nextFetchAt = NOW + dueInDays * DAY_MS;
  const datum = visitedDatum(URL, {
    ...{ state: 'fetched', failures: 0, fixedIntervalMs: null, lastFetchAt, nextFetchAt, metadata: {} },
    schedule: { intervalMs: nextFetchAt - lastFetchAt, belief: NO_BELIEF },
  });
  await db.write({ puts: [{ datum, previous: null }] });
  const found = [{ group: groupOf(URL), observed: observed ?? 0, expected: 3, visits: 9 }];
  const groups = [{ number: groupOf(URL), level: NO_LEVEL, pages: 1, lookedAt: NOW }];
  const clock: HostClock = { ...NO_CLOCK, groups, epochs: [{ from: lastFetchAt, to: NOW - EPOCH_MS, found }] };
  if (observed !== null) {
    const expected = { above: rateOfInterval(7 * DAY_MS), clock };
    const meta = watchedHostFacts(new Map(), new Map([['h.example', expected]]), 30 * DAY_MS, NOW);
    await db.write({ hostFacts: [{ host: 'h.example', facts: { ...NO_HOST_FACTS, clock } }], meta });
  }
  const { days } = await planAhead(db, { now: NOW, days: 40, budgetPerDay: 0, policy });
  return days.flatMap(({ due }, day) => Array.from({ length: due }, () => day));
}

it('a plan has the visits that generate would make: when they are due, later in a quiet folder, sooner in a changed one', async () => {
  const [first = 0, second = 0] = await planned(null, 1);
  expect(first).toBe(1);
  expect(second - first).toBeGreaterThanOrEqual(6);
  expect((await planned(0, 1))[0]).toBeGreaterThan(3);
  expect((await planned(0, 1))[0]).toBeLessThanOrEqual(24);
  expect((await planned(20, 20))[0]).toBe(0);
  expect((await planned(null, 20))[0]).toBe(20);
});

import { expect, it } from 'vitest';
import { NO_BELIEF } from '../../../src/core/domain/crawl/change/change-belief.ts';
import { groupOf } from '../../../src/core/domain/crawl/hazard/expectation.ts';
import { type HostClock, learntClock, NO_CLOCK } from '../../../src/core/domain/crawl/hazard/host-clock.ts';
import type { SettlePolicy } from '../../../src/core/domain/crawl/revisit/next-visit.ts';
import { createFreshnessSchedule } from '../../../src/core/domain/crawl/schedules/freshness.ts';
import type { CrawlDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { DAY_MS, HOUR_MS } from '../../../src/core/domain/time.ts';
import { type CrawlDb, NO_HOST_FACTS } from '../../../src/core/ports/crawl-db.ts';
import { watchedHostFacts } from '../../../src/core/steps/facts/host-observations.ts';
import { openHazard } from '../../../src/core/steps/generate/hazard-round.ts';
import { visitedDatum } from '../../contracts/crawl-db-exam.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';

const NOW = 1_000 * DAY_MS;
const HOST = 'a.example';
const GROUP = groupOf(`https://${HOST}/docs/`);
const policy = {
  schedule: createFreshnessSchedule(),
  minIntervalMs: HOUR_MS,
  maxIntervalMs: 30 * DAY_MS,
  goneIntervalsMs: [30 * DAY_MS],
} as unknown as SettlePolicy;

/** A page that was seen so many days ago, due in so many days. */
function page(name: string, seenDaysAgo: number, dueInDays: number, part: Partial<CrawlDatum> = {}): CrawlDatum {
  const lastFetchAt = NOW - seenDaysAgo * DAY_MS;
  const nextFetchAt = NOW + dueInDays * DAY_MS;
  const visit = { at: lastFetchAt, outcome: 'unchanged-304', distance: null, elapsedMs: DAY_MS, bytes: 0 } as const;
  const schedule = { intervalMs: nextFetchAt - lastFetchAt, belief: { ...NO_BELIEF, watchedMs: 7 * DAY_MS } };
  return visitedDatum(`https://${HOST}/docs/${name}`, {
    ...{ lastFetchAt, nextFetchAt, failures: 0, fixedIntervalMs: null, lastError: null, state: 'notmodified' },
    schedule,
    visits: [{ ...visit, intervalMs: schedule.intervalMs }],
    ...part,
  });
}

/** The clock after looks at the group a day ago: of four pages seen ten days before, so many had changed. */
function clockAfter(changed: number, pages = 20): HostClock {
  const at = NOW - DAY_MS;
  const looks = Array.from({ length: 4 }, (_, i) => ({
    ...{ group: GROUP, at, elapsedMs: 10 * DAY_MS, changes: Number(i < changed), expected: 0.3, ageMs: null },
  }));
  return learntClock(NO_CLOCK, { looks, pages: new Map([[GROUP, pages]]), visited: new Map([[GROUP, at]]) });
}

async function dbWith(clock: HostClock, pages: readonly CrawlDatum[]): Promise<CrawlDb> {
  const db = createMemoryCrawlDb();
  const expected = new Map([[HOST, { clock, above: 1 / (15 * DAY_MS) }]]);
  await db.write({
    puts: pages.map((datum) => ({ datum, previous: null })),
    hostFacts: [{ host: HOST, facts: { ...NO_HOST_FACTS, clock } }],
    meta: watchedHostFacts(new Map(), expected, policy.maxIntervalMs, NOW),
  });
  return db;
}

async function dueOf(db: CrawlDb, isDry = false): Promise<string[]> {
  const round = await openHazard(db, policy, { now: NOW, until: NOW, fetchBudget: null, isDry });
  const names: string[] = [];
  for await (const { url } of round!.due({ until: NOW, only: 'known' }))
    names.push(url.slice(url.lastIndexOf('/') + 1));
  await db.write(await round!.afterRound([]));
  return names;
}

it('a page whose group was quiet waits, and is moved in the due index; at the longest interval it does not', async () => {
  const db = await dbWith(clockAfter(0), [page('waits', 11, -1), page('cap', 30, 0), page('new', 2, 5)]);
  expect(await dueOf(db)).toEqual(['cap']);
  const [moved] = await db.getMany([`https://${HOST}/docs/waits`]);
  expect(moved?.nextFetchAt).toBeGreaterThan(NOW + DAY_MS - 1);
  expect(moved?.nextFetchAt).toBeLessThanOrEqual(NOW + 19 * DAY_MS);
  expect(moved?.schedule.intervalMs).toBe((moved?.nextFetchAt as number) - (moved?.lastFetchAt as number));
});

it('a dry round moves nothing', async () => {
  const db = await dbWith(clockAfter(0), [page('waits', 11, -1)]);
  expect(await dueOf(db, true)).toEqual([]);
  expect((await db.get(`https://${HOST}/docs/waits`))?.nextFetchAt).toBe(NOW - DAY_MS);
});

it('a group that has changed is pulled forward: four pages, then as many as were looked at', async () => {
  const pages = Array.from({ length: 40 }, (_, i) => page(`p${String(i).padStart(2, '0')}`, 10, 5 + i / 100));
  const db = await dbWith(clockAfter(4), pages);
  expect(await dueOf(db)).toHaveLength(4);
  // The looks of this moment belong to one epoch: it has had 8 visits.
  const at = NOW - HOUR_MS;
  const looks = Array.from({ length: 8 }, () => ({
    ...{ group: GROUP, at, elapsedMs: 10 * DAY_MS, changes: 1, expected: 0.3, ageMs: null },
  }));
  const looked = learntClock(clockAfter(4), { looks, pages: new Map(), visited: new Map([[GROUP, at]]) });
  expect(await dueOf(await dbWith(looked, pages))).toHaveLength(8);
});

it('without changes in its group no page comes before its time', async () => {
  const db = await dbWith(clockAfter(0, 3), [page('a', 10, 5), page('b', 3, 6)]);
  expect(await dueOf(db)).toEqual([]);
});

it('a group that nobody has looked at gives sentinels, once', async () => {
  const clock = clockAfter(0, 200);
  const stale = { ...clock, groups: clock.groups.map((each) => ({ ...each, lookedAt: NOW - 9 * DAY_MS })) };
  const db = await dbWith(stale, [page('a', 20, 2), page('b', 12, 3), page('c', 12, 4)]);
  const sentinels = await dueOf(db);
  expect(sentinels).toHaveLength(2);
  expect(sentinels).toContain('a');
  expect(await dueOf(db)).toEqual([]);
});

it('a visit that was asked for is due at its time, whatever the group says', async () => {
  const touched = page('touched', 5, -0.1, {
    schedule: { intervalMs: 20 * DAY_MS, belief: { ...NO_BELIEF, watchedMs: 70 * DAY_MS } },
  });
  const db = await dbWith(clockAfter(0), [touched, page('fixed', 2, -1, { fixedIntervalMs: DAY_MS })]);
  expect((await dueOf(db)).sort()).toEqual(['fixed', 'touched']);
});

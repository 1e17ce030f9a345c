import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { SettlePolicy } from '../../src/core/domain/crawl/revisit/next-visit.ts';
import { createFixedSchedule } from '../../src/core/domain/crawl/schedules/nutch-schedules.ts';
import { type CrawlDatum, newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { hostOf } from '../../src/core/domain/url/canonical/url-key.ts';
import type { CrawlDb, DueEntry } from '../../src/core/ports/crawl-db.ts';
import { planAhead } from '../../src/query/records/plan.ts';
import { visitedDatum } from '../contracts/crawl-db-exam.ts';
import { createMemoryCrawlDb } from '../memory/crawl-db.ts';
import { openAt, temporaryDir } from '../store/leveldb/temporary-db.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = 100 * DAY;
const policy: SettlePolicy = {
  schedule: createFixedSchedule({ intervalMs: DAY }),
  ...{ minIntervalMs: HOUR, maxIntervalMs: 30 * DAY, retryIntervalMs: DAY, maxRetryIntervalMs: 30 * DAY },
  goneIntervalsMs: [7 * DAY],
};

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
  const plan = await planAhead(db, { now: NOW, days: 2, budgetPerDay: 0, policy });
  expect(plan.days.map(({ due }) => due)).toEqual([25, 24]);
  expect(plan.needPerDay).toBeCloseTo(24, 1);
  expect(plan.hosts).toEqual([
    { host: 'a.example', visits: 48 },
    { host: 'b.example', visits: 1 },
  ]);
});

/** The same forecast from every entry of the due index. */
async function byHand(db: CrawlDb, days: number) {
  const due = new Array<number>(days).fill(0);
  const hosts = new Map<string, number>();
  const end = NOW + days * DAY;
  let [newUrls, rate] = [0, 0];
  for await (const entry of db.due({ until: Number.MAX_SAFE_INTEGER })) {
    const isOnce = entry.failures > 0 || entry.state === 'gone';
    const again = isOnce ? Number.POSITIVE_INFINITY : Math.max(entry.intervalMs, 1_000);
    if (!entry.isNew) rate += DAY / again;
    let visits = entry.isNew && entry.dueAt <= end ? 1 : 0;
    newUrls += visits;
    for (let at = Math.max(entry.dueAt, NOW); !entry.isNew && at < end; at += again, visits++) {
      due[Math.min(days - 1, Math.floor((at - NOW) / DAY))]! += 1;
    }
    if (visits > 0) hosts.set(hostOf(entry.url), (hosts.get(hostOf(entry.url)) ?? 0) + visits);
  }
  return { due, newUrls, rate, hosts };
}

/** What becomes of a URL, one after the other. */
const step = fc.record({
  url: fc.nat({ max: 25 }).map((n) => `https://h${n % 4}.example/${n}`),
  kind: fc.constantFrom('new', 'fetched', 'failed', 'gone', 'removed', 'leased', 'released'),
  hours: fc.integer({ min: -60, max: 400 }),
  intervalHours: fc.integer({ min: 1, max: 200 }),
});

it('says what every entry of the due index would say, whatever was written, on LevelDB as in memory', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 12 }), async (steps, days) => {
      for (const db of [createMemoryCrawlDb(), await openAt(await temporaryDir())]) {
        for (const { url, kind, hours, intervalHours } of steps) {
          const previous = (await db.get(url)) ?? null;
          const put = (datum: CrawlDatum): Promise<void> => db.write({ puts: [{ datum, previous }] });
          const intervalMs = intervalHours * HOUR;
          const next = { nextFetchAt: NOW + hours * HOUR, fixedIntervalMs: null };
          const schedule = { intervalMs, belief: null };
          if (kind === 'new') await put(newDatum({ url, now: NOW - Math.abs(hours) * HOUR, intervalMs }));
          else if (kind === 'fetched')
            await put(visitedDatum(url, { ...next, schedule, state: 'fetched', failures: 0 }));
          else if (kind === 'gone') await put(visitedDatum(url, { ...next, schedule, state: 'gone', failures: 0 }));
          else if (kind === 'failed')
            await put(visitedDatum(url, { ...next, schedule, state: 'unfetched', failures: 2 }));
          else if (kind === 'removed' && previous !== null) await db.write({ deletes: [previous] });
          else if (kind === 'released') await db.write({ release: { segment: 's', urls: [url] } });
          else if (kind === 'leased') {
            const entries: DueEntry[] = [];
            for await (const entry of db.due({ until: NOW })) if (entry.url === url) entries.push(entry);
            await db.write({ lease: { segment: 's', entries } });
          }
        }
        const expected = await byHand(db, days);
        const plan = await planAhead(db, { now: NOW, days, budgetPerDay: 0, policy });
        expect(plan.days.map(({ due }) => due)).toEqual(expected.due);
        expect(plan.days[0]?.newUrls).toBe(expected.newUrls);
        expect(Math.abs(plan.needPerDay - expected.rate)).toBeLessThan(0.0501);
        expect(new Map(plan.hosts.map(({ host, visits }) => [host, visits]))).toEqual(expected.hosts);
        await db.close();
      }
    }),
    { numRuns: 60 },
  );
});

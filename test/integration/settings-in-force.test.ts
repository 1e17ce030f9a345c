import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import { type Crawler, openCrawler } from '../../src/crawler/index.ts';
import { type ChangingSite, startChangingSite, words } from '../site/changing-site.ts';

const DAY = 86_400_000;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
let site: ChangingSite;
let dir = '';
let now = Date.UTC(2026, 5, 1);
beforeEach(async () => {
  site = await startChangingSite({ '/a': words('a'), '/b': words('b') });
  dir = await mkdtemp(join(tmpdir(), 'incrawl-settings-'));
});
afterEach(async () => {
  await site.close();
  await rm(dir, { recursive: true, force: true });
});

async function opened(...settings: string[]): Promise<Crawler> {
  const own = ['fetch.delay=0', 'http.allowAddresses=["127.0.0.1"]', 'fetch.soft404=false', 'sitemaps.mode=off'];
  const config = defaultConfig([...own, ...settings]);
  return openCrawler({ config, dir, log: silent, clock: { now: () => now, sleep: async () => {} } });
}

/** Crawls by these settings; resolves with the days to the next visits. */
async function crawled(...settings: string[]): Promise<number[]> {
  const crawler = await opened(...settings);
  const urls = ['/a', '/b'].map((path) => site.origin + path);
  await crawler.crawl({ seeds: [{ name: 'seeds', lines: urls }] });
  const records = await Promise.all(urls.map((url) => crawler.record(url)));
  await crawler.close();
  return records.map((record) => (Date.parse(record?.nextFetchAt ?? '') - now) / DAY);
}

it.each(['fixed', 'adaptive'])(
  'another interval, bound or schedule moves all next visits with the next command: %s',
  async (name) => {
    const schedule = `schedule.name=${name}`;
    const within = async (settings: string[], least: number, most: number): Promise<void> => {
      for (const days of await crawled(...settings)) {
        expect(days).toBeGreaterThanOrEqual(least);
        expect(days).toBeLessThanOrEqual(most);
      }
    };
    await crawled('schedule.name=fixed', 'schedule.interval=60d', 'schedule.maxInterval=90d');
    await within([schedule, 'schedule.interval=40d', 'schedule.maxInterval=90d'], 30, 60);
    await within([schedule, 'schedule.interval=15d', 'schedule.maxInterval=20d'], 14, 20);
    await within(['schedule.name=freshness', 'schedule.interval=10d'], 8, 12);
    now += 5 * DAY;
    await within(['schedule.name=freshness', 'schedule.interval=10d'], 3, 7);
  },
);

it('readers say what other settings would do, before a round applies them', async () => {
  const old = ['schedule.name=fixed', 'schedule.interval=20d', 'schedule.maxInterval=90d'];
  const fresh = ['schedule.name=fixed', 'schedule.interval=3d', 'schedule.maxInterval=3d'];
  await crawled(...old);
  const said = async (settings: string[]) => {
    const crawler = await opened(...settings);
    const explained = await crawler.explain(`${site.origin}/a`);
    const stats = await crawler.stats();
    const plan = await crawler.plan({ days: 14 });
    await crawler.close();
    const days = (Date.parse(explained.schedule?.nextFetchAt ?? '') - now) / DAY;
    return { days: Math.round(10 * days) / 10, interval: stats.interval, byDay: stats.dueByDay, plan: plan.days };
  };
  const before = await said(old);
  expect(before.days).toBeGreaterThan(17);
  expect(before.plan.every(({ due }) => due === 0)).toBe(true);
  const asked = await said(fresh);
  expect(asked.days).toBe(3);
  expect(asked.interval).toMatchObject({ min: 3 * 86_400, max: 3 * 86_400 });
  expect(asked.plan[3]?.due).toBe(2);
  // Nothing was written, and a round makes it so.
  expect(await said(old)).toEqual(before);
  await crawled(...fresh);
  expect(await said(fresh)).toEqual(asked);
});

it.each(['freshness', 'adaptive'])('other settings keep the first interval that a seed has named: %s', async (name) => {
  const settings = [`schedule.name=${name}`, 'schedule.maxInterval=90d'];
  const crawler = await opened(...settings, 'schedule.interval=20d');
  const [named, plain] = ['/a', '/b'].map((path) => site.origin + path);
  await crawler.crawl({ seeds: [{ name: 'seeds', lines: [`${named}\tinterval=${50 * 86_400}`, plain as string] }] });
  await crawler.close();
  const [ofNamed = 0, ofPlain = 0] = await crawled(...settings, 'schedule.interval=10d');
  expect(ofNamed).toBeCloseTo(50, 0);
  expect(ofPlain).toBeLessThan(15);
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { defaultConfig } from '../../src/config/load.ts';
import { openCrawler } from '../../src/crawler.ts';
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

/** Crawls by these settings; resolves with the days to the next visits. */
async function crawled(...settings: string[]): Promise<number[]> {
  const own = ['fetch.delay=0', 'http.allowAddresses=["127.0.0.1"]', 'fetch.soft404=false', 'sitemaps.mode=off'];
  const config = defaultConfig([...own, ...settings]);
  const crawler = await openCrawler({ config, dir, log: silent, clock: { now: () => now, sleep: async () => {} } });
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

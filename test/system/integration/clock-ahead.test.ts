import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defaultConfig } from '../../../src/core/config/load.ts';
import { type Crawler, openCrawler, repairClock, verifyState } from '../../../src/crawler/index.ts';
import { type ChangingSite, startChangingSite, words } from '../../site/changing-site.ts';
import { json, run } from '../support/binary.ts';

const DAY = 86_400_000;
const SETTINGS = ['fetch.delay=0', 'fetch.soft404=false', 'http.allowAddresses=["127.0.0.1"]'];
const REAL = Date.now();
let site: ChangingSite;
let dir = '';
let now = REAL - 10 * DAY;
const warnings: string[] = [];
const log = { debug: () => {}, info: () => {}, warn: (text: string) => void warnings.push(text), error: () => {} };
const config = defaultConfig(SETTINGS);
const clock = { now: () => now, sleep: async () => {} };

async function crawling<T>(use: (crawler: Crawler) => Promise<T>): Promise<T> {
  warnings.length = 0;
  const crawler = await openCrawler({ config, dir, log, clock });
  try {
    return await use(crawler);
  } finally {
    await crawler.close();
  }
}
const crawl = (...paths: string[]) =>
  crawling((crawler) => crawler.crawl({ seeds: [{ name: 'test', lines: paths.map((path) => site.origin + path) }] }));

beforeAll(async () => {
  site = await startChangingSite(Object.fromEntries(['/a', '/b', '/c'].map((path) => [path, words(`page ${path}`)])));
  dir = await mkdtemp(join(tmpdir(), 'incrawl-ahead-'));
  await crawl('/a');
  now = REAL + 400 * DAY;
  await crawl('/b');
  now = REAL;
});
afterAll(async () => {
  await site.close();
  await rm(dir, { recursive: true, force: true });
});

it('is said at each opening, with how far and what mends it', async () => {
  const { totals } = await crawl('/a', '/b');
  expect(totals.generated).toBe(0);
  const said = warnings.filter((text) => text.includes('repair --clock'));
  expect(said).toHaveLength(1);
  expect(said[0]).toContain('the crawl db was written 400 days after the time of this machine');
  const command = await run(['crawl', `${site.origin}/a`, '--dir', dir, '--allow', '127.0.0.1', '--rounds', '1']);
  expect(command.stderr).toContain('400 days');
});

it('is counted without being changed by a dry run, also of the built program', async () => {
  const summary = await repairClock({ config, dir, log, clock, dryRun: true });
  expect(summary).toMatchObject({ records: 2, changes: 1, segments: 1, dryRun: true });
  expect(Math.round(summary.aheadMs / DAY)).toBe(400);
  const built = await json<typeof summary>(['state', 'repair', '--clock', '--dry-run', '--dir', dir]);
  expect({ ...built, aheadMs: 0 }).toEqual({ ...summary, aheadMs: 0 });
  expect((await repairClock({ config, dir, log, clock, dryRun: true })).records).toBe(2);
});

it('is mended: visits, due times, feed, segments; the crawl goes on', async () => {
  const { stdout, code } = await run(['state', 'repair', '--clock', '--dir', dir]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^The newest time lies 400(\.\d)? d ahead\. Set to now: 2 records/);
  now = Date.now();
  expect(await repairClock({ config, dir, log, clock })).toMatchObject({ aheadMs: 0, records: 0 });
  expect(await verifyState({ config, dir, log, clock })).toMatchObject({ sound: true });
  await crawling(async (crawler) => {
    expect(warnings).toEqual([]);
    for (const path of ['/a', '/b']) {
      const record = await crawler.record(site.origin + path);
      expect(Date.parse(record?.lastFetchAt ?? '')).toBeLessThanOrEqual(now);
      expect(Date.parse(record?.nextFetchAt ?? '')).toBeLessThanOrEqual(now + 90 * DAY);
    }
  });
  now += DAY;
  site.pages.set('/c', words('page c, anew'));
  await crawl('/c');
  const noted: [string, string][] = [];
  await crawling(async (crawler) => {
    for await (const { notedAt, url } of crawler.changes({ notedFrom: now - DAY / 2 })) noted.push([notedAt, url]);
  });
  expect(noted).toEqual([[new Date(now).toISOString(), `${site.origin}/c`]]);
});

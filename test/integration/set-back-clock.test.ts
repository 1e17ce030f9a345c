import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import { type Crawler, openCrawler } from '../../src/crawler/index.ts';
import { type ChangingSite, startChangingSite, words } from '../site/changing-site.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const DAY = 86_400_000;
const JUNE = Date.UTC(2026, 5, 1);
let site: ChangingSite;
let crawler: Crawler;
let dir = '';
let now = JUNE;
const crawl = (path: string) => crawler.crawl({ seeds: [{ name: 'test', lines: [site.origin + path] }] });
const segments = async (): Promise<string[]> => (await crawler.segments()).map(({ id }) => id);

beforeAll(async () => {
  site = await startChangingSite(
    Object.fromEntries(['/a', '/b', '/c', '/d'].map((path) => [path, words(`page ${path}`)])),
  );
  dir = await mkdtemp(join(tmpdir(), 'incrawl-set-back-'));
  const config = defaultConfig([
    'fetch.delay=0',
    'http.allowAddresses=["127.0.0.1"]',
    'fetch.soft404=false',
    'sitemaps.mode=discover',
  ]);
  crawler = await openCrawler({ config, dir, log: silent, clock: { now: () => now, sleep: async () => {} } });
});
afterAll(async () => {
  await crawler?.close();
  await site?.close();
  await rm(dir, { recursive: true, force: true });
});

describe('a clock that was set back', () => {
  it('leaves segments in their order, behind a compacted one too', async () => {
    await crawl('/a');
    now += DAY;
    await crawl('/b');
    await crawler.pruneSegments({ keepMs: 0, compact: true, dryRun: false });
    expect(await segments()).toEqual(['20260602000000-00001-c1']);
    now = JUNE;
    await crawl('/c');
    expect((await crawl('/d')).totals.fetched).toBe(1);
    expect(await segments()).toEqual(['20260602000000-00001-c1', '20260602000000-00002', '20260602000000-00003']);
  });

  it('does not put off what is done by the calendar', async () => {
    const map = (...paths: string[]): string => paths.map((path) => `${site.origin}${path}\n`).join('');
    site.pages.set('/robots.txt', `Sitemap: ${site.origin}/map.txt\n`);
    site.pages.set('/map.txt', map('/a'));
    now = JUNE + 400 * DAY;
    await crawl('/a');
    site.pages.set('/e', words('page e'));
    site.pages.set('/map.txt', map('/a', '/e'));
    now = JUNE + 300 * DAY;
    await crawl('/a');
    expect(await crawler.record(`${site.origin}/e`)).toMatchObject({ state: 'fetched' });
  });
});

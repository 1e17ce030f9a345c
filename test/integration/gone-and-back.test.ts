import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import { type Crawler, openCrawler } from '../../src/crawler/index.ts';
import { type ChangingSite, startChangingSite, words } from '../site/changing-site.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
let site: ChangingSite;
let crawler: Crawler;
let dir = '';
let now = Date.UTC(2026, 5, 1);

beforeAll(async () => {
  site = await startChangingSite({ '/page': words('page'), '/other': words('other') });
  dir = await mkdtemp(join(tmpdir(), 'incrawl-gone-and-back-'));
  const config = defaultConfig(['fetch.delay=0', 'http.allowAddresses=["127.0.0.1"]']);
  crawler = await openCrawler({ config, dir, log: silent, clock: { now: () => now, sleep: async () => {} } });
});
afterAll(async () => {
  await crawler?.close();
  await site?.close();
  await rm(dir, { recursive: true, force: true });
});

async function exported(): Promise<string[]> {
  let text = '';
  const write = async (chunk: string | Uint8Array): Promise<void> => {
    text += chunk;
  };
  await crawler.export({ format: 'jsonl' }, { place: null, write });
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { url: string }).url)
    .sort();
}

it('a gone page whose content was pruned is stored again when it is back unchanged', async () => {
  const urls = ['/other', '/page'].map((path) => site.origin + path);
  const page = urls[1] as string;
  const visit = async (): Promise<void> => {
    now += 86_400_000;
    await crawler.touch([page]);
    await crawler.crawl();
  };
  await crawler.crawl({ seeds: [{ name: 'test', lines: urls }] });
  expect(await exported()).toEqual(urls);
  const body = site.pages.get('/page') as string;
  site.pages.delete('/page');
  await visit();
  await crawler.pruneSegments({ keepMs: 0, compact: true, dryRun: false });
  expect(await crawler.versions(page)).toEqual([]);
  site.pages.set('/page', body);
  await visit();
  expect(await crawler.record(page)).toMatchObject({ state: 'notmodified' });
  expect(await exported()).toEqual(urls);
  // From then on it costs no more than any other page.
  await visit();
  expect((await crawler.record(page))?.visits.at(-1)?.outcome).toMatch(/^unchanged/);
  expect(await exported()).toEqual(urls);
});

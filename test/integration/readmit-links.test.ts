import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import { type Crawler, openCrawler } from '../../src/crawler/index.ts';

const DAY = 86_400_000;
const root = mkdtempSync(join(tmpdir(), 'incrawl-readmit-'));
const LINKS: Record<string, readonly string[]> = {
  '/': ['/a', '/b/1', '/a?id=7'],
  '/a': ['/b/2', '/'],
  '/b/1': ['/b/deep'],
};
let frontPage: readonly string[] | null = null;
const asked: string[] = [];
/** Pages have entity tags and answer 304; only `/` changes, with `frontPage`. */
const server = createServer(({ url = '', headers }, response) => {
  if (url === '/robots.txt') return void response.writeHead(404).end();
  asked.push(url);
  const isNew = url === '/' && frontPage !== null;
  const etag = isNew ? '"2"' : '"1"';
  if (headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end();
  const links = (isNew ? frontPage : LINKS[url]) ?? [];
  response.writeHead(200, { etag, 'content-type': 'text/html' });
  response.end(`<title>${url}</title><p>words of ${url}</p>${links.map((to) => `<a href="${to}">${to}</a>`).join('')}`);
});
let origin = '';
let baseDir = '';
let crawls = 0;
let now = Date.UTC(2026, 5, 1);
const warnings: string[] = [];

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  rmSync(root, { recursive: true, force: true });
});
beforeEach(() => {
  baseDir = join(root, String(crawls++));
  mkdirSync(join(baseDir, 'plugins', 'urlnormalizer-own'), { recursive: true });
  frontPage = null;
  asked.length = 0;
  warnings.length = 0;
  plugins('-/b/');
});

/** Replaces `/b/` by the content of a file. */
const NORMALIZER = `export default {
  name: 'urlnormalizer-own',
  api: 1,
  setup: (host) => {
    const b = host.readTextFile('b.txt');
    return { normalize: (url) => url.replace('/b/', b) };
  },
};`;

function plugins(rules: string, b = '/b/'): void {
  writeFileSync(join(baseDir, 'rules.txt'), `${rules}\n+.\n`);
  writeFileSync(join(baseDir, 'b.txt'), b);
  writeFileSync(join(baseDir, 'plugins', 'urlnormalizer-own', 'plugin.mjs'), NORMALIZER);
  const list = [
    'protocol-http',
    './plugins/urlnormalizer-own',
    'urlfilter-rules: { file: rules.txt }',
    'urlfilter-scope',
    'parse-html',
    'signature-simhash',
    'schedule-fixed',
    'exporter-jsonl',
  ];
  writeFileSync(join(baseDir, 'plugins.yaml'), `plugins:\n${list.map((each) => `  - ${each}\n`).join('')}`);
}

/** Plugins are read when a crawler is opened. */
async function opened<Value>(work: (crawler: Crawler) => Promise<Value>, ...settings: string[]): Promise<Value> {
  const config = defaultConfig([
    'fetch.delay=0',
    'http.allowAddresses=["127.0.0.1"]',
    'schedule.name=fixed',
    ...settings,
  ]);
  const log = { debug: () => {}, info: () => {}, warn: (text: string) => void warnings.push(text), error: () => {} };
  const clock = { now: () => now, sleep: async () => {} };
  const crawler = await openCrawler({ config, baseDir, dir: join(baseDir, 'crawldb'), log, clock });
  try {
    return await work(crawler);
  } finally {
    await crawler.close();
  }
}

const crawl = (options: Parameters<Crawler['crawl']>[0] = {}, ...settings: string[]) =>
  opened((crawler) => crawler.crawl({ seeds: [{ name: 'test', lines: [`${origin}/`] }], ...options }), ...settings);

async function known(): Promise<string[]> {
  return opened(async (crawler) => {
    const urls: string[] = [];
    for await (const { url } of crawler.records()) urls.push(url.slice(origin.length));
    return urls.sort();
  });
}

describe('links of pages that do not change', () => {
  it('come in once the rules let them in, without a request for their pages', async () => {
    expect((await crawl()).readmitted).toBeUndefined();
    expect(await known()).toEqual(['/', '/a', '/a?id=7']);
    plugins('-/c/');
    now += DAY;
    asked.length = 0;
    const { readmitted, rounds } = await crawl();
    expect(readmitted).toMatchObject({ pages: 3, outlinks: 5, newUrls: 2, filteredUrls: 0, isCutShort: false });
    expect(rounds).toHaveLength(2);
    expect(asked.sort()).toEqual(['/b/1', '/b/2', '/b/deep']);
    const record = await opened((crawler) => crawler.record(`${origin}/b/2`));
    expect(record).toMatchObject({ depth: 2, referrer: `${origin}/a`, discoveredAt: new Date(now).toISOString() });
    expect((await crawl()).readmitted).toBeUndefined();
  });

  it('come in by updatedb alone, too, and when it is asked to by name', async () => {
    await crawl();
    plugins('-/b/2');
    expect((await crawl({}, 'updatedb.readmitLinks=off')).readmitted).toBeUndefined();
    const step = await opened(async (crawler) => {
      await crawler.touch([`${origin}/a`]);
      const { segment } = await crawler.generate();
      await crawler.fetch({ segment: segment as string, parse: true });
      return crawler.updatedb();
    });
    expect(step).toMatchObject({ unchanged: 1, newUrls: 0, readmitted: { pages: 3, newUrls: 1, filteredUrls: 1 } });
    expect(step.readmitted?.filteredBy).toEqual({ 'urlfilter-rules: rule line 1': 1 });
    expect(await opened((crawler) => crawler.readmitLinks())).toMatchObject({ pages: 3, newUrls: 0 });
    await expect(opened((crawler) => crawler.readmitLinks(), 'updatedb.additions=false')).rejects.toMatchObject({
      code: 'usage-invalid',
    });
  });

  it('come in when the crawl may go deeper, or grow again', async () => {
    await crawl({ maxLayers: 1 });
    expect(await known()).toEqual(['/']);
    expect((await crawl({ maxLayers: 2 })).readmitted).toMatchObject({ pages: 1, newUrls: 2 });
    expect(await known()).toEqual(['/', '/a', '/a?id=7']);
    frontPage = ['/new', '/a'];
    now += 40 * DAY;
    await crawl({ maxLayers: 1 }, 'updatedb.additions=false');
    plugins('-/c/');
    expect((await crawl({ maxLayers: 1 }, 'updatedb.additions=false')).readmitted).toBeUndefined();
    expect(await known()).not.toContain('/new');
    expect((await crawl({ maxLayers: 2 })).readmitted).toMatchObject({ newUrls: 1 });
    expect(await known()).toContain('/new');
  });

  it('come in by other normalisers, options for links, and hosts of seeds', async () => {
    await crawl();
    plugins('-/b/', '/B/');
    expect((await crawl()).readmitted).toMatchObject({ newUrls: 2 });
    expect((await crawl({}, 'outlinks.maxPerPage=3')).readmitted).toMatchObject({ newUrls: 0 });
    const seeds = [{ name: 'test', lines: [origin.replace('127.0.0.1', '127.0.0.2')] }];
    expect((await crawl({ seeds }, 'outlinks.maxPerPage=3')).readmitted).toBeDefined();
  });

  it('are those of the current versions of the pages', async () => {
    await crawl();
    frontPage = ['/a'];
    now += 40 * DAY;
    expect((await crawl()).totals.modified).toBe(1);
    plugins('-/b/2');
    // Pages that became orphans meanwhile are not judged.
    expect((await crawl()).readmitted).toMatchObject({ pages: 2, newUrls: 0 });
    expect(await known()).toEqual(['/', '/a', '/a?id=7']);
  });

  it('stay with their pages when the rules let in less: a slip makes no orphans', async () => {
    await crawl();
    plugins('-.');
    expect((await crawl()).readmitted).toMatchObject({ pages: 3, newUrls: 0, filteredUrls: 5 });
    plugins('-/b/');
    const { orphans } = await opened(async (crawler) => {
      await crawler.touch([`${origin}/`]);
      const { segment } = await crawler.generate();
      await crawler.fetch({ segment: segment as string, parse: true });
      return crawler.updatedb({ orphans: 'mark' });
    });
    expect(orphans).toBe(0);
    expect(await known()).toEqual(['/', '/a', '/a?id=7']);
  });

  it('are judged again after a signal stopped the last pass', async () => {
    await crawl();
    plugins('-/c/');
    const stop = AbortSignal.abort();
    expect((await crawl({ signal: stop })).readmitted).toMatchObject({ isCutShort: true, newUrls: 0 });
    expect((await crawl()).readmitted).toMatchObject({ isCutShort: false, newUrls: 2 });
  });

  it('do not hold a crawl up when a segment is damaged', async () => {
    await crawl();
    const segments = join(baseDir, 'crawldb', 'segments');
    const [id] = readdirSync(segments).sort();
    const file = join(
      segments,
      id as string,
      readdirSync(join(segments, id as string)).find((name) => name.startsWith('fetched')) as string,
    );
    truncateSync(file, 3);
    appendFileSync(file, 'no record of any kind'.repeat(50));
    plugins('-/c/');
    const { stoppedBy } = await crawl();
    expect(stoppedBy).toBe('nothing-due');
    expect(warnings.join()).toContain('could be checked again');
  });
});

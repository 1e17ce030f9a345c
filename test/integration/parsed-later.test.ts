import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import { type Crawler, openCrawler } from '../../src/crawler/index.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const DAY = 86_400_000;
const baseDir = mkdtempSync(join(tmpdir(), 'incrawl-parsed-later-'));
/** Both files never change, have an entity tag and answer 304. */
const server = createServer(({ url, headers }, response) => {
  if (url !== '/notes.txt' && url !== '/page.html') response.writeHead(404).end();
  else if (headers['if-none-match'] === '"1"') response.writeHead(304, { etag: '"1"' }).end();
  else {
    response.setHeader('etag', '"1"');
    response.setHeader('content-type', url === '/page.html' ? 'text/html' : 'text/plain');
    response.end('Words that stay as they are.');
  }
});
let origin = '';
let now = Date.UTC(2026, 5, 1);

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  mkdirSync(join(baseDir, 'plugins', 'parsefilter-broken'), { recursive: true });
  writeFileSync(
    join(baseDir, 'plugins', 'parsefilter-broken', 'plugin.mjs'),
    `export default { name: 'parsefilter-broken', api: 1, setup: () => ({ content: '', filter: () => { throw new Error('boom'); } }) };`,
  );
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  rmSync(baseDir, { recursive: true, force: true });
});

/** Plugins are read when a crawler is opened. */
async function withPlugins(names: readonly string[], work: (crawler: Crawler) => Promise<void>): Promise<void> {
  const all = ['protocol-http', 'parse-html', ...names, 'signature-simhash', 'schedule-fixed', 'exporter-jsonl'];
  writeFileSync(join(baseDir, 'plugins.yaml'), `plugins:\n${all.map((name) => `  - ${name}\n`).join('')}`);
  const config = defaultConfig(['fetch.delay=0', 'http.allowAddresses=["127.0.0.1"]', 'schedule.name=fixed']);
  const dir = join(baseDir, 'crawldb');
  const clock = { now: () => now, sleep: async () => {} };
  // Above fetch.auditShare, so that no visit is an audit, which asks for the body without a condition.
  const random = () => 0.5;
  const crawler = await openCrawler({ config, baseDir, dir, log: silent, clock, random });
  try {
    await work(crawler);
  } finally {
    await crawler.close();
  }
}

const seen = async (crawler: Crawler, path: string) => {
  const record = await crawler.record(origin + path);
  return [record?.state, record?.lastError?.code ?? null, record?.visits.at(-1)?.outcome];
};

it('an unchanged page that could not be parsed is parsed once its plugin is mended or added', async () => {
  await withPlugins(['parsefilter-broken'], async (crawler) => {
    const lines = ['/notes.txt', '/page.html'].map((path) => origin + path);
    await crawler.crawl({ seeds: [{ name: 'test', lines }] });
    expect(await seen(crawler, '/notes.txt')).toEqual(['parse_failed', 'parse-unsupported', 'parse-failed']);
    expect(await seen(crawler, '/page.html')).toEqual(['parse_failed', 'parse-failed', 'parse-failed']);
  });
  now += 31 * DAY;
  await withPlugins([], async (crawler) => {
    await crawler.crawl();
    // An unsupported type is asked for with its validators, so no body is transferred.
    expect(await seen(crawler, '/notes.txt')).toEqual(['parse_failed', 'parse-unsupported', 'unchanged-304']);
    expect(await seen(crawler, '/page.html')).toEqual(['fetched', null, 'unchanged-digest']);
  });
  await withPlugins(['parse-text'], async (crawler) => {
    await crawler.retry({ state: 'parse_failed' });
    await crawler.crawl();
    expect(await seen(crawler, '/notes.txt')).toEqual(['fetched', null, 'unchanged-digest']);
    let text = '';
    const write = async (chunk: string | Uint8Array): Promise<void> => {
      text += chunk;
    };
    await crawler.export({ format: 'jsonl' }, { place: null, write });
    expect(text.match(/"text":"Words that stay/g)).toHaveLength(2);
  });
});

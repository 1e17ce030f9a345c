import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import { openCrawler } from '../../src/crawler/index.ts';

const DAY = 86_400_000;
const PAGES = 40;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const DATE = 'Thu, 01 Jan 2026 00:00:00 GMT';
/** GETs and HEADs of pages that were answered by 200. */
const answered = { GET: 0, HEAD: 0 };

/**
 * Even pages have an entity tag that is honoured, odd ones a date that is not, as on servers whose pages come from two
 * programs.
 */
const server = createServer((request, response) => {
  const page = Number(/^\/(\d+)$/.exec(request.url ?? '')?.[1] ?? Number.NaN);
  if (!(page < PAGES)) return response.writeHead(404).end();
  const links = Array.from({ length: PAGES }, (_, to) => `<a href="/${to}">to ${to}</a>`).join(' ');
  const body = `<title>${page}</title><p>${`word${page} `.repeat(page + 50)}</p>${links}`;
  const head: Record<string, string> = { 'content-type': 'text/html', 'content-length': String(body.length) };
  if (page % 2 === 0) head.etag = `"${page}"`;
  else head['last-modified'] = DATE;
  if (page % 2 === 0 && request.headers['if-none-match'] === head.etag) return response.writeHead(304, head).end();
  answered[request.method as 'GET' | 'HEAD']++;
  return response.writeHead(200, head).end(request.method === 'HEAD' ? undefined : body);
});
const dir = await mkdtemp(join(tmpdir(), 'incrawl-'));

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(dir, { recursive: true, force: true });
});

it('a host that honours entity tags but no dates is asked by HEAD for dated pages, after three needless bodies', async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  let now = Date.UTC(2026, 5, 1);
  const crawler = await openCrawler({
    config: defaultConfig(['fetch.delay=0', 'http.allowAddresses=["127.0.0.0/8"]', 'fetch.auditShare=0']),
    dir,
    log: silent,
    clock: { now: () => now, sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) },
  });
  const seed = `http://127.0.0.1:${(server.address() as AddressInfo).port}/0`;
  await crawler.crawl({ seeds: [{ name: 'test', lines: [seed] }] });
  expect(answered).toEqual({ GET: PAGES, HEAD: 0 });
  Object.assign(answered, { GET: 0, HEAD: 0 });
  now += 40 * DAY;
  const { totals } = await crawler.crawl();
  await crawler.close();
  expect([totals.notModified, totals.skippedByHeaders]).toEqual([PAGES / 2, PAGES / 2]);
  expect(answered).toEqual({ GET: 3, HEAD: PAGES / 2 - 3 });
});

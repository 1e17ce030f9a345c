import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import { type Crawler, openCrawler } from '../../src/crawler/index.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const dir = mkdtempSync(join(tmpdir(), 'incrawl-host-prior-'));
let now = START;
let crawler: Crawler;
const servers: Server[] = [];

/** Words that share nothing with those of another day. */
const textOf = (path: string, day: number): string =>
  Array.from({ length: 60 }, (_, i) => `word${(i * 7 + day * 61 + path.length) % 977}`).join(' ');

async function host(dayOf: () => number): Promise<string> {
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    if (path === '/robots.txt') return response.writeHead(404).end();
    response.setHeader('content-type', 'text/html');
    return response.end(`<title>${path}</title><p>${textOf(path, dayOf())}</p>`);
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  const overrides = [
    'http.allowAddresses=["127.0.0.1"]',
    'fetch.delay=0s',
    'schedule.interval=4d',
    'schedule.maxInterval=4d',
    'fetch.soft404=false',
  ];
  const config = defaultConfig(overrides);
  const clock = { now: () => now, sleep: async () => {} };
  crawler = await openCrawler({ config, baseDir: dir, dir: join(dir, 'crawldb'), log: silent, clock });
});
afterAll(async () => {
  await crawler.close();
  for (const server of servers) server.close();
  rmSync(dir, { recursive: true, force: true });
});

const seeds = (urls: readonly string[]) => ({ seeds: [{ name: 'test', lines: [...urls] }] });

it('a page found on a host whose pages change comes back sooner than one on a host whose pages do not', async () => {
  const day = () => Math.floor((now - START) / DAY);
  const [lively, still] = [await host(day), await host(() => 0)];
  const known = [1, 2, 3, 4, 5].flatMap((i) => [`${lively}/${i}`, `${still}/${i}`]);
  await crawler.crawl(seeds(known));
  for (let visit = 0; visit < 6; visit++) {
    now += 5 * DAY;
    await crawler.crawl({});
  }
  await crawler.crawl(seeds([`${lively}/new`, `${still}/new`]));
  const [soon, late] = await Promise.all([lively, still].map((origin) => crawler.explain(`${origin}/new`)));
  const period = (of: typeof soon) =>
    of?.schedule?.terms.find(({ label }) => label === 'a change of this page is expected every')?.value as number;
  expect(period(soon)).toBeLessThan(12 * DAY);
  expect(period(late)).toBeGreaterThan(25 * DAY);
  const old = await crawler.explain(`${lively}/1`);
  const expected = old.schedule?.terms.find(({ label }) => label === 'a change of pages like it is expected every');
  expect(expected?.value).toBeLessThan(12 * DAY);
});

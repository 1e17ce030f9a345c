import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { defaultConfig } from '../../src/config/load.ts';
import { type Crawler, openCrawler } from '../../src/crawler.ts';

const DAY = 86_400_000;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const PAGE = `<title>page</title><p>${'words of a page '.repeat(200)}</p><a href="/child">child</a>`;
const DATE = 'Thu, 01 Jan 2026 00:00:00 GMT';

let closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.reverse()) await close();
  closers = [];
});

interface Visited {
  readonly crawler: Crawler;
  readonly origin: string;
  /** Methods and paths in order, robots.txt left out. */
  readonly asked: string[];
  /** Puts the clock on. */
  pass(ms: number): void;
}

/** A crawler with a clock of its own, and a server that has no robots.txt and otherwise answers as told. */
async function visiting(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  ...settings: string[]
): Promise<Visited> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/robots.txt') return void response.writeHead(404).end();
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const dir = await mkdtemp(join(tmpdir(), 'incrawl-'));
  let now = Date.UTC(2026, 5, 1);
  const crawler = await openCrawler({
    config: defaultConfig([
      'fetch.delay=0',
      'fetch.auditShare=0',
      'http.allowAddresses=["127.0.0.0/8"]',
      'http.headTimeout=300ms',
      ...settings,
    ]),
    dir,
    log: silent,
    clock: { now: () => now, sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) },
  });
  closers.push(
    () => rm(dir, { recursive: true, force: true }),
    () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
    () => crawler.close(),
  );
  return {
    crawler,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    pass(ms) {
      now += ms;
    },
  };
}

const seed = (...urls: string[]) => ({ seeds: [{ name: 'test', lines: urls }] });

it('a page whose transfer broke off is fetched whole at the next visit, whatever validators came with its first part', async () => {
  let whole = false;
  const { crawler, origin, pass } = await visiting((request, response) => {
    if (request.url !== '/') return void response.writeHead(404).end();
    if (request.headers['if-none-match'] !== undefined) return void response.writeHead(304).end();
    response.writeHead(200, {
      'content-type': 'text/html',
      'content-length': PAGE.length,
      etag: '"1"',
      'last-modified': DATE,
    });
    if (whole) response.end(PAGE);
    else response.write(PAGE.slice(0, 1000), () => response.destroy());
  });
  await crawler.crawl(seed(`${origin}/`));
  expect(await crawler.record(`${origin}/child`)).toBeNull();
  expect(await crawler.record(`${origin}/`)).toMatchObject({ etag: null, lastModified: null, contentLength: null });
  whole = true;
  pass(60 * DAY);
  await crawler.crawl();
  expect(await crawler.record(`${origin}/child`)).not.toBeNull();
  expect(await crawler.record(`${origin}/`)).toMatchObject({ etag: '"1"', contentLength: PAGE.length });
});

it.each<[string, (response: ServerResponse) => void]>([
  ['never', () => {}],
  ['with a broken connection', (response) => response.destroy()],
  ['with what is no HTTP', (response) => response.socket?.end('what?\r\n\r\n')],
])('a page is visited all the same where HEAD is answered %s, and HEAD is given up', async (_, onHead) => {
  let version = 1;
  const { crawler, origin, asked, pass } = await visiting((request, response) => {
    if (request.method === 'HEAD') return onHead(response);
    const body = PAGE.replaceAll('page', `page${version}`);
    const headers = { 'content-type': 'text/html', 'content-length': body.length, 'last-modified': DATE };
    response.writeHead(request.url === '/a' ? 200 : 404, headers).end(body);
  });
  await crawler.crawl(seed(`${origin}/a`));
  // The date is not honoured, so that HEAD takes the place of conditions.
  for (let visits = 0; visits < 8; visits++) {
    version += visits > 6 ? 9 : 0;
    pass(200 * DAY);
    await crawler.crawl();
  }
  expect(await crawler.record(`${origin}/a`)).toMatchObject({ failures: 0, title: 'page10' });
  expect(new Set(asked.filter((each) => each.endsWith(' /a')).slice(-2))).toEqual(new Set(['GET /a']));
  expect(asked).toContain('HEAD /a');
});

it('a HEAD that is answered by 429 is not followed by a GET', async () => {
  const { crawler, origin, asked, pass } = await visiting((request, response) => {
    if (request.method === 'HEAD') return void response.writeHead(429, { 'retry-after': '3600' }).end();
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': PAGE.length, 'last-modified': DATE });
    response.end(PAGE);
  }, 'fetch.probe=head');
  await crawler.crawl({ ...seed(`${origin}/child`), rounds: 1 });
  pass(200 * DAY);
  await crawler.crawl({ rounds: 1 });
  expect(asked).toEqual(['GET /child', 'HEAD /child']);
  expect(await crawler.record(`${origin}/child`)).toMatchObject({ lastError: { code: 'http-throttled' } });
});

it.each([400, 412, 431])(
  'a page whose conditions are answered by %i is asked for without them after that',
  async (status) => {
    const { crawler, origin, asked, pass } = await visiting((request, response) => {
      if (request.headers['if-none-match'] !== undefined) return void response.writeHead(status).end();
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': PAGE.length, etag: '"a,b"' }).end(PAGE);
    });
    await crawler.crawl({ ...seed(`${origin}/child`), rounds: 1 });
    for (let visits = 0; visits < 2; visits++) {
      pass(200 * DAY);
      await crawler.crawl({ rounds: 1 });
    }
    expect(asked).toHaveLength(3);
    expect(await crawler.record(`${origin}/child`)).toMatchObject({ failures: 0, httpStatus: 200 });
  },
);

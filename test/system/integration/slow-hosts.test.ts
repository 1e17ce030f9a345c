import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { defaultConfig } from '../../../src/core/config/load.ts';
import { type CrawlSummary, openCrawler } from '../../../src/crawler/index.ts';
import { seed } from '../../integration/visiting.ts';

const page = (links: readonly string[]): string =>
  `<title>page</title><p>${'words '.repeat(50)}</p>${links.map((link) => `<a href="${link}">l</a>`).join('')}`;

it('slow hosts do not hold up the others, whose pages are fetched and applied in ordinary time', async () => {
  const asked: { host: string; path: string; at: number }[] = [];
  const delays = new Map<string, number>();
  const server = createServer((request, response) => {
    const { url: path = '', headers } = request;
    const host = headers.host ?? '';
    asked.push({ host, path, at: performance.now() });
    const delay = delays.get(host);
    if (path === '/robots.txt')
      return void response.end(delay === undefined ? '' : `User-agent: *\nCrawl-delay: ${delay}\n`);
    const depth = path.length;
    response.writeHead(200, { 'content-type': 'text/html' }).end(page(depth < 5 ? [`${path}a`, `${path}b`] : []));
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const { port } = server.address() as AddressInfo;
  const hosts = [1, 2, 3, 4, 5].map((n) => `127.0.0.${n}:${port}`);
  const [never, five, ...others] = hosts as [string, string, ...string[]];
  delays.set(never, 999_999);
  delays.set(five, 5);
  const dir = await mkdtemp(join(tmpdir(), 'incrawl-'));
  const settings = [
    'fetch.delay=0',
    'http.allowAddresses=["127.0.0.0/8"]',
    'fetch.hostWait=1s',
    'crawl.hostWait=1s',
    'sitemaps.mode=off',
  ];
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const run = async (seeds: readonly string[]): Promise<CrawlSummary> => {
    const crawler = await openCrawler({ config: defaultConfig(settings), dir, log: silent });
    try {
      return await crawler.crawl(seeds.length === 0 ? {} : seed(...seeds));
    } finally {
      await crawler.close();
    }
  };
  const pagesOf = (host: string): number =>
    asked.filter((each) => each.host === host && each.path !== '/robots.txt').length;
  try {
    const first = await run(hosts.flatMap((host) => [`http://${host}/`, `http://${host}/z`]));
    // 2^5 - 1 pages from `/`, 2^4 - 1 from `/z`.
    for (const host of others) expect(pagesOf(host), host).toBe(31 + 15);
    expect(first.stoppedBy).toBe('hosts-waiting');
    expect(first.waiting?.next.map(({ host }) => host)).toEqual([five, never]);
    for (const before = pagesOf(five); pagesOf(five) < before + 2; ) {
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect((await run([])).stoppedBy).toBe('hosts-waiting');
    }
    expect(pagesOf(never)).toBe(0);
    const times = asked.filter(({ host }) => host === five).map(({ at }) => at);
    for (const [i, at] of times.slice(1).entries()) expect(at - (times[i] as number)).toBeGreaterThanOrEqual(4_999);
  } finally {
    server.closeAllConnections();
    server.close();
    await rm(dir, { recursive: true, force: true });
  }
});

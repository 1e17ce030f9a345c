import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import { openChecker } from '../../src/crawler/index.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

it('checks keep the pause and the Crawl-delay of a host, and request robots.txt once', async () => {
  let now = Date.UTC(2026, 5, 1);
  const asked: (readonly [path: string | undefined, at: number])[] = [];
  const server = createServer((request, response) => {
    asked.push([request.url, now]);
    const robots = 'User-agent: *\nDisallow: /private\nCrawl-delay: 20\n';
    response.setHeader('content-type', 'text/plain').end(request.url === '/robots.txt' ? robots : 'a page');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sleep = async (ms: number): Promise<void> => {
    now += ms;
  };
  const checker = await openChecker({
    config: defaultConfig(['http.allowAddresses=["127.0.0.1"]', 'fetch.delay=5s']),
    log: silent,
    clock: { now: () => now, sleep },
  });
  const start = now;
  expect(await checker.parse({ url: `${origin}/a` })).toMatchObject({ text: 'a page' });
  expect(await checker.robots({ agent: 'incrawl', url: `${origin}/private/a` })).toMatchObject({ allowed: false });
  expect(await checker.robots({ agent: 'incrawl', url: `${origin}/b` })).toMatchObject({ allowed: true });
  await checker.parse({ url: `${origin}/b` });
  expect(asked).toEqual([
    ['/robots.txt', start],
    ['/a', start + 20_000],
    ['/b', start + 40_000],
  ]);
  await checker.close();
  server.close();
});

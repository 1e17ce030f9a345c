import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { DAY, PAGE, seed, visiting } from './visiting.ts';

const HOUR = DAY / 24;

const page = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
};
const throttle = (response: ServerResponse, seconds: number): void => {
  response.writeHead(429, { 'retry-after': String(seconds) }).end();
};

it('a host that asks for an hour of rest with its sitemap has it', async () => {
  let isBusy = true;
  const { crawler, origin, asked, sentAt, now, pass } = await visiting((_request, response) =>
    isBusy ? throttle(response, 3600) : page(response),
  );
  const start = seed(`${origin}/`);
  await crawler.inject(start.seeds);
  const [read] = await crawler.sitemaps([origin]);
  expect(read?.sitemaps).toMatchObject([{ error: 'status 429' }]);
  const restUntil = now() + HOUR;
  expect((await crawler.sitemaps([origin]))[0]?.sitemaps).toMatchObject([
    { error: expect.stringContaining('asked for a pause until') },
  ]);
  await crawler.crawl();
  expect(asked).toEqual(['GET /sitemap.xml']);
  isBusy = false;
  pass(HOUR + 1);
  await crawler.crawl({ rounds: 1 });
  expect(asked).toEqual(['GET /sitemap.xml', 'GET /']);
  expect(sentAt.at(-1)).toBeGreaterThanOrEqual(restUntil);
});

it('a host that asked for an hour of rest as the crawl was stopped has it when the crawl goes on', async () => {
  const stop = new AbortController();
  const { crawler, origin, asked, reopen } = await visiting((_request, response) => {
    stop.abort();
    throttle(response, 3600);
  });
  const start = seed(`${origin}/a`, `${origin}/b`, `${origin}/c`);
  const stopped = await crawler.crawl({ ...start, signal: stop.signal });
  const interrupted = { round: 1, segment: expect.any(String), urls: 3, left: 2 };
  expect(stopped).toMatchObject({ rounds: [], stoppedBy: 'signal', interrupted });
  expect(await (await reopen()).crawl()).toMatchObject({ rounds: [{ segment: expect.any(String) }] });
  expect(asked).toHaveLength(1);
});

it('the rest that a sitemap asks for holds for a list made before, and an older one that is applied later does not end it', async () => {
  const stop = new AbortController();
  let seconds = 120;
  const { crawler, origin, asked, sentAt, now, pass, reopen } = await visiting((_request, response) => {
    stop.abort();
    throttle(response, seconds);
  });
  const start = seed(`${origin}/a`, `${origin}/b`, `${origin}/c`);
  await crawler.crawl({ ...start, signal: stop.signal });
  pass(HOUR / 10);
  seconds = 3600;
  const next = await reopen();
  await next.sitemaps([origin]);
  const restUntil = now() + HOUR;
  const before = asked.length;
  // The segment of the first run, with the pause that it has met, is gone on with and applied.
  await next.crawl();
  expect(asked).toHaveLength(before);
  pass(HOUR / 2);
  await next.crawl();
  expect(asked).toHaveLength(before);
  pass(HOUR / 2 + 1);
  await next.crawl({ rounds: 1 });
  expect(sentAt[before + 1]).toBeGreaterThanOrEqual(restUntil);
});

it('a rest that is short enough to wait for lies between two sitemaps', async () => {
  const { crawler, origin, robots, asked, sentAt } = await visiting((_request, response) => throttle(response, 30));
  robots((_request, response) => response.end(`Sitemap: ${origin}/a.xml\nSitemap: ${origin}/b.xml\n`));
  await crawler.sitemaps([origin]);
  expect(asked).toEqual(['GET /a.xml', 'GET /b.xml']);
  const [, first = 0, second = 0] = sentAt;
  expect(second - first).toBeGreaterThanOrEqual(30_000);
});

it.each([
  ['no copy', false],
  ['an older copy that allows its pages', true],
])('a host that asks for an hour of rest with its robots.txt has it, where there is %s', async (_, hasCopy) => {
  const { crawler, origin, robots, sentAt, now, pass, reopen } = await visiting((_request, response) => page(response));
  if (hasCopy) {
    await crawler.crawl({ rounds: 1, ...seed(`${origin}/known`) });
    pass(2 * DAY);
  }
  robots((_request, response) => throttle(response, 3600));
  const before = sentAt.length;
  await crawler.crawl({ rounds: 1, ...seed(`${origin}/a`, `${origin}/b`) });
  const restUntil = now() + HOUR;
  expect(sentAt.length - before).toBe(1);
  pass(HOUR / 2);
  const next = await reopen();
  await next.crawl(seed(`${origin}/c`));
  expect((await next.sitemaps([origin]))[0]?.sitemaps).toMatchObject([
    { error: expect.stringContaining('asked for a pause until') },
  ]);
  expect(sentAt.length - before).toBe(1);
  robots((_request, response) => response.writeHead(404).end());
  pass(HOUR / 2 + 1);
  await next.crawl({ rounds: 1 });
  expect(sentAt[before + 1]).toBeGreaterThanOrEqual(restUntil);
  expect(await next.record(`${origin}/a`)).toMatchObject({ failures: 0, httpStatus: 200 });
});

it.each<[string, number, (response: ServerResponse) => void]>([
  ['503', 10, (response) => response.writeHead(503).end()],
  ['502', 10, (response) => response.writeHead(502).end()],
  ['connections that break off', 10, (response) => response.destroy()],
  ['500, which may be of each page', 25, (response) => response.writeHead(500).end()],
])('a host that answers all pages by %s is asked for %i of 25 in a round', async (_, times, answer) => {
  const { crawler, origin, asked } = await visiting((_request, response) => answer(response));
  const urls = Array.from({ length: 25 }, (_, i) => `${origin}/${i}`);
  await crawler.crawl({ rounds: 1, ...seed(...urls) });
  expect(new Set(asked).size).toBe(times);
});

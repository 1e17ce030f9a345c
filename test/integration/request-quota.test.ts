import { expect, it } from 'vitest';
import { DAY, PAGE, seed, visiting } from './visiting.ts';

const HOUR = DAY / 24;

it('a host that has no request left for half a minute is asked again after it', async () => {
  const { crawler, origin, asked, sentAt } = await visiting((_request, response) => {
    const left = asked.length === 1 ? 0 : 9;
    response.writeHead(200, { 'content-type': 'text/html', RateLimit: `"default";r=${left};t=30` }).end(PAGE);
  });
  await crawler.crawl({ rounds: 1, ...seed(`${origin}/a`, `${origin}/b`, `${origin}/c`) });
  expect(asked).toHaveLength(3);
  const [, first = 0, second = 0, third = 0] = sentAt;
  expect(second - first).toBeGreaterThanOrEqual(30_000);
  expect(third - second).toBeLessThan(30_000);
});

it('a 429 without Retry-After is obeyed by the reset of its quota, also in the next run', async () => {
  let isBusy = true;
  const { crawler, origin, asked, sentAt, now, pass, reopen } = await visiting((_request, response) => {
    if (!isBusy) return response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
    const reset = Math.floor(now() / 1_000) + 7_200;
    return response.writeHead(429, { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': String(reset) }).end();
  });
  const until = Math.floor(now() / 1_000) * 1_000 + 2 * HOUR;
  await crawler.crawl({ rounds: 1, ...seed(`${origin}/a`, `${origin}/b`) });
  expect(asked).toHaveLength(1);
  isBusy = false;
  pass(HOUR);
  const next = await reopen();
  await next.crawl({ rounds: 1 });
  expect(asked).toHaveLength(1);
  pass(HOUR + 60_000);
  await next.crawl({ rounds: 1 });
  expect(asked.length).toBeGreaterThan(1);
  expect(sentAt[2]).toBeGreaterThanOrEqual(until);
});

it('a 403 that says that no request is left pauses the host as a 429 does', async () => {
  const { crawler, origin, asked, sentAt } = await visiting((_request, response) => {
    const headers = { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '20' };
    if (asked.length === 1) response.writeHead(403, headers).end();
    else response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
  });
  await crawler.crawl({ rounds: 1, ...seed(`${origin}/a`, `${origin}/b`) });
  expect(sentAt[2]! - sentAt[1]!).toBeGreaterThanOrEqual(20_000);
});

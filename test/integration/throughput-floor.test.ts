import { expect, it } from 'vitest';
import { PAGE, seed, visiting } from './visiting.ts';

const FLOOR = ['fetch.throughputThreshold=100', 'fetch.throughputThresholdRetries=1'];

it('a slow fetch ends its round, and later rounds fetch the rest of its list', async () => {
  const { crawler, origin, asked } = await visiting(
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end(PAGE);
    },
    ...FLOOR,
    'fetch.throughputThresholdCheckAfter=0s',
    'fetch.delay=30s',
  );
  const pages = [0, 1, 2, 3, 4, 5].map((n) => `${origin}/${n}`);
  const { rounds, stoppedBy } = await crawler.crawl(seed(...pages));
  expect(stoppedBy).toBe('nothing-due');
  expect(rounds.length).toBeGreaterThan(1);
  expect([...asked].sort()).toEqual(pages.map((url) => `GET ${new URL(url).pathname}`));
  expect(await crawler.stats()).toMatchObject({ leased: 0, urls: 6 });
});

it('a fetch is not checked before its time', async () => {
  // Thousands of checks are a day: they must not pass while a busy machine answers.
  const { crawler, origin, asked } = await visiting(
    {
      pauseMs: 20,
      answer: (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' }).end(PAGE);
      },
    },
    ...FLOOR,
    'fetch.throughputThresholdCheckAfter=1d',
    'fetch.delay=30s',
  );
  const { rounds } = await crawler.crawl(seed(...[0, 1, 2].map((n) => `${origin}/${n}`)));
  expect([rounds.length, asked.length]).toEqual([1, 3]);
});

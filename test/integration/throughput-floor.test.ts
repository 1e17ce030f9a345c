import { expect, it } from 'vitest';
import { PAGE, seed, visiting } from './visiting.ts';

it('a slow fetch ends its round, and later rounds fetch the rest of its list', async () => {
  const { crawler, origin, asked } = await visiting(
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).end(PAGE);
    },
    'fetch.throughputThreshold=100',
    'fetch.delay=2m',
    // Without a floor one round would fetch the list: slow hosts do not end it.
    'fetch.hostWait=1d',
  );
  const pages = [0, 1, 2, 3, 4, 5].map((n) => `${origin}/${n}`);
  const { rounds, stoppedBy } = await crawler.crawl(seed(...pages));
  expect(stoppedBy).toBe('nothing-due');
  expect(rounds.length).toBeGreaterThan(1);
  expect([...asked].sort()).toEqual(pages.map((url) => `GET ${new URL(url).pathname}`));
  expect(await crawler.stats()).toMatchObject({ leased: 0, urls: 6 });
});

it('a fetch is not checked before its time', async () => {
  // A check and a delay take one sleep each. There are more checks than would end the fetch, nearly all of them within
  // its first five minutes; a sleep is long, so that answers of a busy machine add few.
  const { crawler, origin, asked } = await visiting(
    {
      pauseMs: 400,
      answer: (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' }).end(PAGE);
      },
    },
    'fetch.throughputThreshold=100',
    'fetch.delay=30s',
    'fetch.hostWait=1d',
  );
  const { rounds } = await crawler.crawl(seed(...Array.from({ length: 9 }, (_, n) => `${origin}/${n}`)));
  expect([rounds.length, asked.length]).toEqual([1, 9]);
});

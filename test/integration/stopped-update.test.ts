import { expect, it } from 'vitest';
import { PAGE, seed, visiting } from './visiting.ts';

it('a signal ends an update of the crawl db after its batch, and the next run applies the rest', async () => {
  const links = Array.from({ length: 30 }, (_, i) => `<a href="/p${i}">${i}</a>`).join(' ');
  const { crawler, origin, work, reopen } = await visiting(({ url }, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(url === '/' ? links : `${PAGE}<a href="${url}/next">next</a>`);
  }, 'updatedb.chunk=10');
  const stop = new AbortController();
  await crawler.inject([{ name: 'test', lines: [`${origin}/`] }]);
  await crawler.crawl({ rounds: 1 });
  // The signal comes while the first of four batches is applied.
  const isApplying = () => work.some(({ work: what, total }) => what === 'applying the segment' && total === 30);
  const { push } = work;
  work.push = (...items) => {
    const length = push.apply(work, items);
    if (isApplying()) stop.abort();
    return length;
  };
  const stopped = await crawler.crawl({ signal: stop.signal });
  expect(stopped.stoppedBy).toBe('signal');
  expect(stopped.interrupted).toMatchObject({ left: 0 });
  expect(stopped.totals.new).toBe(10);
  const next = await reopen();
  const rest = await next.crawl({ rounds: 1, ...seed() });
  expect(rest.stoppedBy).toBe('rounds');
  expect(rest.totals.new).toBe(20 + 1 + 30);
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { seed, visiting } from './visiting.ts';

/** A site: each of its URLs is a redirect to another one, or a page with links. */
const sites = fc.integer({ min: 2, max: 14 }).chain((size) => {
  const url = fc.nat(size - 1);
  return fc.record({
    urls: fc.array(fc.oneof({ weight: 2, arbitrary: url }, { weight: 1, arbitrary: fc.array(url, { maxLength: 3 }) }), {
      minLength: size,
      maxLength: size,
    }),
    seeds: fc.uniqueArray(url, { minLength: 1, maxLength: 4 }),
    topN: fc.integer({ min: 1, max: 20 }),
  });
});

type Site = typeof sites extends fc.Arbitrary<infer Value> ? Value : never;

async function crawled({ urls, seeds, topN }: Site, followRedirects: boolean) {
  const { crawler, origin, asked } = await visiting((request, response) => {
    const what = urls[Number(request.url?.slice(1))];
    if (typeof what === 'number') response.writeHead(301, { location: `/${what}` }).end();
    else {
      const links = (what ?? []).map((to) => `<a href="/${to}">to ${to}</a>`);
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>${request.url} ${links.join(' ')}`);
    }
  }, `fetch.followRedirects=${followRedirects}`);
  const { rounds, totals } = await crawler.crawl({ ...seed(...seeds.map((each) => `${origin}/${each}`)), topN });
  const records: Record<string, unknown> = {};
  for await (const { url, state, target, visits, seed: isSeed } of crawler.records()) {
    const path = (text: string | null) => text?.slice(origin.length);
    records[path(url) as string] = [state, path(target), visits.length, isSeed];
  }
  const { leased, due } = await crawler.stats();
  const { new: pages, newUrls, redirected, requests, outlinks } = totals;
  const largest = Math.max(...rounds.map(({ generated, followed }) => generated + followed));
  expect(largest).toBeLessThanOrEqual(topN);
  expect([leased, due]).toEqual([0, 0]);
  const counts = { pages, newUrls, redirected, requests, outlinks };
  return { records, counts, asked: [...asked].sort(), rounds: rounds.length };
}

it('a crawl ends with the same crawl db, whether targets wait for the next round or not', async () => {
  await fc.assert(
    fc.asyncProperty(sites, async (site) => {
      const { rounds: fewer, ...followed } = await crawled(site, true);
      const { rounds: more, ...waited } = await crawled(site, false);
      expect(followed).toEqual(waited);
      expect(fewer).toBeLessThanOrEqual(more);
      expect(new Set(followed.asked).size).toBe(followed.asked.length);
    }),
    { numRuns: 12 },
  );
});

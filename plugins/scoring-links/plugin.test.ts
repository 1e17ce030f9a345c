import type { CrawlDatum, Outlink } from 'incrawl/plugin';
import { testPlugin } from 'incrawl/plugin-testing';
import { expect, it } from 'vitest';
import plugin from './plugin.ts';

const DAY = 86_400_000;
const link: Outlink = { url: 'https://a.example/', anchor: 'a', rel: 'link', nofollow: false };

it('links weigh by a power of their number, in the score more than in the worth of a visit', async () => {
  const { inlinkFactors } = await testPlugin(plugin);
  expect(inlinkFactors?.(16)).toEqual({ score: 4, visit: expect.closeTo(2 ** 0.5) });
  const none = await testPlugin(plugin, { options: { scorePower: 0, visitPower: 0 } });
  expect(none.inlinkFactors?.(1_024)).toEqual({ score: 1, visit: 1 });
});

it('a page of a popular one is not popular', async () => {
  const scoring = await testPlugin(plugin);
  const parent = { score: 4, metadata: {} } as unknown as CrawlDatum;
  const popular = { score: 32, metadata: { inlinkScore: 8 } } as unknown as CrawlDatum;
  expect([parent, popular].map((page) => scoring.outlinkScore(page, link, 1))).toEqual([2, 2]);
  expect(scoring.outlinkScore(parent, { ...link, noise: 'menu' }, 1)).toBeCloseTo(0.4);
  expect(scoring.outlinkScore(parent, { ...link, isNextPage: true }, 1)).toBe(4);
});

it('what waits gains on what is popular', async () => {
  const scoring = await testPlugin(plugin);
  const candidate = { url: 'https://a.example/', score: 2, depth: 1, dueAt: 0, intervalMs: DAY };
  expect(scoring.rank({ ...candidate, lastFetchAt: null, failures: 0 }, 3 * DAY)).toBe(8);
});

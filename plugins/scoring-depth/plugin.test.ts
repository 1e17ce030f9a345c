import type { CrawlDatum, Outlink, Scoring } from 'incrawl/plugin';
import { testPlugin } from 'incrawl/plugin-testing';
import { expect, it } from 'vitest';
import plugin from './plugin.ts';

const DAY = 86_400_000;
const link: Outlink = { url: 'https://a.example/', anchor: 'a', rel: 'link', nofollow: false };

/** Depths of new URLs in the order in which they are fetched, all found on pages of a chain of links. */
async function orderOf(order: string): Promise<number[]> {
  const scoring = await testPlugin(plugin, { options: { order } });
  const scores = new Map<number, number>([[0, scoring.seedScore('https://a.example/')]]);
  for (let depth = 1; depth <= 4; depth++) {
    const parent = { score: scores.get(depth - 1) ?? 0 } as CrawlDatum;
    scores.set(depth, scoring.outlinkScore(parent, link, depth));
  }
  // Found and due at one time, but the deep ones have been waiting for longer.
  const rankOf = (depth: number): number =>
    scoring.rank(candidate(scores.get(depth) ?? 0, depth, 10 * DAY - depth * DAY), 10 * DAY);
  return [1, 2, 3, 4].sort((a, b) => rankOf(b) - rankOf(a));
}

const candidate = (score: number, depth: number, dueAt: number): Parameters<Scoring['rank']>[0] => ({
  url: 'https://a.example/',
  score,
  depth,
  dueAt,
  intervalMs: DAY,
  lastFetchAt: null,
  failures: 0,
});

it.each([
  ['breadth-first', [1, 2, 3, 4]],
  ['depth-first', [4, 3, 2, 1]],
])('orders new URLs %s', async (order, expected) => {
  expect(await orderOf(order)).toEqual(expected);
});

it('by priority: half the score with each link, and what waits gains on it', async () => {
  const scoring = await testPlugin(plugin);
  const parent = { score: 4 } as CrawlDatum;
  expect(scoring.outlinkScore(parent, link, 1)).toBe(2);
  expect(scoring.outlinkScore(parent, { ...link, noise: 'menu' }, 1)).toBeCloseTo(0.4);
  expect(scoring.rank(candidate(2, 1, 0), 3 * DAY)).toBe(8);
});

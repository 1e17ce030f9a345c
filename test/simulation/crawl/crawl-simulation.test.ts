import { describe, expect, it } from 'vitest';
import { simulateCrawl } from './simulate.ts';

/** More of them: test/system/simulation, and npm run torture -- --simulate */
const SEEDS = 6;

describe('a crawl of a simulated world', () => {
  it.each(Array.from({ length: SEEDS }, (_, i) => i + 1))('keeps all that it promises, seed %i', async (seed) => {
    const { requests, effects } = await simulateCrawl(seed);
    expect(requests).toBeGreaterThan(0);
    expect(effects).toBeGreaterThan(0);
  });

  it('is the same again for the same seed', async () => {
    expect(await simulateCrawl(7)).toEqual(await simulateCrawl(7));
  });
});

import { expect, it } from 'vitest';
import { simulateCrawl } from '../../simulation/crawl/simulate.ts';

/** More of them: npm run torture -- --simulate */
const SEEDS = 40;

it.each(Array.from({ length: SEEDS }, (_, i) => i + 1))(
  'a crawl of a simulated world keeps all that it promises, seed %i',
  async (seed) => {
    const { requests, effects } = await simulateCrawl(seed);
    expect(requests).toBeGreaterThan(0);
    expect(effects).toBeGreaterThan(0);
  },
);

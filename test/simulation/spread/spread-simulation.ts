import { describe, expect, it } from 'vitest';
import { type SimulatedSpread, simulateSpread } from './simulate-spread.ts';

/** Tests of the first `seeds` simulated crawls in several partitions. */
export function spreadSimulation(seeds: number): void {
  describe('a crawl in several partitions', () => {
    const seen: SimulatedSpread[] = [];

    it.each(Array.from({ length: seeds }, (_, i) => i + 1))('ends as a crawl of one does, seed %i', async (seed) => {
      const spread = await simulateSpread(seed);
      seen.push(spread);
      expect(spread.requests).toBeGreaterThan(0);
      expect(spread.records).toBeGreaterThan(0);
    });

    it('met kills, pauses and links between partitions', () => {
      const sum = (field: keyof SimulatedSpread): number => seen.reduce((total, each) => total + each[field], 0);
      expect(sum('kills')).toBeGreaterThan(seeds);
      expect(sum('pauses')).toBeGreaterThan(seeds / 2);
      expect(sum('takeOvers')).toBeGreaterThan(seeds / 2);
      expect(sum('splits')).toBeGreaterThan(seeds / 2);
      expect(sum('forwarded')).toBeGreaterThan(30 * seeds);
    });
  });
}

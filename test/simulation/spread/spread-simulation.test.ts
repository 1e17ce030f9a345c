import { describe, expect, it } from 'vitest';
import { type SimulatedSpread, simulateSpread } from './simulate-spread.ts';

/**
 * Faults put in by hand are found by some of the first seeds: rows that leave the outbox before they are in the inboxes
 * by 3; requests without a look at the lease by 2; hosts that do not rest after a crash by 1, 2 and 10.
 */
const SEEDS = 40;

describe('a crawl in several partitions', () => {
  const seen: SimulatedSpread[] = [];

  it.each(Array.from({ length: SEEDS }, (_, i) => i + 1))('ends as a crawl of one does, seed %i', async (seed) => {
    const spread = await simulateSpread(seed);
    seen.push(spread);
    expect(spread.requests).toBeGreaterThan(0);
    expect(spread.records).toBeGreaterThan(0);
  });

  it('met kills, pauses and links between partitions', () => {
    const sum = (field: keyof SimulatedSpread): number => seen.reduce((total, each) => total + each[field], 0);
    expect(sum('kills')).toBeGreaterThan(SEEDS);
    expect(sum('pauses')).toBeGreaterThan(SEEDS / 2);
    expect(sum('takeOvers')).toBeGreaterThan(SEEDS / 2);
    expect(sum('forwarded')).toBeGreaterThan(30 * SEEDS);
  });
});

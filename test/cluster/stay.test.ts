import { describe, expect, it } from 'vitest';
import { stay } from '../../src/cluster/partitions/stay.ts';
import { systemClock } from '../../src/operations/system/clock.ts';
import { createMemoryTurns } from '../memory/turns.ts';

const HOUR_MS = 3_600_000;
const leaseMs = 30_000;

describe('a worker that stays where nothing is due', () => {
  it('goes on as soon as a turn is wanted', async () => {
    const turns = createMemoryTurns();
    const staying = stay({ turns, clock: systemClock, signal: new AbortController().signal, leaseMs }, HOUR_MS);
    await turns.want([3]);
    await staying;
    expect((await turns.state()).open).toBe(1);
  });

  it('goes on when a URL falls due, and asks once for each pause', async () => {
    let asked = 0;
    let elapsed = 0;
    const waits: number[] = [];
    const turns = {
      wait: async (ms: number) => {
        waits.push(ms);
        elapsed += ms;
      },
      state: async () => {
        asked++;
        return { open: 0, nextMs: null, workers: 1, failed: [] };
      },
    };
    const clock = { ...systemClock, elapsed: () => elapsed };
    await stay({ turns, clock, signal: new AbortController().signal, leaseMs }, 12_000);
    expect([waits, asked]).toEqual([[5_000, 5_000, 2_000], 3]);
    await stay({ turns, clock, signal: new AbortController().signal, leaseMs }, Number.POSITIVE_INFINITY);
    expect(elapsed).toBe(12_000 + 600_000);
    // So that it is not taken for dead.
    waits.length = 0;
    for (const short of [6_000, 100]) {
      await stay({ turns, clock, signal: new AbortController().signal, leaseMs: short }, 2_000);
    }
    expect(waits).toEqual([2_000, 1_000, 1_000]);
  });

  it('ends at a signal', async () => {
    const end = new AbortController();
    const staying = stay({ turns: createMemoryTurns(), clock: systemClock, signal: end.signal, leaseMs }, HOUR_MS);
    end.abort();
    await staying;
    await stay({ turns: createMemoryTurns(), clock: systemClock, signal: end.signal, leaseMs }, HOUR_MS);
  });
});

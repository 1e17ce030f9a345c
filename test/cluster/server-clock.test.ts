import { describe, expect, it } from 'vitest';
import { serverClock } from '../../src/cluster/workers/server-clock.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A machine whose clock is off, and a server that answers after a while. */
function machine(aheadMs: number, answerAfterMs: number) {
  const world = { time: 1_800_000_000_000, warnings: [] as string[], isAway: false };
  const clock = { now: () => world.time + aheadMs, elapsed: () => world.time, sleep: async () => {} };
  const store = {
    product: 'PostgreSQL',
    async now(): Promise<number> {
      if (world.isAway) throw new Error('away');
      world.time += answerAfterMs / 2;
      const at = world.time;
      world.time += answerAfterMs / 2;
      return at;
    },
  };
  const log = { ...silent, warn: (text: string) => void world.warnings.push(text) };
  return { world, clock: serverClock(clock, { store, name: 'crawl', log }) };
}

describe('the clock of a worker', () => {
  it.each([600_000, -600_000, 2_000, 0])(
    'shows the time of the server, though its own is %i ms ahead',
    async (ahead) => {
      const { world, clock } = machine(ahead, 20);
      await clock.compare();
      expect(clock.now()).toBe(world.time);
      world.time += 1_000;
      await clock.compare();
      expect(clock.now()).toBe(world.time);
      expect(world.warnings).toHaveLength(Math.abs(ahead) > 5_000 ? 1 : 0);
      if (ahead === 600_000) {
        expect(world.warnings[0]).toBe(
          'the clock of this machine is 600 s ahead of that of PostgreSQL, which the crawl goes by',
        );
      }
    },
  );

  it('keeps what it knows where the server is away, or its answer takes too long', async () => {
    const { world, clock } = machine(600_000, 20);
    await clock.compare();
    world.isAway = true;
    await clock.compare();
    expect(clock.now()).toBe(world.time);
    const slow = machine(600_000, 5_000);
    await slow.clock.compare();
    expect(slow.clock.now()).toBe(slow.world.time + 600_000);
  });
});

import { expect, it } from 'vitest';
import type { Clock } from '../../src/core/ports/clock.ts';
import { createHostLanes } from '../../src/http/lanes/host-lanes.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 5, 1);

/** A wall clock that may be set, beside time that passes. */
function settable(): { clock: Clock; set: (byMs: number) => void; elapsed: () => number } {
  let [passed, offset] = [0, START];
  const clock: Clock = {
    now: () => offset + passed,
    elapsed: () => passed,
    sleep: async (ms) => {
      await new Promise(setImmediate);
      passed += ms;
    },
  };
  const set = (byMs: number): void => {
    offset += byMs;
  };
  return { clock, set, elapsed: () => passed };
}

it.each([400 * DAY, -400 * DAY])(
  'a clock set by %d ms moves neither the turns of a host nor its pause',
  async (byMs) => {
    const { clock, set, elapsed } = settable();
    const lanes = createHostLanes({ clock, concurrency: 5, connectionsPerHost: 1, defaultDelayMs: 5_000 });
    const starts: number[] = [];
    const turn = () => lanes.run('a.org', async () => void starts.push(elapsed()));
    await turn();
    set(byMs);
    await turn();
    lanes.pauseUntil('a.org', clock.now() + 60_000);
    set(byMs);
    await turn();
    expect(starts).toEqual([0, 5_000, 65_000]);
    expect(lanes.resting()).toEqual([['a.org', clock.now() + 5_000]]);
  },
);

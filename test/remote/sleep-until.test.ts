import { expect, it } from 'vitest';
import { sleepUntil } from '../../src/remote/schedule/sleep-until.ts';

/**
 * Waits 100 ms on a clock that is set back by so much in the first sleep; gives the sleeps, and when the wait
 * ended.
 */
async function waited(setBackMs: number) {
  const sleeps: number[] = [];
  let [now, elapsed] = [Date.UTC(2026, 0, 1), 0];
  const until = now + 100;
  const clock = {
    now: () => now,
    elapsed: () => elapsed,
    sleep: async (ms: number) => {
      now += ms - (sleeps.length === 0 ? setBackMs : 0);
      elapsed += ms;
      sleeps.push(ms);
    },
  };
  await sleepUntil(until, new AbortController().signal, clock);
  return { sleeps, lateMs: now - until };
}

it('a wait ends with its timer when the clock was set back: its end was a time of the old clock', async () => {
  expect(await waited(3_600_000)).toEqual({ sleeps: [100], lateMs: -3_600_000 });
});

it('a wait goes on to its end when the clock is corrected a little', async () => {
  expect(await waited(50)).toEqual({ sleeps: [100, 50], lateMs: 0 });
});

import { afterEach, expect, it, vi } from 'vitest';
import { sleepUntil } from '../../../src/cli/schedule/sleep-until.ts';

afterEach(() => void vi.restoreAllMocks());

it('a wait ends with its timer when the clock was set back: its end was a time of the old clock', async () => {
  const real = Date.now;
  let setBackMs = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => real() - setBackMs);
  const wait = sleepUntil(Date.now() + 100, new AbortController().signal);
  setBackMs = 3_600_000;
  await wait;
});

it('a wait goes on to its end when the clock is corrected a little', async () => {
  const real = Date.now;
  let setBackMs = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => real() - setBackMs);
  const until = Date.now() + 100;
  const wait = sleepUntil(until, new AbortController().signal);
  setBackMs = 50;
  await wait;
  expect(Date.now()).toBeGreaterThanOrEqual(until);
});

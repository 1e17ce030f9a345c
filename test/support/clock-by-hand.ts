import type { Clock } from '../../src/core/ports/clock.ts';

export interface ClockByHand extends Clock {
  /** Puts the clock on: whoever waits until then goes on. */
  pass(ms: number): void;
}

/** A pause of this length or less is one of the crawler itself, ms. */
const PAUSE_MS = 600_000;

/** A clock that stands still: it jumps to the end of a short pause, while a longer wait lasts until `pass` ends it. */
export function clockByHand(now = Date.now()): ClockByHand {
  let waiting: { readonly until: number; readonly wake: () => void }[] = [];
  return {
    now: () => now,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      if (ms <= PAUSE_MS) {
        await new Promise(setImmediate);
        now += Math.max(0, ms);
        return;
      }
      await new Promise<void>((wake, reject) => {
        waiting.push({ until: now + ms, wake });
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    },
    pass(ms) {
      now += ms;
      const [due, later] = [waiting.filter(({ until }) => until <= now), waiting.filter(({ until }) => until > now)];
      waiting = later;
      for (const { wake } of due) wake();
    },
  };
}

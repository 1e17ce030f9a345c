import { setTimeout as delay } from 'node:timers/promises';
import { HOUR_MS } from '../../core/domain/time.ts';
import type { Clock } from '../../crawler/index.ts';

/**
 * The longest wait of one timer: this way a clock that was set, or a machine that slept, is noticed within the hour.
 */
const MAX_TIMER_MS = HOUR_MS;

/** A clock that is this far behind was set back, ms. Smaller corrections are normal. */
export const SET_BACK_MS = 60_000;

/**
 * Resolves at `at`, ms since the epoch, or when the signal aborts. Resolves early if the clock was set back: by the new
 * clock `at` may be years away.
 */
export async function sleepUntil(at: number, signal: AbortSignal, clock: Clock = MACHINE_CLOCK): Promise<void> {
  const ahead = (): number => clock.now() - (clock.elapsed?.() ?? clock.now());
  const aheadMs = ahead();
  const isSetBack = (): boolean => ahead() < aheadMs - SET_BACK_MS;
  while (!signal.aborted && clock.now() < at && !isSetBack()) {
    await clock.sleep(Math.min(MAX_TIMER_MS, at - clock.now()), signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}

/** Without store and network, which a question need not load. */
const MACHINE_CLOCK: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  sleep: (ms, signal) => delay(Math.max(0, ms), undefined, signal === undefined ? {} : { signal }),
};

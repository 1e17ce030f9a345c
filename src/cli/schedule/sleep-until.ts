import { HOUR_MS } from '../../domain/time.ts';

/** The longest wait of one timer: a clock that was set, or a machine that slept, is noticed within the hour. */
const MAX_TIMER_MS = HOUR_MS;

/** A clock that is this much behind was set back, ms. Smaller corrections are normal. */
export const SET_BACK_MS = 60_000;

/**
 * Resolves at `at`, ms since the epoch, or when the signal aborts. Resolves early when the clock has been set back: by
 * the new clock `at` may be years away.
 */
export async function sleepUntil(at: number, signal: AbortSignal): Promise<void> {
  const aheadMs = Date.now() - performance.now();
  const isSetBack = (): boolean => Date.now() - performance.now() < aheadMs - SET_BACK_MS;
  while (!signal.aborted && Date.now() < at && !isSetBack()) {
    const waitMs = Math.min(MAX_TIMER_MS, at - Date.now());
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, waitMs));
      signal.addEventListener('abort', done, { once: true });
    });
  }
}

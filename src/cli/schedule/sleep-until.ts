/** The longest wait of one timer; further ones follow, so that a clock that was set or a machine that slept is noticed within the hour. */
const MAX_TIMER_MS = 3_600_000;

/** Resolves at `at`, ms since the epoch, or when the signal comes. */
export async function sleepUntil(at: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && Date.now() < at) {
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

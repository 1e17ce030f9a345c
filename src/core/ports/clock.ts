/** The time source of the crawl. Its wall time may be set at any moment, forwards and backwards. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Milliseconds since any moment, for spans, pauses and deadlines: not moved when the clock is set. Absent: `now` is
   * not set either, or only backwards.
   */
  elapsed?(): number;
  /**
   * Resolves after `ms` of this clock's time (at once for `ms <= 0`); rejects with the signal's reason when aborted.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The time by which spans are measured. */
export const elapsedOf = (clock: Clock): number => clock.elapsed?.() ?? clock.now();

/** The time source of the crawl. A simulated clock may jump between calls, never backwards. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Resolves after `ms` of this clock's time (at once for `ms <= 0`); rejects with the signal's reason when aborted.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

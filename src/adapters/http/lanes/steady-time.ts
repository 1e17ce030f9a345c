import type { Clock } from '../../../ports/clock.ts';

/**
 * The time of a clock, going on from where it was when the clock is set back: otherwise hosts would be waited for until
 * the clock has caught up.
 */
export class SteadyTime {
  readonly #clock: Clock;
  #behindMs = 0;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Never less than before. */
  now(): number {
    const clockNow = this.#clock.now();
    if (clockNow + this.#behindMs < this.#latest) this.#behindMs = this.#latest - clockNow;
    this.#latest = clockNow + this.#behindMs;
    return this.#latest;
  }

  /** By how much the clock has been set back, ms. */
  behindMs(): number {
    this.now();
    return this.#behindMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms, signal);
  }
}

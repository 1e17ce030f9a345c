import type { Clock } from '../../core/ports/clock.ts';

/**
 * Time that is not moved when a clock is set: otherwise hosts would be waited for until a clock that was set back has
 * caught up, or be asked without a pause when it is set forward. A clock without `elapsed` goes on from where it was
 * when it is set back.
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
    if (this.#clock.elapsed !== undefined) return this.#clock.elapsed();
    const clockNow = this.#clock.now();
    if (clockNow + this.#behindMs < this.#latest) this.#behindMs = this.#latest - clockNow;
    this.#latest = clockNow + this.#behindMs;
    return this.#latest;
  }

  /** By how much the clock is behind this time, ms. */
  behindMs(): number {
    return this.now() - this.#clock.now();
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms, signal);
  }
}

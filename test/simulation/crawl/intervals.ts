import type { VirtualClock } from './virtual-clock.ts';

/**
 * Puts `setInterval` onto a virtual clock: heartbeats of locks beat in its time, and end with their process.
 * @returns undoes it
 */
export function takeIntervals(clock: VirtualClock): () => void {
  const { setInterval: system, clearInterval: clear } = globalThis;
  class Beat {
    readonly end: () => void;

    constructor(end: () => void) {
      this.end = end;
    }

    unref(): this {
      return this;
    }
  }
  const replacement = (call: () => void, ms: number): Beat => new Beat(clock.every(ms, call));
  globalThis.setInterval = replacement as unknown as typeof setInterval;
  globalThis.clearInterval = ((beat: unknown) => {
    if (beat instanceof Beat) beat.end();
    else clear(beat as NodeJS.Timeout);
  }) as typeof clearInterval;
  return () => {
    globalThis.setInterval = system;
    globalThis.clearInterval = clear;
  };
}

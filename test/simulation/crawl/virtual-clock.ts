import type { Clock } from '../../../src/core/ports/clock.ts';

/** How a piece of work ended under {@link VirtualClock.drive}. */
export type Ended<Value> = { readonly value: Value } | 'crashed';

interface Timer {
  readonly at: number;
  readonly order: number;
  /** A timer that repeats for ever, such as a heartbeat: it does not keep the world going. */
  readonly isBackground: boolean;
  readonly ring: () => void;
}

/** Taken before anything replaces them. */
const immediately = setImmediate;
const later = setTimeout;

/** Real time for which work may be outside of the simulation (a module that loads) before it counts as stuck, ms. */
const OUTSIDE_LIMIT_MS = 3_000;
const OUTSIDE_STEP_MS = 5;

/**
 * A clock that stands still while anything can be done, and then jumps to its next timer. Timers of one moment ring one
 * by one, in the order in which they were set, so that a run depends on nothing but its seed.
 */
export class VirtualClock implements Clock {
  #now: number;
  #timers: Timer[] = [];
  #orders = 0;

  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (ms <= 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const give = (): void => {
        this.#remove(timer);
        reject(signal?.reason);
      };
      const timer = this.#add(ms, false, () => {
        signal?.removeEventListener('abort', give);
        resolve();
      });
      signal?.addEventListener('abort', give, { once: true });
    });
  }

  /** Calls again and again; the returned function ends it. */
  every(ms: number, call: () => void): () => void {
    let timer: Timer;
    const set = (): void => {
      timer = this.#add(Math.max(1, ms), true, () => {
        set();
        call();
      });
    };
    set();
    return () => this.#remove(timer);
  }

  /** Time passes while no process runs. */
  skip(ms: number): void {
    this.#now += ms;
  }

  /** The process has ended: its timers never ring. */
  forget(): void {
    this.#timers = [];
  }

  /**
   * Lets the work go on until it has settled or the process is down. Throws when nothing is left to happen, and the
   * work waits all the same.
   */
  async drive<Value>(work: Promise<Value>, isDown: () => boolean): Promise<Ended<Value>> {
    let settled: { readonly value: Value } | { readonly error: unknown } | null = null;
    work.then(
      (value) => {
        settled = { value };
      },
      (error: unknown) => {
        settled = { error };
      },
    );
    const read = (): typeof settled => settled;
    for (let outside = 0; ; ) {
      await idle();
      if (isDown()) {
        await idle();
        return 'crashed';
      }
      const end = read();
      if (end !== null) {
        if ('error' in end) throw end.error;
        return end;
      }
      if (this.#ringNext()) outside = 0;
      else if (outside >= OUTSIDE_LIMIT_MS) throw new Error('the crawl waits, and nothing is left that could happen');
      else {
        outside += OUTSIDE_STEP_MS;
        await new Promise((resolve) => later(resolve, OUTSIDE_STEP_MS));
      }
    }
  }

  #ringNext(): boolean {
    if (this.#timers.every(({ isBackground }) => isBackground)) return false;
    let next = this.#timers[0] as Timer;
    for (const timer of this.#timers) {
      if (timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer;
    }
    this.#remove(next);
    this.#now = Math.max(this.#now, next.at);
    next.ring();
    return true;
  }

  #add(ms: number, isBackground: boolean, ring: () => void): Timer {
    const timer = { at: this.#now + ms, order: this.#orders++, isBackground, ring };
    this.#timers.push(timer);
    return timer;
  }

  #remove(timer: Timer): void {
    const at = this.#timers.indexOf(timer);
    if (at !== -1) this.#timers.splice(at, 1);
  }
}

/** Resolves when all that can go on without a timer has done so: I/O of the simulation settles in microtasks. */
async function idle(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => immediately(resolve));
}

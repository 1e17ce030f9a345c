import type { Clock } from '../../../src/core/ports/clock.ts';
import type { VirtualClock } from '../crawl/virtual-clock.ts';

/** What happens to a worker at one of its effects on rows, segments or the network. */
export type Blow = { readonly kind: 'kill' } | { readonly kind: 'pause'; readonly ms: number };

/** Kinds of effects. */
export type Effect = 'append' | 'batch' | 'request';

/** What a dead worker waits for. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {});

/** A worker as the world sees it: it runs, stands still for a time, or is dead. */
export class WorkerLife {
  readonly name: string;
  readonly #clock: VirtualClock;
  #isDead = false;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Effects that are left until the blow. */
  #left: number;
  readonly #kind: Effect | undefined;
  readonly #blow: Blow | null;
  readonly #onDeath: () => void;

  constructor(
    name: string,
    clock: VirtualClock,
    fate: { readonly effects: number; readonly kind: Effect | undefined; readonly blow: Blow } | null,
    onDeath: () => void,
  ) {
    this.name = name;
    this.#clock = clock;
    this.#left = fate?.effects ?? Number.POSITIVE_INFINITY;
    this.#kind = fate?.kind;
    this.#blow = fate?.blow ?? null;
    this.#onDeath = onDeath;
  }

  get isRunning(): boolean {
    return !this.#isDead && this.#clock.now() >= this.#pausedUntil;
  }

  /** Resolves when the worker runs; never, once it is dead. */
  async gate(): Promise<void> {
    while (!this.isRunning) {
      if (this.#isDead) return never();
      await this.#clock.sleep(this.#pausedUntil - this.#clock.now());
    }
  }

  /** Counts an effect. `true`: the worker is struck in it. */
  isStruck(effect: Effect): boolean {
    if (this.#isDead || this.#blow === null || (this.#kind !== undefined && this.#kind !== effect)) return false;
    if (--this.#left !== 0) return false;
    if (this.#blow.kind === 'pause') this.#pausedUntil = this.#clock.now() + this.#blow.ms;
    else {
      this.#isDead = true;
      this.#onDeath();
    }
    return true;
  }

  /** The clock of the world, which a worker that does not run does not hear. */
  clock(): Clock {
    return {
      now: () => this.#clock.now(),
      sleep: async (ms, signal) => {
        try {
          await this.#clock.sleep(ms, signal);
        } finally {
          await this.gate();
        }
      },
    };
  }
}

import type { Log } from '../../core/ports/log.ts';
import type { StoreRefusal } from '../ports/shared-store.ts';

/**
 * Pauses between two attempts, ms. They grow with the time: each attempt may fetch from a host, and the response is
 * lost.
 */
const LEAST_MS = 10_000;
const MOST_MS = 60_000;
const SAID_MS = 60_000;
/**
 * Time after which a worker that does not stay ends, ms. Within a few minutes space is freed, or another server takes
 * over; otherwise the operator has to act, and learns of it from the exit code.
 */
export const REFUSED_MS = 5 * 60_000;

export interface RefusalsDeps {
  /** Monotonic, ms. */
  elapsed(): number;
  readonly log: Pick<Log, 'warn'>;
}

/** What a worker remembers of a server that takes no writes, until a turn succeeds. */
export class Refusals {
  readonly #deps: RefusalsDeps;
  readonly #stays: boolean;
  #first: { readonly error: StoreRefusal; readonly at: number } | null = null;
  #saidAt = Number.NEGATIVE_INFINITY;

  constructor(deps: RefusalsDeps, stays: boolean) {
    this.#deps = deps;
    this.#stays = stays;
  }

  /** The pause before the next attempt, ms. */
  add(error: StoreRefusal): number {
    const now = this.#deps.elapsed();
    this.#first ??= { error, at: now };
    if (now - this.#saidAt >= SAID_MS) {
      this.#saidAt = now;
      this.#deps.log.warn('waiting for a server that takes no writes', { error: `${error.code}: ${error.message}` });
    }
    return Math.min(MOST_MS, Math.max(LEAST_MS, now - this.#first.at));
  }

  end(): void {
    this.#first = null;
  }

  /** Throws the error if it has lasted too long. */
  check(): void {
    const first = this.#first;
    if (first !== null && !this.#stays && this.#deps.elapsed() - first.at >= REFUSED_MS) throw first.error;
  }
}

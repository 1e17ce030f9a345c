import type { Log } from '../../core/ports/log.ts';
import type { StoreRefusal } from '../ports/shared-store.ts';

/** Pauses between two tries, ms. They grow as the time does: each try may ask a host, whose answer is lost. */
const LEAST_MS = 10_000;
const MOST_MS = 60_000;
const SAID_MS = 60_000;
/**
 * Time after which a worker that does not stay ends, ms. Space is made, or another server takes over, in a few minutes;
 * otherwise the operator has to see to it, and learns it from the exit code.
 */
export const REFUSED_MS = 5 * 60_000;

export interface RefusalsDeps {
  /** Monotonic, ms. */
  elapsed(): number;
  readonly log: Pick<Log, 'warn'>;
}

/** What a worker remembers of a server that takes no writes, until a turn goes well. */
export class Refusals {
  readonly #deps: RefusalsDeps;
  readonly #stays: boolean;
  #first: { readonly error: StoreRefusal; readonly at: number } | null = null;
  #saidAt = Number.NEGATIVE_INFINITY;

  constructor(deps: RefusalsDeps, stays: boolean) {
    this.#deps = deps;
    this.#stays = stays;
  }

  /** The pause before the next try, ms. */
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

  /** Throws what has lasted too long. */
  check(): void {
    const first = this.#first;
    if (first !== null && !this.#stays && this.#deps.elapsed() - first.at >= REFUSED_MS) throw first.error;
  }
}

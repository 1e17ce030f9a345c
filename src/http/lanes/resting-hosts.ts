import { type HostTurn, quietUntil } from '../../core/domain/crawl/revisit/next-visit.ts';

/** What has to be known of a host between two of its tasks. */
export interface Rest extends Pick<HostTurn, 'lastEndAt' | 'delayMs' | 'pausedUntil'> {
  delayMs: number;
}

/** Rests are looked through for those that are over whenever this many have come. */
const SWEEP_EVERY = 1000;

/** Hosts without tasks that must not be contacted yet, by name. A rest that is over is forgotten in time. */
export class RestingHosts {
  readonly #rests = new Map<string, Rest>();
  #sweepAt = SWEEP_EVERY;

  get(host: string): Rest | undefined {
    return this.#rests.get(host);
  }

  /** The rest of a host that has a task again. */
  take(host: string): Rest | undefined {
    const rest = this.#rests.get(host);
    if (rest !== undefined) this.#rests.delete(host);
    return rest;
  }

  /** Nothing is kept of a host whose time has come. */
  put(host: string, turn: Rest, now: number): void {
    if (quietUntil(turn) <= now) return;
    const { lastEndAt, delayMs, pausedUntil } = turn;
    this.#rests.set(host, { lastEndAt, delayMs, pausedUntil });
    if (this.#rests.size < this.#sweepAt) return;
    for (const [each, rest] of this.#rests) if (quietUntil(rest) <= now) this.#rests.delete(each);
    this.#sweepAt = this.#rests.size + SWEEP_EVERY;
  }

  [Symbol.iterator](): IterableIterator<[string, Rest]> {
    return this.#rests[Symbol.iterator]();
  }
}

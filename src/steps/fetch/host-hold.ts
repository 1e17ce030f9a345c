import { type Clock, elapsedOf } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

/** How long a fetch waits for its hosts. */
export interface HostWaits {
  /**
   * For the hosts that are still at work, from the moment that a host has nothing left and too few remain to use all
   * connections, ms. No turn that comes later is waited for while several hosts are at work. Infinity: a host that is
   * done ends nothing.
   */
  readonly hostWaitMs: number;
  /** For the next turn of a host, at most, ms. */
  readonly turnWaitMs: number;
  /** Hosts that can use all connections: while so many are at work, no host holds the others up. Absent: any number. */
  readonly busyHosts?: number;
  /** End of the fetch, as {@link elapsedOf}; absent: none is set. */
  readonly endsAt?: number;
}

interface HoldDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the other hosts have waited long enough. */
  readonly stop: () => void;
}

/**
 * Keeps a fetch from being held open by its slowest hosts: the results of the others wait for its end. What is left
 * of a slow host is due as before.
 */
export class HostHold {
  readonly #deps: HoldDeps;
  readonly #waits: HostWaits;
  /** Tasks of each host at work. */
  readonly #tasks = new Map<string, number>();
  readonly #late = new Map<string, number>();
  /** As {@link elapsedOf}. */
  #deadline = Number.POSITIVE_INFINITY;

  constructor(deps: HoldDeps, waits: HostWaits) {
    this.#deps = deps;
    this.#waits = waits;
  }

  /** Hosts left because of their next turn, and the earliest time of that turn, ms since the epoch. */
  get late(): ReadonlyMap<string, number> {
    return this.#late;
  }

  begin(host: string): void {
    this.#tasks.set(host, (this.#tasks.get(host) ?? 0) + 1);
    if (this.#isBusy) this.#deadline = Number.POSITIVE_INFINITY;
  }

  end(host: string): void {
    const left = (this.#tasks.get(host) ?? 0) - 1;
    if (left > 0) this.#tasks.set(host, left);
    else {
      this.#tasks.delete(host);
      if (this.#tasks.size > 0 && !this.#isBusy) this.#holdNoLonger();
    }
    if (this.#tasks.size > 0 && elapsedOf(this.#deps.clock) >= this.#deadline) this.#stop();
  }

  /** The latest turn of a host that is waited for now, ms since the epoch. */
  readonly latest = (): number => {
    const { hostWaitMs, turnWaitMs, endsAt = Number.POSITIVE_INFINITY } = this.#waits;
    const waitMs = this.#tasks.size > 1 ? Math.min(hostWaitMs, turnWaitMs) : turnWaitMs;
    const { clock } = this.#deps;
    const left = Math.min(this.#deadline, endsAt) - elapsedOf(clock);
    return clock.now() + Math.min(left, waitMs);
  };

  /** A host whose turn at `at` is too late. */
  leave(host: string, at: number): void {
    if (!this.#late.has(host)) {
      const until = new Date(at).toISOString();
      this.#deps.log.info('the next turn of this host is too late for this round: its URLs stay due', { host, until });
    }
    this.#late.set(host, at);
  }

  get #isBusy(): boolean {
    return this.#tasks.size >= (this.#waits.busyHosts ?? Number.POSITIVE_INFINITY);
  }

  /** From now on the hosts that are done wait for the others. */
  #holdNoLonger(): void {
    this.#deadline = Math.min(this.#deadline, elapsedOf(this.#deps.clock) + this.#waits.hostWaitMs);
  }

  #stop(): void {
    const { log, stop } = this.#deps;
    const hosts = [...this.#tasks.keys()];
    log.info('the round has waited for its slower hosts (fetch.hostWait): their remaining URLs stay due', {
      hosts: hosts.length,
      host: hosts.slice(0, 10).join(' '),
    });
    this.#deadline = Number.POSITIVE_INFINITY;
    stop();
  }
}

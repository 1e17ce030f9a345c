import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { CrawlError } from '../../core/domain/errors.ts';
import type { SharedStore } from '../ports/shared-store.ts';

export interface WriteLeaseOptions {
  readonly store: Pick<SharedStore, 'product' | 'leases'>;
  readonly name: string;
  /** Time after which a holder without a heartbeat loses the lease, ms. */
  readonly leaseMs: number;
  /** Time to wait for another holder, ms; 0: not at all. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Id of the worker that takes it. */
  readonly worker?: string | undefined;
}

const POLL_MS = 100;

/** The right to write the rows of a name. One process at a time holds and renews it. */
export class WriteLease {
  readonly token: string;
  readonly #store: WriteLeaseOptions['store'];
  readonly #name: string;
  readonly #who: string;
  readonly #leaseMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #lost = new AbortController();
  /** Time of the last heartbeat that the server has acknowledged, by the monotonic clock. */
  #keptAt: number;

  private constructor({ store, name, leaseMs }: WriteLeaseOptions, who: string, token: string, takenAt: number) {
    this.#store = store;
    this.#name = name;
    this.#who = who;
    this.#leaseMs = leaseMs;
    this.#keptAt = takenAt;
    this.token = token;
    this.#timer = setInterval(() => void this.#keep(), leaseMs / 3).unref();
  }

  /**
   * Rejects with `CrawlError('db-locked')`, naming the holder, when the lease was not free in time, and with the
   * signal's reason.
   */
  static async take(options: WriteLeaseOptions): Promise<WriteLease> {
    const { store, name, leaseMs, waitMs, signal, worker } = options;
    const who = JSON.stringify({ host: hostname(), pid: process.pid, id: randomUUID(), worker });
    const startedAt = performance.now();
    for (;;) {
      signal?.throwIfAborted();
      const sentAt = performance.now();
      const reply = await store.leases.take(name, who, leaseMs);
      if ('token' in reply) return new WriteLease(options, who, reply.token, sentAt);
      if (performance.now() - startedAt >= waitMs) throw lockedBy(name, store.product, reply.holder);
      await delay(POLL_MS, undefined, signal === undefined ? {} : { signal });
    }
  }

  /**
   * Whether no other process can have the lease yet: the last heartbeat is younger than the lease, by the clock of this
   * machine. To be checked before any work that only the holder may do and that writes no rows.
   */
  isHeld(): boolean {
    return !this.#lost.signal.aborted && performance.now() - this.#keptAt < this.#leaseMs;
  }

  /** Aborts when the server says that the lease has ended. If it does not answer, only {@link isHeld} shows that. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Harmless if the lease was lost. If the server does not answer, the lease expires. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    this.#keptAt = Number.NEGATIVE_INFINITY;
    await this.#store.leases.drop(this.#name, this.#who).catch(() => {});
  }

  async #keep(): Promise<void> {
    const sentAt = performance.now();
    try {
      if (await this.#store.leases.keep(this.#name, this.#who, this.#leaseMs)) {
        this.#keptAt = Math.max(this.#keptAt, sentAt);
        return;
      }
      clearInterval(this.#timer);
      this.#lost.abort();
    } catch {
      // The server does not answer; the next heartbeat or batch shows whether the lease is still held.
    }
  }
}

export interface LeaseHolder {
  readonly host: string;
  readonly pid: number;
  /** Absent: a process that is no worker. */
  readonly worker?: string;
}

/** `null`: not written by a holder. */
export function holderOf(text: string): LeaseHolder | null {
  try {
    return JSON.parse(text) as LeaseHolder;
  } catch {
    return null;
  }
}

function lockedBy(name: string, product: string, text: string): CrawlError {
  // There is no holder if it was released in the meantime.
  const holder = holderOf(text);
  const who = holder === null ? 'another process' : `process ${holder.pid} on ${holder.host}`;
  return new CrawlError(
    'db-locked',
    `the crawl db "${name}" in ${product} is being written by ${who}; one process at a time can`,
  );
}

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { CrawlError } from '../../domain/errors.ts';
import type { RedisClient } from './connect.ts';
import { DROP_LEASE, KEEP_LEASE, TAKE_LEASE } from './row-scripts.ts';
import { runScript } from './run-script.ts';

export interface WriteLeaseOptions {
  readonly redis: RedisClient;
  /** The name of the rows. */
  readonly name: string;
  /** Time after which a holder without a heartbeat loses the lease, ms. */
  readonly leaseMs: number;
  /** Time to wait for another holder, ms; 0: not at all. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
}

const POLL_MS = 100;

/**
 * The right to write a crawl db, held by one process at a time and renewed by it. Each holder gets a token one higher
 * than the last, a fencing token (M. Kleppmann, "How to do distributed locking", 2016), which goes with every batch. So
 * the lease only keeps writers apart, and the token protects the data whatever clocks and pauses do.
 */
export class WriteLease {
  readonly token: string;
  readonly #redis: RedisClient;
  readonly #key: string;
  readonly #who: string;
  readonly #timer: NodeJS.Timeout;

  private constructor(redis: RedisClient, key: string, who: string, token: string, leaseMs: number) {
    this.#redis = redis;
    this.#key = key;
    this.#who = who;
    this.token = token;
    this.#timer = setInterval(() => {
      // The next batch shows whether the lease is still held.
      runScript(redis, KEEP_LEASE, [key], [who, leaseMs]).catch(() => {});
    }, leaseMs / 3).unref();
  }

  /**
   * Rejects with `CrawlError('db-locked')`, naming the holder, when the lease was not free in time, and with the
   * signal's reason.
   */
  static async take({ redis, name, leaseMs, waitMs, signal }: WriteLeaseOptions): Promise<WriteLease> {
    const who = JSON.stringify({ host: hostname(), pid: process.pid, id: randomUUID() });
    const key = `{${name}}:db:lease`;
    const startedAt = performance.now();
    for (;;) {
      signal?.throwIfAborted();
      const reply = await runScript(redis, TAKE_LEASE, [key, `{${name}}:db:token`], [who, leaseMs]);
      const [token, holder] = (reply as (Buffer | null)[]).map(String);
      if (holder === undefined) return new WriteLease(redis, key, who, String(token), leaseMs);
      if (performance.now() - startedAt >= waitMs) throw lockedBy(name, holder);
      await delay(POLL_MS, undefined, signal === undefined ? {} : { signal });
    }
  }

  /** The error for a writer whose token is not the newest. */
  lost(): CrawlError {
    return new CrawlError(
      'lease-lost',
      'another process has taken the write lease of the crawl db, since this one sent no heartbeat for too long; ' +
        'nothing was written',
    );
  }

  /** Harmless when the lease was lost. Without an answer of the server it expires. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    await runScript(this.#redis, DROP_LEASE, [this.#key], [this.#who]).catch(() => {});
  }
}

function lockedBy(name: string, holder: string): CrawlError {
  let who = 'another process';
  try {
    const { host, pid } = JSON.parse(holder) as { host: string; pid: number };
    who = `process ${pid} on ${host}`;
  } catch {
    // Released in the meantime, or not written by a holder.
  }
  return new CrawlError(
    'db-locked',
    `the crawl db "${name}" in Redis is being written by ${who}; one process at a time can`,
  );
}

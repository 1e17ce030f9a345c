import { randomUUID } from 'node:crypto';
import { CrawlError } from '../../domain/errors.ts';
import type { RowSnapshot } from '../../ports/ordered-rows.ts';
import type { RedisClient } from './connect.ts';
import { DROP_SNAPSHOT, KEEP_SNAPSHOT } from './row-scripts.ts';
import { runScript } from './run-script.ts';

/** A snapshot that nobody reads or keeps for so long is dropped with the next write, ms: its reader has died. */
export const SNAPSHOT_LIFE_MS = 60_000;

/**
 * Rows as they were. Writers store what they are about to change for each snapshot that is alive, so a snapshot costs
 * what is written while it is open. It is kept alive while this process runs.
 */
export class RedisSnapshot implements RowSnapshot {
  readonly id = randomUUID();
  readonly #redis: RedisClient;
  readonly #key: string;
  #timer: NodeJS.Timeout | null = null;
  /** Rejects where it could not be taken. */
  ready: Promise<unknown> = Promise.resolve();

  constructor(redis: RedisClient, key: string) {
    this.#redis = redis;
    this.#key = key;
  }

  /** Scripts run in the order of the calls, so later writes of this process do not show in it. */
  take(): void {
    this.keep();
    this.ready = runScript(this.#redis, KEEP_SNAPSHOT, [this.#key], [this.id, SNAPSHOT_LIFE_MS, 1]);
    // Told to those who read from it.
    this.ready.catch(() => {});
  }

  /** From now on it is told to be wanted, now and then. */
  keep(): void {
    this.#timer ??= setInterval(() => {
      // A server that does not answer is told by the reads.
      runScript(this.#redis, KEEP_SNAPSHOT, [this.#key], [this.id, SNAPSHOT_LIFE_MS, 0]).catch(() => {});
    }, SNAPSHOT_LIFE_MS / 3).unref();
  }

  async close(): Promise<void> {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    await runScript(this.#redis, DROP_SNAPSHOT, [this.#key], [this.id]);
  }
}

export function lostSnapshot(): CrawlError {
  return new CrawlError(
    'internal',
    `the reader paused for longer than ${SNAPSHOT_LIFE_MS / 1_000} s, and what it read from has been dropped; run it again`,
  );
}

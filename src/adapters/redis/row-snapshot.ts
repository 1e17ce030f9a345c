import { randomUUID } from 'node:crypto';
import { CrawlError } from '../../domain/errors.ts';
import type { RowSnapshot } from '../../ports/ordered-rows.ts';
import type { RedisClient } from './connect.ts';
import { DROP_SNAPSHOT, KEEP_SNAPSHOT } from './row-scripts.ts';
import { runScript } from './run-script.ts';

/** A snapshot that is not used or extended for so long, ms, is dropped with the next write: its reader has died. */
export const SNAPSHOT_LIFE_MS = 60_000;

/**
 * A snapshot of the rows. For each live snapshot, writers store the old state of what they change, so a snapshot costs
 * what is written while it is open. It is extended while this process runs.
 */
export class RedisSnapshot implements RowSnapshot {
  readonly id = randomUUID();
  readonly #redis: RedisClient;
  readonly #key: string;
  #timer: NodeJS.Timeout | null = null;
  /** Rejects where the snapshot could not be taken. */
  ready: Promise<unknown> = Promise.resolve();

  constructor(redis: RedisClient, key: string) {
    this.#redis = redis;
    this.#key = key;
  }

  /** Scripts run in the order of the calls, so later writes of this process are not in it. */
  take(): void {
    this.keep();
    this.ready = runScript(this.#redis, KEEP_SNAPSHOT, [this.#key], [this.id, SNAPSHOT_LIFE_MS, 1]);
    // Reported to readers of the snapshot.
    this.ready.catch(() => {});
  }

  /** Extends its life from now on, at intervals. */
  keep(): void {
    this.#timer ??= setInterval(() => {
      // Reads report a server that does not answer.
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
    `the reader paused for longer than ${SNAPSHOT_LIFE_MS / 1_000} s, and its snapshot of the crawl db was dropped; ` +
      'run it again',
  );
}

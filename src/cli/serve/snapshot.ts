import { setTimeout as delay } from 'node:timers/promises';
import type { DbStats } from '../../crawler.ts';

/** Figures of the whole crawl db, as they were when it could last be asked. */
export interface Snapshot {
  readonly stats: DbStats;
  /** Ms since the epoch. */
  readonly at: number;
}

/** The longer they take, the longer they stand. */
const TIMES_ITS_COST = 20;
/**
 * Who asks waits for newer figures so long where there are older ones: a scraper waits ten seconds for all of its
 * answer.
 */
const PATIENCE_MS = 5_000;

export interface Snapshots {
  /**
   * Those that are not older than `maxAgeMs`, or else the newest to be had; `null` when the crawl db was never open to
   * us. Rejects with what else went wrong.
   */
  get(maxAgeMs: number): Promise<Snapshot | null>;
}

export function createSnapshots(
  askStats: () => Promise<DbStats>,
  now: () => number,
  isLocked: (error: unknown) => boolean,
  patienceMs = PATIENCE_MS,
): Snapshots {
  let last: Snapshot | null = null;
  let costMs = 0;
  let going: Promise<Snapshot | null> | null = null;
  const take = async (): Promise<Snapshot | null> => {
    const startedAt = now();
    try {
      last = { stats: await askStats(), at: startedAt };
      costMs = now() - startedAt;
    } catch (error) {
      if (!isLocked(error)) throw error;
    }
    return last;
  };
  return {
    get(maxAgeMs) {
      if (last !== null && now() - last.at <= Math.max(maxAgeMs, TIMES_ITS_COST * costMs)) return Promise.resolve(last);
      going ??= take().finally(() => {
        going = null;
      });
      return last === null ? going : Promise.race([going, delay(patienceMs, last, { ref: false })]);
    },
  };
}

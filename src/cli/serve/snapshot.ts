import { setTimeout as delay } from 'node:timers/promises';
import type { DbStats } from '../../crawler.ts';

/** Figures of the whole crawl db at one point in time. */
export interface Snapshot {
  readonly stats: DbStats;
  /** Ms since the epoch. */
  readonly at: number;
}

/** Figures are reused for this many times the time that they took to compute. */
const REUSE_FACTOR = 20;
/** Longest wait for new figures where old ones exist, ms: a scraper waits ten seconds for its whole answer. */
const PATIENCE_MS = 5_000;

export interface Snapshots {
  /**
   * Figures of at most this age, otherwise the newest available; `null` while the crawl db was never readable. Rejects
   * with any error but a locked crawl db.
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
      if (last !== null && now() - last.at <= Math.max(maxAgeMs, REUSE_FACTOR * costMs)) return Promise.resolve(last);
      going ??= take().finally(() => {
        going = null;
      });
      return last === null ? going : Promise.race([going, delay(patienceMs, last, { ref: false })]);
    },
  };
}

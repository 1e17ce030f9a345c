import { setTimeout as delay } from 'node:timers/promises';
import type { DbStats } from '../crawler/index.ts';
import type { BudgetView } from '../crawler/views.ts';

/** Figures of the crawl db, with the fetch budget of its last round. */
export interface DbFigures extends DbStats {
  readonly budget: BudgetView | null;
}

/** Figures of the whole crawl db at one point in time. */
export interface Snapshot<Stats extends DbStats = DbFigures> {
  readonly stats: Stats;
  /** Ms since the epoch. */
  readonly at: number;
}

/** Figures are reused for this many times as long as they took to compute. */
const REUSE_FACTOR = 20;
/** Longest wait for new figures if old ones exist, ms: a scraper waits ten seconds for its whole answer. */
const PATIENCE_MS = 5_000;

export interface Snapshots<Stats extends DbStats = DbFigures> {
  /**
   * Figures of at most this age, otherwise the newest available; `null` if the crawl db has never been readable.
   * Rejects with any error except a locked crawl db.
   */
  get(maxAgeMs: number): Promise<Snapshot<Stats> | null>;
}

export function createSnapshots<Stats extends DbStats>(
  askStats: () => Promise<Stats>,
  now: () => number,
  isLocked: (error: unknown) => boolean,
  patienceMs = PATIENCE_MS,
): Snapshots<Stats> {
  let last: Snapshot<Stats> | null = null;
  let costMs = 0;
  let going: Promise<Snapshot<Stats> | null> | null = null;
  const take = async (): Promise<Snapshot<Stats> | null> => {
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

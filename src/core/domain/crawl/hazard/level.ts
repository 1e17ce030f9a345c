import { keptAfter } from '../change/change-belief.ts';

/**
 * What the visits to many pages have shown together. Pages of one host share their deploys, so their number says
 * nothing about certainty: the mean rate comes from all visits, its weight only from the time that has gone by.
 */
export interface ChangeLevel {
  /** Substantive changes seen and time watched, ms, over all pages; faded to `at`. */
  readonly changes: number;
  readonly watchedMs: number;
  /** Time for which the level has been observed at all, ms; faded alike. */
  readonly observedMs: number;
  /** Time of the last batch of visits, ms since the epoch; `null`: there was none. */
  readonly at: number | null;
}

export const NO_LEVEL: ChangeLevel = Object.freeze({ changes: 0, watchedMs: 0, observedMs: 0, at: null });

/** What a batch of visits has shown. */
export interface Looks {
  readonly visits: number;
  readonly changes: number;
  readonly watchedMs: number;
}

/** Weight of a level against the one above it, changes. */
export const CRAWL_WEIGHT = 20;
export const HOST_WEIGHT = 2;
/**
 * A quiet time lifts the interval of an unvisited page, by way of crawl, host and group together, as much as a quiet
 * visit of its own would: 1 / (0.7 (1/20 + 1/2 + 1/2)), 0.7 being the shape of a belief without evidence.
 */
const OBSERVED = 1.36;
/**
 * Rates of a level stay within this factor of the one above it: a host of few visits must not decide alone.
 */
const MOST_FACTOR = 1_000;

/** The level after a batch of visits at `now`. */
export function learntLevel(level: ChangeLevel, { visits, changes, watchedMs }: Looks, now: number): ChangeLevel {
  if (visits === 0) return level;
  const elapsedMs = level.at === null ? watchedMs / visits : Math.max(0, now - level.at);
  const kept = keptAfter(elapsedMs);
  return {
    changes: level.changes * kept + changes,
    watchedMs: level.watchedMs * kept + watchedMs,
    observedMs: level.observedMs * kept + OBSERVED * Math.min(elapsedMs, watchedMs),
    at: Math.max(now, level.at ?? now),
  };
}

/**
 * The rate expected of a page of the level, changes per ms.
 * @param above the rate of the level above
 * @param weight of the level above, changes
 */
export function rateOfLevel(level: ChangeLevel, above: number, weight: number, now: number): number {
  const { changes, watchedMs, observedMs, at } = level;
  if (!(watchedMs > 0) || at === null) return above;
  const observed = observedMs * keptAfter(now - at);
  const rate = (weight + (observed * changes) / watchedMs) / (weight / above + observed);
  return Math.min(above * MOST_FACTOR, Math.max(above / MOST_FACTOR, rate));
}

/**
 * As {@link rateOfLevel} for figures rather than decisions: each page counts for itself.
 */
export function meanRateOfLevel({ changes, watchedMs, at }: ChangeLevel, above: number, now: number): number {
  const kept = at === null ? 0 : keptAfter(now - at);
  return (HOST_WEIGHT + changes * kept) / (HOST_WEIGHT / above + watchedMs * kept);
}

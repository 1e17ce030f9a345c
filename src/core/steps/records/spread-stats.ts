import { hourOf, intervalOfBucket, startOfHour } from '../../domain/crawl/states/host-traffic.ts';
import type { Spread } from '../../ports/crawl-db.ts';

/** Distributions of records, from counters of the crawl db: no row is read. */

export interface SpreadView {
  /** Links from a seed -> URLs. */
  readonly byDepth: Readonly<Record<string, number>>;
  /** MIME type -> URLs, most first; rare types with their family (`image/*`). */
  readonly byType: Readonly<Record<string, number>>;
  /** Failed visits in a row -> URLs. */
  readonly byFailures: Readonly<Record<string, number>>;
  /** URLs by revisit interval: up to this many seconds and above the limit before; `null`: all longer ones. */
  readonly intervals: readonly { readonly upTo: number | null; readonly urls: number }[];
}

const HOUR = 3_600;
const INTERVAL_LIMITS_S = [HOUR, 6 * HOUR, 24 * HOUR, 7 * 24 * HOUR, 30 * 24 * HOUR, 90 * 24 * HOUR, 365 * 24 * HOUR];
/** Rounding of counted intervals: one of exactly a limit stays under the limit. */
const ROUNDING = 1.05;

export function spreadView(spread: Spread): SpreadView {
  const intervals = new Array<number>(INTERVAL_LIMITS_S.length + 1).fill(0);
  for (const [step, urls] of spread.byInterval) {
    const bucket = INTERVAL_LIMITS_S.findIndex((limit) => intervalOfBucket(step) <= limit * 1_000 * ROUNDING);
    intervals[bucket < 0 ? INTERVAL_LIMITS_S.length : bucket]! += urls;
  }
  return {
    byDepth: Object.fromEntries(spread.byDepth),
    byType: Object.fromEntries([...spread.byType].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))),
    byFailures: Object.fromEntries(spread.byFailures),
    intervals: intervals.map((urls, i) => ({ upTo: INTERVAL_LIMITS_S[i] ?? null, urls })),
  };
}

export const entriesOf = <Key>(counts: ReadonlyMap<Key, number>): number => {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
};

/** Entries due at `at`; of the current hour, the share that has passed. */
export function dueBy(counts: ReadonlyMap<number, number>, at: number): number {
  const now = hourOf(at);
  const share = (at - startOfHour(now)) / (startOfHour(1) - startOfHour(0));
  let due = 0;
  for (const [hour, count] of counts) due += hour < now ? count : hour === now ? Math.round(share * count) : 0;
  return due;
}

/** A quantile of values counted by steps, which sort like the values. `null` without values. */
export function quantileOf(counts: ReadonlyMap<number, number>, share: number): number | null {
  const sorted = [...counts].sort(([a], [b]) => a - b);
  let left = share * (entriesOf(counts) - 1);
  for (const [step, count] of sorted) {
    left -= count;
    if (left < 0) return step;
  }
  return sorted.at(-1)?.[0] ?? null;
}

/** Durations, ms. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/**
 * Whether `at` lies within the `ms` before `now` (times in ms since the epoch). A time in the future comes from a clock
 * that was set back since; work repeated after so long must not wait for it.
 */
export function isWithinLast(ms: number, at: number, now: number): boolean {
  return at <= now && now - at < ms;
}

/** Time in ms since the epoch as ISO 8601 in UTC. */
export const isoTime = (at: number): string => new Date(at).toISOString();
export const isoTimeOrNull = (at: number | null): string | null => (at === null ? null : isoTime(at));

/** Seconds, rounded to a millisecond. */
export const seconds = (ms: number): number => Math.round(ms) / 1_000;

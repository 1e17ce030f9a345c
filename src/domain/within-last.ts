/**
 * Whether `at` lies within the `ms` before `now` (times in ms since the epoch). A time in the future was told by a
 * clock that was set back since: what is done again after so long must not wait for it.
 */
export function isWithinLast(ms: number, at: number, now: number): boolean {
  return at <= now && now - at < ms;
}

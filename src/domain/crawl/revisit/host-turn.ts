/** What decides when a host may be asked again. All times ms since the epoch. */
export interface HostTurn {
  /** End of the request that ended last; `null` before the first one has ended. */
  readonly lastEndAt: number | null;
  /** Least time between that end and the next start, ms. */
  readonly delayMs: number;
  /** Requests under way. */
  readonly running: number;
  /** Requests that may be under way at a time. */
  readonly connections: number;
  /** No request starts before this time; `null` where nobody asked for a pause. */
  readonly pausedUntil: number | null;
}

/**
 * Earliest start of the host's next request, `-Infinity` for "at any time". `Infinity` while all connections are taken:
 * the answer changes with the next end, not with time.
 *
 * The delay counts from the *end* of the request before, so a slow server is not asked faster than it answers.
 */
export function nextStartAt(turn: HostTurn): number {
  if (turn.running >= turn.connections) return Number.POSITIVE_INFINITY;
  return quietUntil(turn);
}

/**
 * Until then the past matters: a host without work whose time has come can be forgotten. `-Infinity` where it never
 * did.
 */
export function quietUntil(turn: Pick<HostTurn, 'lastEndAt' | 'delayMs' | 'pausedUntil'>): number {
  const afterDelay = turn.lastEndAt === null ? Number.NEGATIVE_INFINITY : turn.lastEndAt + turn.delayMs;
  return Math.max(afterDelay, turn.pausedUntil ?? Number.NEGATIVE_INFINITY);
}

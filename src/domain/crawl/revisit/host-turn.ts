/** State of a host that decides when it may be requested again. All times in ms since the epoch. */
export interface HostTurn {
  /** End of the request that ended last; `null` before the first one has ended. */
  readonly lastEndAt: number | null;
  /** Least time between that end and the next start, ms. */
  readonly delayMs: number;
  /** Requests in flight. */
  readonly running: number;
  /** Most requests in flight at a time. */
  readonly connections: number;
  /** No request starts before this time; `null` without a pause. */
  readonly pausedUntil: number | null;
}

/**
 * Earliest start of the host's next request, `-Infinity` for "at any time". `Infinity` while all connections are taken:
 * the answer changes when a request ends, not with time.
 *
 * The delay counts from the *end* of the previous request, so a slow server is not asked faster than it answers.
 */
export function nextStartAt(turn: HostTurn): number {
  if (turn.running >= turn.connections) return Number.POSITIVE_INFINITY;
  return quietUntil(turn);
}

/** End of delay and pause; an idle host can be dropped after it. `-Infinity` without any. */
export function quietUntil(turn: Pick<HostTurn, 'lastEndAt' | 'delayMs' | 'pausedUntil'>): number {
  const afterDelay = turn.lastEndAt === null ? Number.NEGATIVE_INFINITY : turn.lastEndAt + turn.delayMs;
  return Math.max(afterDelay, turn.pausedUntil ?? Number.NEGATIVE_INFINITY);
}

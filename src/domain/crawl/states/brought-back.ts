// domain/crawl/states/: the crawl datum, its states, and settle, the one transition function.
import { HOUR_MS } from '../../time.ts';
import type { CrawlDatum, Visit } from './datum.ts';

/** Times that a clock has stamped, brought back: each by as much as the newest one is ahead, and none behind `now`. */
export interface ClockShift {
  /** ms since the epoch. */
  readonly now: number;
  /** How far the newest stamp is ahead, ms. */
  readonly aheadMs: number;
}

/** A stamp of the future, brought back, but not before `floor`, the newest stamp of the same record that is sound. */
export function broughtBack(at: number, { now, aheadMs }: ClockShift, floor = 0): number {
  return at <= now ? at : Math.min(now, Math.max(at - aheadMs, floor));
}

/**
 * The record with all stamps at or before `now`; `null`: they are. Due times follow the visit, or the finding, that set
 * them; one that was set by a sound clock stays, however far ahead. A visit that seemed to come long after the one
 * before, as the clock had jumped between them, has taught the schedule a wrong rate: the belief is dropped, and the
 * interval of before holds.
 */
export function datumBroughtBack(datum: CrawlDatum, shift: ClockShift): CrawlDatum | null {
  const { now } = shift;
  const { discoveredAt, lastFetchAt, changedAt, lastError, visits } = datum;
  const stamps = [discoveredAt, lastFetchAt ?? 0, changedAt ?? 0, lastError?.at ?? 0, ...visits.map(({ at }) => at)];
  if (Math.max(...stamps) <= now) return null;
  const floor = Math.max(...stamps.filter((at) => at <= now), 0);
  const back = (at: number): number => broughtBack(at, shift, floor);
  const backOrNull = (at: number | null): number | null => (at === null ? null : back(at));
  const visited = visitsBroughtBack(visits, back);
  const jump = visited.findIndex((visit, i) => isShorter(visit, visits[i] as Visit));
  const before = jump < 0 ? undefined : (visits[jump - 1]?.intervalMs ?? datum.schedule.intervalMs);
  const { nextFetchAt } = datum;
  const due = nextFetchAt === null ? null : Math.max(now, nextFetchAt - shift.aheadMs);
  const soonest = before === undefined ? Number.POSITIVE_INFINITY : now + before;
  return {
    ...datum,
    discoveredAt: back(discoveredAt),
    lastFetchAt: backOrNull(lastFetchAt),
    changedAt: backOrNull(changedAt),
    lastError: lastError === null ? null : { ...lastError, at: back(lastError.at) },
    visits: visited,
    nextFetchAt: due === null ? null : Math.min(due, soonest),
    schedule: before === undefined ? datum.schedule : { intervalMs: before, belief: null },
  };
}

/** Visits with the time since the answered one before counted anew. */
function visitsBroughtBack(visits: readonly Visit[], back: (at: number) => number): Visit[] {
  let answeredAt: number | null = null;
  return visits.map((visit) => {
    const at = back(visit.at);
    const isMoved = at !== visit.at && visit.elapsedMs !== null && answeredAt !== null;
    const elapsedMs = isMoved ? Math.max(0, at - (answeredAt as number)) : visit.elapsedMs;
    if (visit.outcome !== 'failed' && visit.outcome !== 'denied') answeredAt = at;
    return { ...visit, at, elapsedMs };
  });
}

/** Whether a visit came much sooner after the one before than its record had said. */
function isShorter({ elapsedMs }: Visit, before: Visit): boolean {
  return elapsedMs !== null && before.elapsedMs !== null && before.elapsedMs - elapsedMs > HOUR_MS;
}

import { nextVisit, type SettlePolicy } from '../revisit/next-visit.ts';
import type { ScheduleTerm, ScheduleVisit } from '../revisit/schedule.ts';
import { type CrawlDatum, VISIT_RING_SIZE, type Visit, type VisitOutcome } from './datum.ts';

/** What a URL has become by an event. */
export interface Settled {
  readonly datum: CrawlDatum;
  /** What `updatedb` counts. */
  readonly verdict:
    | 'new'
    | 'modified'
    | 'unchanged'
    | 'redirected'
    | 'gone'
    | 'failed'
    | 'denied'
    | 'parse-failed'
    | 'kept';
  readonly distance: number | null;
  readonly terms: readonly ScheduleTerm[];
  /**
   * What the visit was worth to the schedule before it was made, page-days; absent where it was no visit to a known
   * page, or in vain.
   */
  readonly worth?: number;
}

/** The server has answered: what failures there were are over. */
export function answered(datum: CrawlDatum, status: number, now: number): CrawlDatum {
  return { ...datum, lastFetchAt: now, failures: 0, lastError: null, httpStatus: status };
}

/** The next visit by the schedule, as fields of the record, and its arithmetic. */
export function schedule(
  datum: CrawlDatum,
  visit: Omit<ScheduleVisit, 'now' | 'elapsedMs'>,
  policy: SettlePolicy,
  now: number,
): { fields: Pick<CrawlDatum, 'schedule' | 'nextFetchAt'>; terms: readonly ScheduleTerm[] } {
  const elapsedMs = datum.lastFetchAt === null ? null : Math.max(0, now - datum.lastFetchAt);
  const { memory, nextFetchAt, terms } = nextVisit(datum, { ...visit, now, elapsedMs }, policy);
  return { fields: { schedule: memory, nextFetchAt }, terms };
}

/** The record with the visit at the end of its ring. */
export function withVisit(
  next: CrawlDatum,
  before: CrawlDatum,
  outcome: VisitOutcome,
  distance: number | null,
  bytes: number,
  now: number,
): CrawlDatum {
  const visit: Visit = {
    at: now,
    outcome,
    distance,
    elapsedMs: before.lastFetchAt === null ? null : Math.max(0, now - before.lastFetchAt),
    bytes,
    intervalMs: next.fixedIntervalMs ?? next.schedule.intervalMs,
  };
  return { ...next, visits: [...before.visits, visit].slice(-VISIT_RING_SIZE) };
}

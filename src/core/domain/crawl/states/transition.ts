import { nextVisit, type SettlePolicy } from '../revisit/next-visit.ts';
import type { ScheduleDecision, ScheduleTerm, ScheduleVisit } from '../revisit/schedule.ts';
import { type CrawlDatum, VISIT_RING_SIZE, type Visit, type VisitOutcome } from './datum.ts';

/** What an event makes of a URL. */
export interface Transition {
  readonly datum: CrawlDatum;
  /** The counter of `updatedb` that the event belongs to. */
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
  /** Arithmetic of the next visit. */
  readonly terms: readonly ScheduleTerm[];
  /** What the visit has shown of changes; absent: nothing was learnt. */
  readonly seen?: SeenChange;
}

/** What a visit has shown of changes, and the time since the one before, ms. */
export type SeenChange = NonNullable<ScheduleDecision['seen']> & { readonly elapsedMs: number };

/** The time of the next visit, as fields of the record, and its arithmetic. */
export interface ScheduledVisit {
  readonly fields: Pick<CrawlDatum, 'schedule' | 'nextFetchAt'>;
  readonly terms: readonly ScheduleTerm[];
  readonly seen?: SeenChange;
}

export function scheduleNextVisit(
  datum: CrawlDatum,
  visit: Omit<ScheduleVisit, 'now' | 'elapsedMs'>,
  policy: SettlePolicy,
  now: number,
): ScheduledVisit {
  const sinceMs = elapsedMs(datum, now);
  const next = nextVisit(datum, { ...visit, now, elapsedMs: sinceMs }, policy);
  const { memory, nextFetchAt, terms, seen } = next;
  return {
    fields: { schedule: memory, nextFetchAt },
    terms,
    ...(seen !== undefined && sinceMs !== null && { seen: { ...seen, elapsedMs: sinceMs } }),
  };
}

/** The record after an answer of the server, which ends a run of failures. */
export function answered(datum: CrawlDatum, status: number, now: number): CrawlDatum {
  return { ...datum, lastFetchAt: now, failures: 0, lastError: null, httpStatus: status };
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
    elapsedMs: elapsedMs(before, now),
    bytes,
    intervalMs: next.fixedIntervalMs ?? next.schedule.intervalMs,
  };
  const dueBy = next.nextFetchAt === null ? null : 'schedule';
  return { ...next, dueBy, visits: [...before.visits, visit].slice(-VISIT_RING_SIZE) };
}

/** Time since the last answered visit; `null` before the first one. A clock that was set back counts as 0. */
const elapsedMs = ({ lastFetchAt }: CrawlDatum, now: number): number | null =>
  lastFetchAt === null ? null : Math.max(0, now - lastFetchAt);

import { ERRORS, type ErrorCode } from '../../errors.ts';
import { endsChain } from '../discovery/link-rules.ts';
import {
  absencePauses,
  absentInARow,
  isRefusedForGood,
  LEFT_OUT_PART,
  redirectsInARow,
} from '../revisit/missing-links.ts';
import { boundsFor, clamp, nextVisit, type SettlePolicy } from '../revisit/next-visit.ts';
import type { ScheduleDecision, ScheduleTerm, ScheduleVisit } from '../revisit/schedule.ts';
import {
  type CrawlDatum,
  type LastError,
  NO_VALIDATORS,
  VISIT_RING_SIZE,
  type Visit,
  type VisitOutcome,
} from './datum.ts';
import type { FetchDenied, FetchFailed, FetchGone, FetchRedirect } from './outcome.ts';

/*
 * Visits that found no page: redirected, gone, failed or denied.
 */

/** Where a redirect leads. */
export interface RedirectTarget {
  /** Canonical; `null`: it cannot be followed. */
  readonly url: string | null;
  /** Whether it is known to be missing and never existed. */
  readonly isMissing: boolean;
}

export function settleRedirect(
  datum: CrawlDatum,
  outcome: FetchRedirect,
  target: RedirectTarget,
  policy: SettlePolicy,
  now: number,
): Transition {
  const wasRedirect = datum.state === 'redir_perm' || datum.state === 'redir_temp';
  const same = wasRedirect && datum.target === target.url;
  const changedAt = same ? datum.changedAt : now;
  const scheduled = scheduleAfterRedirect({ ...datum, changedAt }, outcome, { same, ...target }, policy, now);
  const next: CrawlDatum = {
    ...answered(datum, outcome.status, now),
    ...scheduled.fields,
    state: outcome.permanent ? 'redir_perm' : 'redir_temp',
    changedAt,
    target: target.url,
    lastError: redirectError(datum, outcome, target.url, policy, now),
  };
  return {
    datum: withVisit(next, datum, 'redirect', null, outcome.bodyBytes, now),
    verdict: 'redirected',
    distance: null,
    terms: scheduled.terms,
  };
}

/**
 * A permanent redirect is visited after the longest interval, and one to a URL that never existed when that URL is:
 * neither teaches the schedule anything about changes. A temporary one is visited like a page.
 */
function scheduleAfterRedirect(
  datum: CrawlDatum,
  { permanent }: FetchRedirect,
  { same, isMissing }: RedirectTarget & { readonly same: boolean },
  policy: SettlePolicy,
  now: number,
): ScheduledVisit {
  const { fixedIntervalMs } = datum;
  if (fixedIntervalMs !== null || !(permanent || isMissing)) {
    const outcome = same ? 'unchanged' : datum.lastFetchAt === null ? 'new' : 'modified';
    const evidence = datum.lastFetchAt === null ? 'first' : 'headers';
    const { changedAt } = datum;
    return scheduleNextVisit(
      datum,
      { outcome, evidence, distance: null, changedAt, lastModifiedAt: null },
      policy,
      now,
    );
  }
  const { maxIntervalMs } = boundsFor(datum, policy);
  const pauses = missingIntervals(policy);
  const missing = isMissing ? pauses[Math.min(redirectsInARow(datum), pauses.length - 1)] : undefined;
  const intervalMs = Math.round(Math.max(permanent ? maxIntervalMs : 0, missing ?? 0));
  const label = missing === undefined ? 'permanent redirect, longest interval' : 'redirect to a missing page, pause';
  return {
    fields: { schedule: { ...datum.schedule, intervalMs }, nextFetchAt: now + intervalMs },
    terms: [{ label, value: intervalMs, unit: 'ms' }],
  };
}

const missingIntervals = ({ missingIntervalsMs, goneIntervalsMs }: SettlePolicy): readonly number[] =>
  missingIntervalsMs ?? goneIntervalsMs;

function redirectError(
  datum: CrawlDatum,
  outcome: FetchRedirect,
  target: string | null,
  { maxRedirects = Number.POSITIVE_INFINITY }: SettlePolicy,
  at: number,
): LastError | null {
  const to = `redirect to ${(target ?? outcome.target).slice(0, 200)}`;
  if (target === null) return { code: 'redirect-invalid', message: `${to} cannot be followed`, at };
  if (target === datum.url || !endsChain(datum, maxRedirects)) return null;
  return { code: 'redirect-limit', message: `${to} not followed after ${maxRedirects} redirects in a row`, at };
}

export function settleGone(datum: CrawlDatum, outcome: FetchGone, policy: SettlePolicy, now: number): Transition {
  const visits = absentInARow(datum);
  const pauses = absencePauses(datum, policy);
  const pause = pauses[visits];
  const next: CrawlDatum = {
    ...answered(datum, outcome.status, now),
    state: 'gone',
    lastError:
      outcome.reason === undefined
        ? null
        : { code: outcome.reason, message: 'as the answer to an address that cannot exist', at: now },
    changedAt: datum.state === 'gone' ? datum.changedAt : now,
    nextFetchAt: pause === undefined ? null : now + Math.round(pause),
  };
  const terms: ScheduleTerm[] = [
    { label: 'gone, times in a row', value: visits + 1 },
    pause === undefined
      ? { label: 'not selected any more after', value: pauses.length }
      : { label: 'pause', value: pause, unit: 'ms' },
  ];
  return {
    datum: withVisit(next, datum, 'gone', null, outcome.bodyBytes, now),
    verdict: 'gone',
    distance: null,
    terms,
  };
}

/**
 * Statuses by which a server rejects the request itself. Only conditions vary between requests (an entity tag that a
 * filter of the server refuses or finds too long), so the next visit is unconditional.
 */
const REFUSED_REQUEST: ReadonlySet<number | null> = new Set([400, 412, 431]);

export function settleFailed(datum: CrawlDatum, outcome: FetchFailed, policy: SettlePolicy, now: number): Transition {
  const failures = datum.failures + 1;
  const pauses = isRefusedForGood(datum, outcome.status) ? missingIntervals(policy) : [];
  const pause =
    pauses[Math.min(failures, pauses.length) - 1] ??
    Math.min(policy.retryIntervalMs * 2 ** Math.min(failures - 1, 30), policy.maxRetryIntervalMs);
  const nextFetchAt = Math.max(now + pause, outcome.retryAt ?? 0);
  const next: CrawlDatum = {
    ...datum,
    failures,
    lastError: { code: outcome.code, message: outcome.message, at: now },
    httpStatus: outcome.status ?? datum.httpStatus,
    validators: REFUSED_REQUEST.has(outcome.status) ? NO_VALIDATORS : datum.validators,
    // An orphan is not retried: it lost its last link while it was being fetched.
    nextFetchAt: datum.state === 'orphan' ? null : nextFetchAt,
  };
  const terms: ScheduleTerm[] = [
    { label: 'failures in a row', value: failures },
    { label: pauses.length > 0 ? 'pause' : 'pause, doubled with each failure', value: pause, unit: 'ms' },
  ];
  if (outcome.retryAt !== null) terms.push({ label: 'Retry-After', value: outcome.retryAt - now, unit: 'ms' });
  return {
    datum: withVisit(next, datum, 'failed', null, outcome.bodyBytes, now),
    verdict: 'failed',
    distance: null,
    terms,
  };
}

/** Refused by rule: not counted as a failure of the page, and tried again after an interval. */
export function settleDenied(datum: CrawlDatum, outcome: FetchDenied, policy: SettlePolicy, now: number): Transition {
  if (outcome.code === 'missing-unasked') return settleLeftOut(datum, outcome, policy, now);
  const passing = ERRORS[outcome.code as ErrorCode]?.consequence === 'pause-host';
  const { minIntervalMs, maxIntervalMs } = boundsFor(datum, policy);
  const pause = passing
    ? policy.retryIntervalMs
    : Math.round(datum.fixedIntervalMs ?? clamp(datum.schedule.intervalMs, minIntervalMs, maxIntervalMs));
  const next: CrawlDatum = {
    ...datum,
    lastError: { code: outcome.code, message: outcome.message, at: now },
    nextFetchAt: datum.state === 'orphan' ? null : (outcome.retryAt ?? now + pause),
  };
  const terms: ScheduleTerm[] = [
    { label: `pause (${outcome.code})`, value: (outcome.retryAt ?? now + pause) - now, unit: 'ms' },
  ];
  return { datum: withVisit(next, datum, 'denied', null, 0, now), verdict: 'denied', distance: null, terms };
}

/**
 * A URL that probably does not exist, and was left out as requests for others of its host had found nothing. Its next
 * visit is due a little before theirs, so that it is among the first then. One that was never requested is not given
 * up.
 */
function settleLeftOut(datum: CrawlDatum, outcome: FetchDenied, policy: SettlePolicy, now: number): Transition {
  const pauses = absencePauses(datum, policy);
  const left = absentInARow(datum);
  const own = pauses[datum.lastFetchAt === null ? Math.min(left, pauses.length - 1) : left];
  const due = own === undefined ? null : Math.max(now + Math.round(LEFT_OUT_PART * own), outcome.retryAt ?? 0);
  const next: CrawlDatum = {
    ...datum,
    lastError: { code: outcome.code, message: outcome.message, at: now },
    nextFetchAt: due,
  };
  const terms: ScheduleTerm[] = [
    due === null
      ? { label: 'not selected any more after', value: pauses.length }
      : { label: `pause (${outcome.code})`, value: due - now, unit: 'ms' },
  ];
  return { datum: withVisit(next, datum, 'denied', null, 0, now), verdict: 'denied', distance: null, terms };
}

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

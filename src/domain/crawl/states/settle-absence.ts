import { ERRORS, type ErrorCode } from '../../errors.ts';
import { endsChain } from '../discovery/redirect-chain.ts';
import { boundsFor, clamp, type SettlePolicy } from '../revisit/next-visit.ts';
import type { ScheduleTerm } from '../revisit/schedule.ts';
import { type CrawlDatum, isAnswered, type LastError, NO_VALIDATORS, type Visit } from './datum.ts';
import type { FetchDenied, FetchFailed, FetchGone, FetchRedirect } from './outcome.ts';
import { answered, scheduleNextVisit, type Transition, withVisit } from './transition.ts';

/*
 * Visits that found no page: redirected, gone, failed or denied.
 */

export function settleRedirect(
  datum: CrawlDatum,
  outcome: FetchRedirect,
  target: string | null,
  policy: SettlePolicy,
  now: number,
): Transition {
  const wasRedirect = datum.state === 'redir_perm' || datum.state === 'redir_temp';
  const same = wasRedirect && datum.target === target;
  const changedAt = same ? datum.changedAt : now;
  const scheduled = scheduleNextVisit(
    datum,
    {
      outcome: same ? 'unchanged' : datum.lastFetchAt === null ? 'new' : 'modified',
      evidence: datum.lastFetchAt === null ? 'first' : 'headers',
      distance: null,
      changedAt,
      lastModifiedAt: null,
    },
    policy,
    now,
  );
  const next: CrawlDatum = {
    ...answered(datum, outcome.status, now),
    ...scheduled.fields,
    state: outcome.permanent ? 'redir_perm' : 'redir_temp',
    changedAt,
    target,
    lastError: redirectError(datum, outcome, target, policy, now),
  };
  return {
    datum: withVisit(next, datum, 'redirect', null, outcome.bodyBytes, now),
    verdict: 'redirected',
    distance: null,
    terms: scheduled.terms,
  };
}

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
  const visits = goneInARow(datum.visits);
  const pause = policy.goneIntervalsMs[visits];
  const next: CrawlDatum = {
    ...answered(datum, outcome.status, now),
    state: 'gone',
    lastError:
      outcome.reason === undefined
        ? null
        : { code: outcome.reason, message: 'as the answer to an address that cannot exist', at: now },
    changedAt: datum.state === 'gone' ? datum.changedAt : now,
    nextFetchAt: pause === undefined ? null : now + pause,
  };
  const terms: ScheduleTerm[] = [
    { label: 'gone, times in a row', value: visits + 1 },
    pause === undefined
      ? { label: 'not selected any more after', value: policy.goneIntervalsMs.length }
      : { label: 'pause', value: pause, unit: 'ms' },
  ];
  return {
    datum: withVisit(next, datum, 'gone', null, outcome.bodyBytes, now),
    verdict: 'gone',
    distance: null,
    terms,
  };
}

/** "Gone" visits at the end of the ring; failures between them are skipped. */
function goneInARow(visits: readonly Visit[]): number {
  let count = 0;
  for (let i = visits.length - 1; i >= 0; i--) {
    const visit = visits[i] as Visit;
    if (visit.outcome === 'gone') count++;
    else if (isAnswered(visit)) break;
  }
  return count;
}

/**
 * Statuses by which a server rejects the request itself. Only conditions vary between requests (an entity tag that a
 * filter of the server refuses or finds too long), so the next visit is unconditional.
 */
const REFUSED_REQUEST: ReadonlySet<number> = new Set([400, 412, 431]);

export function settleFailed(datum: CrawlDatum, outcome: FetchFailed, policy: SettlePolicy, now: number): Transition {
  const failures = datum.failures + 1;
  const pause = Math.min(policy.retryIntervalMs * 2 ** Math.min(failures - 1, 30), policy.maxRetryIntervalMs);
  const nextFetchAt = Math.max(now + pause, outcome.retryAt ?? 0);
  const next: CrawlDatum = {
    ...datum,
    failures,
    lastError: { code: outcome.code, message: outcome.message, at: now },
    httpStatus: outcome.status ?? datum.httpStatus,
    validators: outcome.status !== null && REFUSED_REQUEST.has(outcome.status) ? NO_VALIDATORS : datum.validators,
    // An orphan is not retried: it lost its last link while it was being fetched.
    nextFetchAt: datum.state === 'orphan' ? null : nextFetchAt,
  };
  const terms: ScheduleTerm[] = [
    { label: 'failures in a row', value: failures },
    { label: 'pause, doubled with each failure', value: pause, unit: 'ms' },
  ];
  if (outcome.retryAt !== null) terms.push({ label: 'Retry-After', value: outcome.retryAt - now, unit: 'ms' });
  return {
    datum: withVisit(next, datum, 'failed', null, outcome.bodyBytes, now),
    verdict: 'failed',
    distance: null,
    terms,
  };
}

/** Refused by rule: not counted as a failure of the page, and asked again after an interval. */
export function settleDenied(datum: CrawlDatum, outcome: FetchDenied, policy: SettlePolicy, now: number): Transition {
  const passing = ERRORS[outcome.code as ErrorCode]?.consequence === 'pause-host';
  const { minIntervalMs, maxIntervalMs } = boundsFor(datum, policy);
  const pause = passing
    ? policy.retryIntervalMs
    : (datum.fixedIntervalMs ?? clamp(datum.schedule.intervalMs, minIntervalMs, maxIntervalMs));
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

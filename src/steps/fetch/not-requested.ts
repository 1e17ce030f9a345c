import type { FetchDenied, FetchFailed } from '../../domain/crawl/states/outcome.ts';
import type { ErrorCode, UnreachedCode } from '../../domain/errors.ts';
import type { Log } from '../../ports/log.ts';
import type { VisitCosts } from './status-outcome.ts';
import type { VisitResult } from './visit-result.ts';

type Uncosted<Outcome> = Omit<Outcome, keyof VisitCosts>;

/** The URL must not be requested at this time, ms since the epoch. */
export function denied(at: number, code: ErrorCode, message: string, retryAt: number | null = null): VisitResult {
  return notRequested(at, { kind: 'denied', code, message, retryAt });
}

/** The host asked to be left alone until a time, ms since the epoch. */
export function resting(at: number, until: number): VisitResult {
  return denied(at, 'http-throttled', 'the host asked for a pause', until);
}

/** Says that a host asked to be left alone until a time, ms since the epoch. */
export function warnOfRest(log: Log, host: string, until: number): void {
  const reported = { host, code: 'http-throttled', until: new Date(until).toISOString() };
  log.warn('no requests to this host until the time that it names', reported);
}

/** robots.txt could not be requested, so the page could not either. */
export function unreached(at: number, code: UnreachedCode, message: string): VisitResult {
  return notRequested(at, { kind: 'failed', code, message, status: null, retryAt: null });
}

function notRequested(at: number, outcome: Uncosted<FetchDenied> | Uncosted<FetchFailed>): VisitResult {
  const costs = { at, requests: 0, bodyBytes: 0, receivedBytes: 0, ms: 0 };
  return { outcome: { ...outcome, ...costs }, response: null, body: null, headers: {}, observation: null };
}

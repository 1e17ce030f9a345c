import { MAX_RETRY_AFTER_MS, parseRetryAfter } from '../../domain/crawl/headers/http-date.ts';
import { exhaustedUntil, quotaOf } from '../../domain/crawl/headers/rate-limit.ts';
import type { FetchFailed, FetchOutcome } from '../../domain/crawl/states/outcome.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { ResponseHead } from '../../ports/fetch-protocol.ts';

/** Time and costs of a visit. */
export type VisitCosts = Pick<FetchFailed, 'at' | 'requests' | 'bodyBytes' | 'receivedBytes' | 'ms'>;

const PERMANENT = new Set([300, 301, 308]);
const TEMPORARY = new Set([302, 303, 307]);
const GONE = new Set([404, 410]);
/** Statuses that may come with a Retry-After: the server is overloaded or under maintenance. */
const THROTTLED = new Set([429, 503]);

/** Statuses by which a server asks for credentials, or for others. */
const REFUSED = new Set([401, 403]);
const WITHHELD =
  'its credentials were withheld, as they are not sent over http: ' +
  '"secretsOverHttp: true" in its entry of "hosts:" sends them';

/** The outcome of an answer other than 2xx (and other than a 304 to a conditional request). */
export function statusOutcome(
  { status, headers, withheldSecrets }: Pick<ResponseHead, 'status' | 'headers' | 'withheldSecrets'>,
  costs: VisitCosts,
): FetchOutcome {
  const target = headers.location?.trim() ?? '';
  if ((PERMANENT.has(status) || TEMPORARY.has(status)) && target !== '') {
    return { kind: 'redirect', status, permanent: PERMANENT.has(status), target, ...costs };
  }
  if (GONE.has(status)) return { kind: 'gone', status, ...costs };
  const retryAt = retryAtIn(status, headers, costs.at);
  const message = `status ${status}${withheldSecrets && REFUSED.has(status) ? `; ${WITHHELD}` : ''}`;
  return { kind: 'failed', code: codeOf(status, retryAt), message, status, retryAt, ...costs };
}

/**
 * Until when an answer asks that its host be left alone; `patienceMs` from now where it names no time. `null`: it does
 * not ask.
 */
export function restAskedFor(
  { status, headers }: Pick<ResponseHead, 'status' | 'headers'>,
  at: number,
  patienceMs: number,
): number | null {
  const retryAt = retryAtIn(status, headers, at);
  return codeOf(status, retryAt) === 'http-throttled' ? (retryAt ?? at + patienceMs) : null;
}

/**
 * Until when a host is left alone after a visit: it throttles, or the answer says that no request is left to it.
 * `null`: it may be asked on.
 */
export function pauseAfter(outcome: FetchOutcome, headers: ResponseHead['headers'], patienceMs: number): number | null {
  if (outcome.kind === 'failed' && outcome.code === 'http-throttled') return outcome.retryAt ?? outcome.at + patienceMs;
  return exhaustedUntil(headers, outcome.at);
}

/** Where a server names no time, that of its new quota: a 429 says that there is none left. */
function retryAtIn(status: number, headers: ResponseHead['headers'], at: number): number | null {
  const retryAfter = headers['retry-after'];
  if (retryAfter !== undefined) return parseRetryAfter(retryAfter, at);
  if (status === 429) return latestPause(quotaOf(headers, at)?.resetAt, at);
  return exhaustedUntil(headers, at);
}

const latestPause = (resetAt: number | undefined, at: number): number | null =>
  resetAt === undefined ? null : Math.min(resetAt, at + MAX_RETRY_AFTER_MS);

function codeOf(status: number, retryAt: number | null): ErrorCode {
  if (status === 429 || (THROTTLED.has(status) && retryAt !== null)) return 'http-throttled';
  if (status >= 500) return 'http-server-error';
  if (status >= 400) return 'http-client-error';
  return status >= 300 && status !== 304 ? 'redirect-invalid' : 'protocol-error';
}

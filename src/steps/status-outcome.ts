import type { FetchFailed, FetchOutcome } from '../domain/crawl/outcome.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { ResponseHead } from '../ports/fetch-protocol.ts';

/** When a visit was, and what it took. */
export type VisitCosts = Pick<FetchFailed, 'at' | 'requests' | 'bodyBytes' | 'receivedBytes' | 'ms'>;

const PERMANENT = new Set([300, 301, 308]);
const TEMPORARY = new Set([302, 303, 307]);
const GONE = new Set([404, 410]);
/** Answers that ask for patience rather than report a fault. */
const THROTTLED = new Set([429, 503]);

/**
 * What an answer other than 2xx (and 304, where it was asked for) means for the URL.
 *
 * @param parseRetryAfter Retry-After (RFC 9110 section 10.2.3) to ms since the epoch; `null` when it cannot be read
 */
export function statusOutcome(
  { status, headers }: Pick<ResponseHead, 'status' | 'headers'>,
  costs: VisitCosts,
  parseRetryAfter: (value: string, now: number) => number | null,
): FetchOutcome {
  const target = headers.location?.trim() ?? '';
  if ((PERMANENT.has(status) || TEMPORARY.has(status)) && target !== '') {
    return { kind: 'redirect', status, permanent: PERMANENT.has(status), target, ...costs };
  }
  if (GONE.has(status)) return { kind: 'gone', status, ...costs };
  const retryAfter = headers['retry-after'];
  const retryAt = retryAfter === undefined ? null : parseRetryAfter(retryAfter, costs.at);
  return { kind: 'failed', code: codeOf(status, retryAt), message: `status ${status}`, status, retryAt, ...costs };
}

function codeOf(status: number, retryAt: number | null): ErrorCode {
  if (status === 429 || (THROTTLED.has(status) && retryAt !== null)) return 'http-throttled';
  if (status >= 500) return 'http-server-error';
  if (status >= 400) return 'http-client-error';
  return status >= 300 && status !== 304 ? 'redirect-invalid' : 'protocol-error';
}

// core/domain/delivery/: deliveries over HTTP: pauses between retries, signatures of webhooks.

import { parseRetryAfter } from '../crawl/headers/header-fields.ts';

export interface RetryTerms {
  /** Attempts that have failed before the one that failed last. */
  readonly attempt: number;
  /** Pause after the first failure; it doubles with each. */
  readonly firstMs: number;
  /** Longest pause, also where the server asks for more. */
  readonly longestMs: number;
  /** Retry-After of the answer; `null`: none. */
  readonly retryAfterMs: number | null;
}

/**
 * Pause before the next attempt, ms: exponential backoff, half of it at random, so that many senders do not come at
 * once; not less than Retry-After.
 * @param random uniform in [0, 1)
 */
export function retryPauseMs({ attempt, firstMs, longestMs, retryAfterMs }: RetryTerms, random: () => number): number {
  const backoffMs = Math.min(longestMs, firstMs * 2 ** attempt) * (0.5 + random() / 2);
  return Math.min(longestMs, Math.max(backoffMs, retryAfterMs ?? 0));
}

/**
 * Retry-After as a duration from now on, ms.
 * @param header its value; `null`: not sent
 */
export function retryAfterMs(header: string | null, now: number): number | null {
  const until = header === null ? null : parseRetryAfter(header, now);
  return until === null ? null : Math.max(0, until - now);
}

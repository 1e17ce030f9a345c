// core/domain/delivery/: deliveries over HTTP: pauses between retries, signatures of webhooks.

import { parseRetryAfter } from '../crawl/headers/header-fields.ts';

export interface SignedMessage {
  /** The same in every attempt. */
  readonly id: string;
  /** Time of the attempt, ms since the epoch. */
  readonly at: number;
  /** JSON. */
  readonly body: string;
}

export interface WebhookSender {
  readonly userAgent: string;
  /** Signs messages; `null`: they go unsigned. Text, or `whsec_` and base64. */
  readonly secret: string | null;
}

/** HMAC-SHA256 of a text, in base64. */
export type Hmac = (key: Uint8Array, text: string) => string;

/**
 * Headers of a message by "Standard Webhooks" (https://www.standardwebhooks.com): `webhook-signature` is `v1,` and the
 * HMAC-SHA256 over id, time and body. Receivers have libraries for it.
 */
export function webhookHeaders(
  { id, at, body }: SignedMessage,
  { userAgent, secret }: WebhookSender,
  hmac: Hmac,
): Record<string, string> {
  const seconds = String(Math.floor(at / 1_000));
  const headers = {
    'content-type': 'application/json',
    'user-agent': userAgent,
    'webhook-id': id,
    'webhook-timestamp': seconds,
  };
  if (secret === null) return headers;
  return { ...headers, 'webhook-signature': `v1,${hmac(keyOf(secret), `${id}.${seconds}.${body}`)}` };
}

const keyOf = (secret: string): Uint8Array =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);

interface RetryTerms {
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

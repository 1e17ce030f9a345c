import { createHmac } from 'node:crypto';
import { parseRetryAfter } from '../../domain/crawl/headers/http-date.ts';
import type { Delivery, Webhook, WebhookMessage } from '../../ports/webhook.ts';

export interface WebhookOptions {
  readonly url: string;
  /** Signs messages; `null`: they go unsigned. Text, or `whsec_` and base64. */
  readonly secret: string | null;
  readonly userAgent: string;
  readonly timeoutMs: number;
}

/**
 * Sends messages by POST, signed as "Standard Webhooks" has it (https://www.standardwebhooks.com): HMAC-SHA256 over id,
 * time and body in the header `webhook-signature`, for which receivers have libraries. Redirects are not followed: a
 * body that was meant for one address goes to no other.
 */
export function createWebhook({ url, secret, userAgent, timeoutMs }: WebhookOptions): Webhook {
  const key = secret === null ? null : keyOf(secret);
  return {
    async deliver(message, signal) {
      const headers: Record<string, string> = {
        'content-type': 'application/json',
        'user-agent': userAgent,
        'webhook-id': message.id,
        'webhook-timestamp': secondsOf(message),
      };
      if (key !== null) headers['webhook-signature'] = signature(key, message);
      // Joined signals do not keep what they are made of: a limit that nobody else holds is lost with the next garbage
      // collection.
      const limit = AbortSignal.timeout(timeoutMs);
      try {
        const answer = await fetch(url, {
          method: 'POST',
          headers,
          body: message.body,
          redirect: 'manual',
          signal: AbortSignal.any([signal, limit]),
        });
        // What a receiver has to say beside its status is of no use, and may be without end.
        await answer.body?.cancel();
        return outcomeOf(answer, message.at);
      } catch (error) {
        const reason = limit.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(error);
        return { isTaken: false, status: null, reason, retryAfterMs: null, isFinal: false };
      }
    },
  };
}

/** `v1,` and the signature in base64. */
function signature(key: Buffer, message: WebhookMessage): string {
  const hmac = createHmac('sha256', key).update(`${message.id}.${secondsOf(message)}.${message.body}`);
  return `v1,${hmac.digest('base64')}`;
}

const secondsOf = ({ at }: WebhookMessage): string => String(Math.floor(at / 1_000));

const keyOf = (secret: string): Buffer =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);

function outcomeOf(answer: Response, now: number): Delivery {
  const { status } = answer;
  if (status >= 200 && status < 300) return { isTaken: true, status };
  const retryAfter = answer.headers.get('retry-after');
  const retryAt = retryAfter === null ? null : parseRetryAfter(retryAfter, now);
  const reason = status >= 300 && status < 400 ? `status ${status}: redirects are not followed` : `status ${status}`;
  const retryAfterMs = retryAt === null ? null : Math.max(0, retryAt - now);
  return { isTaken: false, status, reason, retryAfterMs, isFinal: status === 410 };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause.message : '';
  return cause === '' ? error.message : `${error.message}: ${cause}`;
}

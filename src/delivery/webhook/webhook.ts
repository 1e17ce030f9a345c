// delivery/webhook/: signed requests to webhooks.

import { createHmac } from 'node:crypto';
import { retryAfterMs } from '../../core/domain/delivery/retry-pause.ts';
import { type Hmac, type WebhookSender, webhookHeaders } from '../../core/domain/delivery/standard-webhooks.ts';
import type { Delivery, Webhook } from '../../core/ports/webhook.ts';

export interface WebhookOptions extends WebhookSender {
  readonly url: string;
  /** For one attempt, ms. */
  readonly timeoutMs: number;
}

const hmac: Hmac = (key, text) => createHmac('sha256', key).update(text).digest('base64');

/**
 * Sends messages by POST, signed where there is a secret. Redirects are not followed: a body that was meant for one
 * address goes to no other.
 */
export function createWebhook({ url, timeoutMs, ...sender }: WebhookOptions): Webhook {
  return {
    async deliver(message, signal) {
      const headers = webhookHeaders(message, sender, hmac);
      // `AbortSignal.any` holds its sources weakly: a limit without another reference is lost with the next garbage
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
        // Only the status is used, and the body may be endless.
        await answer.body?.cancel();
        return outcomeOf(answer, message.at);
      } catch (error) {
        const reason = limit.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(error);
        return { isTaken: false, status: null, reason, retryAfterMs: null, isFinal: false };
      }
    },
  };
}

function outcomeOf(answer: Response, now: number): Delivery {
  const { status } = answer;
  if (status >= 200 && status < 300) return { isTaken: true, status };
  const reason = status >= 300 && status < 400 ? `status ${status}: redirects are not followed` : `status ${status}`;
  const askedMs = retryAfterMs(answer.headers.get('retry-after'), now);
  return { isTaken: false, status, reason, retryAfterMs: askedMs, isFinal: status === 410 };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause.message : '';
  return cause === '' ? error.message : `${error.message}: ${cause}`;
}

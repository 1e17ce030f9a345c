import { createHmac } from 'node:crypto';
import {
  type SignedMessage,
  webhookHeaders as standardHeaders,
  type WebhookSender,
} from '../../domain/delivery/standard-webhooks.ts';

/** Headers of a signed message by "Standard Webhooks" (https://www.standardwebhooks.com). */
export function webhookHeaders(message: SignedMessage, sender: WebhookSender): Record<string, string> {
  return standardHeaders(message, sender, (key, text) => createHmac('sha256', key).update(text).digest('base64'));
}

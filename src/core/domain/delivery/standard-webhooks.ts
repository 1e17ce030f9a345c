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

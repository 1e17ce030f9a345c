import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { webhookHeaders } from '../../../../src/core/domain/delivery/delivery-terms.ts';

const hmac = (key: Uint8Array, text: string): string => createHmac('sha256', key).update(text).digest('base64');
const userAgent = 'test/1';

/** The example of the specification's reference libraries. */
it('signs as the reference libraries of Standard Webhooks do', () => {
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', at: 1_614_265_330_000, body: '{"test": 2432232314}' };
  const headers = webhookHeaders(message, { userAgent, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }, hmac);
  expect(headers).toEqual({
    'content-type': 'application/json',
    'user-agent': userAgent,
    'webhook-id': message.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

it('leaves the signature out without a secret', () => {
  const headers = webhookHeaders({ id: 'a', at: 999, body: '{}' }, { userAgent, secret: null }, hmac);
  expect(Object.keys(headers)).not.toContain('webhook-signature');
  expect(headers['webhook-timestamp']).toBe('0');
});

import { createHmac } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWebhook } from '../../src/delivery/changes/webhook-delivery.ts';
import { type HookReceiver, startHookReceiver } from '../site/hook-receiver.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

let receiver: HookReceiver;
beforeAll(async () => {
  receiver = await startHookReceiver();
});
afterAll(() => receiver.close());

const message = { id: 'a1_1_2', at: 1_800_000_000_999, body: '{"größe":1}' };
const never = new AbortController().signal;
const hook = (secret: string | null, timeoutMs = 5_000, url = receiver.url) =>
  createWebhook({ url, secret, userAgent: 'incrawl/test', timeoutMs });

describe('a webhook', () => {
  it.each([
    ['a text', 'topsecret', Buffer.from('topsecret')],
    ['base64', `whsec_${Buffer.from('topsecret').toString('base64')}`, Buffer.from('topsecret')],
  ])('is signed over id, time and body, by %s', async (_, secret, key) => {
    expect(await hook(secret).deliver(message, never)).toEqual({ isTaken: true, status: 204 });
    const { headers, body } = receiver.received.at(-1)!;
    expect(body).toBe(message.body);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'incrawl/test',
      'webhook-id': 'a1_1_2',
      'webhook-timestamp': '1800000000',
    });
    const expected = createHmac('sha256', key).update('a1_1_2.1800000000.{"größe":1}').digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${expected}`);
  });

  it('goes unsigned without a secret', async () => {
    await hook(null).deliver(message, never);
    expect(receiver.received.at(-1)!.headers['webhook-signature']).toBeUndefined();
  });

  it.each([
    [500, { status: 500, reason: 'status 500', retryAfterMs: null, isFinal: false }],
    [410, { status: 410, reason: 'status 410', retryAfterMs: null, isFinal: true }],
    [
      { status: 429, headers: { 'retry-after': '7' } },
      { status: 429, reason: 'status 429', retryAfterMs: 7_000, isFinal: false },
    ],
    [
      { status: 302, headers: { location: 'http://127.0.0.1:1/' } },
      { status: 302, reason: 'status 302: redirects are not followed', retryAfterMs: null, isFinal: false },
    ],
  ] as const)('reports a refusal: %j', async (answer, reported) => {
    receiver.script.push(answer);
    expect(await hook(null).deliver(message, never)).toEqual({ isTaken: false, ...reported });
  });

  it('does not wait for ever, nor fail on a receiver that is not there', async () => {
    receiver.script.push('hang');
    expect(await hook(null, 50).deliver(message, never)).toMatchObject({
      status: null,
      reason: 'no answer within 50 ms',
    });
    receiver.script.push('hang');
    const before = receiver.received.length;
    const late = hook(null, 300).deliver(message, never);
    await receiver.seen(before + 1);
    collectGarbage();
    expect(await late).toMatchObject({ reason: 'no answer within 300 ms' });
    const noWebhook = await hook(null, 5_000, 'http://127.0.0.1:1/').deliver(message, never);
    expect(noWebhook).toMatchObject({ isTaken: false, status: null, isFinal: false });
    expect(noWebhook.isTaken ? '' : noWebhook.reason).toMatch(/fetch failed: |bad port/);
  });
});

import { expect, it } from 'vitest';
import type { Exchange, ExchangeRequest } from '../../src/core/ports/fetch-protocol.ts';
import { networkFault } from '../../src/http/exchange/incoming-response.ts';
import { awaitDescriptor } from '../../src/http/exchange/protocol-options.ts';

const request: ExchangeRequest = {
  url: 'https://a.example/',
  method: 'GET',
  headers: {},
  maxBodyBytes: 1,
  timeoutMs: 500,
};
const outOfFiles = (): Error => networkFault(Object.assign(new Error('connect EMFILE'), { code: 'EMFILE' }));

it('an exchange without a descriptor makes way for itself, waits, and is sent again within its deadline', async () => {
  const timeouts: number[] = [];
  let closed = 0;
  const done = {} as Exchange;
  const send = async ({ timeoutMs }: ExchangeRequest): Promise<Exchange> => {
    timeouts.push(timeoutMs);
    if (timeouts.length < 3) throw outOfFiles();
    return done;
  };
  expect(await awaitDescriptor(request, send, () => closed++)).toBe(done);
  expect(closed).toBe(2);
  expect(timeouts).toHaveLength(3);
  expect(timeouts[1]).toBeLessThan(500);
});

it('at its deadline it ends with system-limit, which is no fault of the host', async () => {
  const send = async (): Promise<Exchange> => {
    throw outOfFiles();
  };
  const waited = awaitDescriptor({ ...request, timeoutMs: 50 }, send, () => {});
  await expect(waited).rejects.toMatchObject({ code: 'system-limit', consequence: 'stop-crawl' });
});

it('another fault is not waited for', async () => {
  let sent = 0;
  const send = async (): Promise<Exchange> => {
    sent++;
    throw networkFault(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  };
  await expect(awaitDescriptor(request, send, () => {})).rejects.toMatchObject({ code: 'connect-failed' });
  expect(sent).toBe(1);
});

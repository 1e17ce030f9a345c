import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { testPlugin } from 'incrawl/plugin-testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import plugin from './plugin.ts';

let server: Server;
let place = '';
let received: { headers: IncomingHttpHeaders; body: string }[];
let statuses: number[];

beforeEach(async () => {
  [received, statuses] = [[], []];
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    received.push({ headers: request.headers, body });
    response.writeHead(statuses.shift() ?? 204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  place = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
});
afterEach(async () => {
  delete process.env.INCRAWL_WEBHOOK_SECRET;
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

describe('exporter-webhook', () => {
  it('keeps the contract of its kind; every message is signed, and says the same id in each attempt', async () => {
    process.env.INCRAWL_WEBHOOK_SECRET = 'whsec_c2VjcmV0';
    statuses = [503];
    await testPlugin(plugin, { place, options: { firstPauseMs: 0, batchPages: 2 } });
    const messages = received.map(({ body }) => JSON.parse(body) as { pages: { url: string }[]; deleted: object[] });
    // A whole export of three pages, and one of three with two removed; the one given up sent nothing.
    expect(messages.map(({ pages, deleted }) => [pages.length, deleted.length])).toEqual([
      [2, 0],
      [2, 0],
      [1, 0],
      [2, 0],
      [1, 1],
      [0, 1],
    ]);
    expect(messages[5]?.deleted).toEqual([
      { url: 'http://example.org/never', state: 'duplicate', target: 'http://example.org/', contentType: null },
    ]);
    const ids = received.map(({ headers }) => headers['webhook-id']);
    expect(ids[0]).toBe(ids[1]);
    expect(new Set(ids).size).toBe(5);
    for (const { headers, body } of received) {
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
      const expected = createHmac('sha256', 'secret').update(signed).digest('base64');
      expect(headers['webhook-signature']).toBe(`v1,${expected}`);
    }
  });

  it('bounds messages by bytes; without a secret they go unsigned', async () => {
    await testPlugin(plugin, { place, options: { batchBytes: 1 } });
    expect(received).toHaveLength(8);
    expect(received[0]?.headers['webhook-signature']).toBeUndefined();
  });

  it('ends with what the receiver says', async () => {
    statuses = [410];
    await expect(testPlugin(plugin, { place })).rejects.toThrow(/\/hook answered 410$/);
    await expect(testPlugin(plugin)).rejects.toThrow('--output URL');
  });
});

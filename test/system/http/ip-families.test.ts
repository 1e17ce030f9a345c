import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { FetchProtocol } from '../../../src/core/ports/fetch-protocol.ts';
import { createGotProtocol } from '../../../src/http/exchange/got-protocol.ts';
import { createUndiciProtocol } from '../../../src/transports/undici/undici-protocol.ts';

let closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.reverse()) await close();
  closers = [];
});

/** The port of a server on one address alone; `null` on a machine without it. */
async function portOn(address: string): Promise<number | null> {
  const server: Server = createServer((_request, response) => response.end('here'));
  server.listen(0, address);
  try {
    await once(server, 'listening');
  } catch {
    return null;
  }
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const hasIPv6 = (await portOn('::1')) !== null;
const families = (await lookup('localhost', { all: true })).map(({ family }) => family);
const isDual = families.includes(4) && families.includes(6);

const TRANSPORTS = [
  ['got', createGotProtocol],
  ['undici', createUndiciProtocol],
] as const;

async function reached(protocol: FetchProtocol, url: string): Promise<string | null> {
  closers.push(() => protocol.close());
  const request = { url, method: 'GET', headers: {}, maxBodyBytes: 1_000, timeoutMs: 10_000 } as const;
  const { head, body } = await protocol.exchange(request);
  expect(Buffer.from(body ?? []).toString()).toBe('here');
  return head.remoteAddress;
}

describe.each(TRANSPORTS)('%s', (_name, create) => {
  it.skipIf(!hasIPv6)('reaches an IPv6 address, which the guard knows as one (skipped without IPv6)', async () => {
    const url = `http://[::1]:${await portOn('::1')}/`;
    expect(await reached(await create({ userAgent: 'test', allowAddresses: ['::1'] }), url)).toBe('::1');
    const guarded = await create({ userAgent: 'test', allowAddresses: ['127.0.0.1'] });
    await expect(reached(guarded, url)).rejects.toMatchObject({ code: 'address-blocked' });
  });

  it.skipIf(!isDual).each(['127.0.0.1', '::1'])(
    'reaches a name of both families whose server is on %s alone (skipped unless localhost is such a name)',
    async (address) => {
      const port = await portOn(address);
      const protocol = await create({ userAgent: 'test', allowAddresses: ['localhost'], connectTimeoutMs: 5_000 });
      expect(await reached(protocol, `http://localhost:${port}/`)).toBe(address);
    },
  );
});

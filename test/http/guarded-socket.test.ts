import type { AddressInfo, LookupFunction, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { networkFault } from '../../src/http/exchange/incoming-response.ts';
import { createAddressGuard } from '../../src/http/guard/address-guard.ts';
import { createSocketMaker, type SocketTarget } from '../../src/http/guard/guarded-socket.ts';
import { type RawServer, startRawServer } from '../site/raw-server.ts';

let site: RawServer;
beforeAll(async () => {
  site = await startRawServer(() => null);
});
afterAll(() => site.close());

const never: LookupFunction = () => {};
const target = (part: Partial<SocketTarget> = {}): SocketTarget => ({
  isSecure: false,
  hostname: '127.0.0.1',
  port: site.port,
  isNamed: false,
  ...part,
});

/** The socket, or the code of what came in between. */
const make = (
  given: Partial<SocketTarget>,
  { allow = [] as string[], timeoutMs = 5000, resolve = undefined as LookupFunction | undefined } = {},
): Promise<Socket | string> =>
  new Promise((done) => {
    const guard = createAddressGuard(allow, resolve);
    createSocketMaker(
      guard,
      timeoutMs,
      timeoutMs,
    )(target(given), (fault, socket) => done(socket ?? networkFault(fault).code));
  });

describe('guarded sockets', () => {
  it('are handed over connected', async () => {
    const socket = (await make({}, { allow: ['127.0.0.1'] })) as Socket;
    expect(socket.remoteAddress).toBe('127.0.0.1');
    expect((socket.address() as AddressInfo).port).toBeGreaterThan(0);
    socket.destroy();
  });

  it('the connected address is checked, whatever permitted it before', async () => {
    // As though the text of the URL had not been checked.
    expect(await make({})).toBe('address-blocked');
    expect(await make({ isNamed: true })).toHaveProperty('destroyed', false);
  });

  it.each<[string, Partial<SocketTarget>, string]>([
    ['the name is resolved', { hostname: 'slow.example' }, 'dns-failed'],
    ['TLS is agreed upon', { isSecure: true }, 'tls-failed'],
  ])('give up when time is over before %s', async (_name, given, code) => {
    expect(await make(given, { allow: ['127.0.0.1'], timeoutMs: 30, resolve: never })).toBe(code);
  });

  it('one that is destroyed on its way is reported once', async () => {
    const faults: (Error | null)[] = [];
    const guard = createAddressGuard(['127.0.0.1'], never);
    await new Promise<void>((done) => {
      const socket = createSocketMaker(
        guard,
        5000,
        5000,
      )(target({ hostname: 'slow.example' }), (fault) => {
        faults.push(fault);
        setImmediate(done);
      });
      socket.destroy();
    });
    expect(faults).toEqual([expect.any(Error)]);
  });
});

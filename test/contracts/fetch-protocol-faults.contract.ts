import dns from 'node:dns';
import { createServer as createTlsServer } from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { ExchangeRequest } from '../../src/core/ports/fetch-protocol.ts';
import { startFullServer } from '../site/full-server.ts';
import { type HostileServer, startHostileServer } from '../site/hostile-server.ts';
import { startRawServer } from '../site/raw-server.ts';
import { unknownIdentity } from '../site/tls-identity.ts';
import {
  type CreateProtocol,
  FINE,
  failure,
  type ProtocolSettings,
  protocolExam,
  type SkippedQuestions,
  textOf,
} from './fetch-protocol-exam.ts';

/** Failing servers and networks, connections, and forbidden addresses. */
export function faultsContract(create: CreateProtocol, skipped: SkippedQuestions = {}): void {
  const exam = protocolExam(create);
  const { open, ask } = exam;

  describe('faults', () => {
    it.each([
      ['/switching-protocols', 'protocol-error'],
      ['/switching-nothing', 'protocol-error'],
      ['/not-http', 'protocol-error'],
      ['/two-lengths', 'protocol-error'],
      ['/bad-chunk', 'protocol-error'],
      ['/huge-headers?bytes=100000', 'headers-too-large'],
      ['/length-and-chunks', 'protocol-error'],
      ['/many-fields?count=5000', 'headers-too-large'],
      ['/reset-at-once', 'fetch-aborted'],
      ['/half-a-head', 'fetch-aborted'],
    ])('%s: %s', async (path, code) => {
      expect(await failure(ask(path))).toBe(code);
    });

    it('a header section within the limit is read', async () => {
      expect(await failure(ask('/huge-headers?bytes=10000'))).toMatchObject({ status: 200 });
    });

    it('the limit for headers can be raised', async () => {
      const protocol = open({ maxHeaderBytes: 200_000 });
      expect(await failure(ask('/huge-headers?bytes=100000', {}, protocol))).toMatchObject({ status: 200 });
    });

    it.each<[string, string, Partial<ProtocolSettings>, Partial<ExchangeRequest>]>([
      ['no head', '/slow-head', { headTimeoutMs: 100 }, {}],
      ['a stalling body', '/slow-body', { stallTimeoutMs: 100 }, {}],
      ['the deadline, before the head', '/slow-head', {}, { timeoutMs: 100 }],
      ['the deadline, in a body that never pauses', '/trickle', { stallTimeoutMs: 5000 }, { timeoutMs: 150 }],
      ['the deadline, in a head without end', '/endless-headers', {}, { timeoutMs: 150 }],
    ])('%s: fetch-timeout', async (_name, path, settings, change) => {
      expect(await failure(ask(path, change, open(settings)))).toBe('fetch-timeout');
    });

    it('a refused connection', async () => {
      const other = await startHostileServer();
      await other.close();
      expect(await failure(ask(`${other.origin}/`))).toBe('connect-failed');
    });

    it.runIf(process.platform === 'linux')('a connection that is not made in time', async () => {
      const full = await startFullServer();
      const protocol = open({ connectTimeoutMs: 200 });
      expect(await failure(ask(`http://127.0.0.1:${full.port}/`, {}, protocol))).toBe('connect-timeout');
      await full.close();
    });

    it('a name that does not exist', async () => {
      expect(await failure(ask('http://nowhere.invalid/', { timeoutMs: 5000 }))).toBe('dns-failed');
    });

    it('of several addresses the first is not given up after a quarter of a second', async () => {
      const { lookup } = dns;
      const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
      const slowly = (_name: string, _options: object, done: (fault: null, found: typeof addresses) => void): void => {
        // Timers come before sockets once a check of the loop is over, so a busy loop is as good as a slow network.
        setImmediate(() => {
          done(null, addresses);
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
        });
      };
      dns.lookup = slowly as unknown as typeof lookup;
      syncBuiltinESMExports();
      try {
        expect(await failure(ask(`http://far.example:${exam.site.port}/ok`))).toMatchObject({ status: 200 });
      } finally {
        dns.lookup = lookup;
        syncBuiltinESMExports();
      }
    });

    it('TLS with a server that speaks none', async () => {
      expect(await failure(ask(`https://127.0.0.1:${exam.site.port}/`))).toBe('tls-failed');
    });

    it.each(['before', 'during', 'in the body'])('an abort %s the exchange', async (when) => {
      const stop = new AbortController();
      const reason = new Error('enough');
      if (when === 'before') stop.abort(reason);
      const path = when === 'in the body' ? '/slow-body' : '/slow-head';
      const before = exam.site.account(path).requests;
      const exchange = ask(path, {
        signal: stop.signal,
        onHead: () => {
          setImmediate(() => stop.abort(reason));
          return 'read';
        },
      });
      const outcome = exchange.catch((error: unknown) => error);
      if (when === 'during') {
        while (exam.site.account(path).requests === before) await new Promise((resolve) => setTimeout(resolve, 5));
        stop.abort(reason);
      }
      expect(await outcome).toMatchObject({ code: 'fetch-aborted', cause: reason });
    });

    it('keeps the cause', async () => {
      const other = await startHostileServer();
      await other.close();
      await expect(ask(`${other.origin}/`)).rejects.toMatchObject({ cause: expect.any(Error) });
    });

    it('a handshake that does not come to an end', async () => {
      const silent = await startRawServer(() => null);
      const protocol = open({ connectTimeoutMs: 100 });
      expect(await failure(ask(`https://127.0.0.1:${silent.port}/`, {}, protocol))).toBe('tls-failed');
      await silent.close();
    });

    it('an untrusted certificate: no request is sent', async () => {
      let requests = 0;
      const server = createTlsServer(unknownIdentity, (_request, response) => {
        requests++;
        response.end();
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      expect(await failure(ask(`https://127.0.0.1:${port}/`))).toBe('tls-failed');
      expect(requests).toBe(0);
      await new Promise((resolve) => server.close(resolve));
    });

    it('an invalid URL', async () => {
      expect(await failure(ask('not a url'))).toBe('url-invalid');
    });
  });

  describe('connections', () => {
    it('are kept between exchanges', async () => {
      const protocol = open();
      const before = exam.site.connections;
      for (let i = 0; i < 5; i++) await ask('/ok', {}, protocol);
      expect(exam.site.connections - before).toBe(1);
    });

    it('are opened again when the server closed an idle one', async () => {
      const protocol = open();
      for (let i = 0; i < 3; i++) expect(textOf((await ask('/closes-second', {}, protocol)).body)).toBe('fresh');
    });

    it('are opened again, too, when it is reset', async () => {
      const protocol = open();
      for (let i = 0; i < 3; i++) expect(textOf((await ask('/resets-second', {}, protocol)).body)).toBe('fresh');
    });

    it('are not replaced once something of an answer has come', async () => {
      const protocol = open();
      await ask('/half-a-head-second', {}, protocol);
      const { requests } = exam.site.account('/half-a-head-second');
      expect(await failure(ask('/half-a-head-second', {}, protocol))).toBe('fetch-aborted');
      expect(exam.site.account('/half-a-head-second').requests - requests).toBe(1);
    });

    it.each([
      ['more than its length', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more'],
      ['two answers', `HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello${FINE}`],
    ])('%s: an unrequested response goes to no request', async (_name, answer) => {
      const server = await startRawServer((path) => (path === '/' ? answer : FINE));
      const protocol = open();
      for (let i = 0; i < 3; i++) {
        const { body, truncated } = await ask(`${server.origin}/`, {}, protocol);
        expect([textOf(body), truncated]).toEqual(['hello', false]);
        expect(textOf((await ask(`${server.origin}/next`, {}, protocol)).body)).toBe('fine');
      }
      await server.close();
    });

    if (!('maxSockets' in skipped))
      it('are no more than allowed to one host, and each exchange gets its turn', async () => {
        const protocol = open({ maxSockets: 3 });
        const before = exam.site.connections;
        const exchanges = Array.from({ length: 20 }, () => ask('/in-a-moment', {}, protocol));
        for (const { body } of await Promise.all(exchanges)) expect(textOf(body)).toBe('done');
        expect(exam.site.connections - before).toBe(3);
        expect(exam.site.account('/in-a-moment').maxRunning).toBe(3);
      });

    it('are free again after a failed exchange, and a waiting one may be aborted', async () => {
      const protocol = open({ maxSockets: 1, stallTimeoutMs: 100 });
      const stop = new AbortController();
      const [stalled, late, aborted, served] = [
        ask('/slow-body', {}, protocol),
        ask('/ok', { timeoutMs: 20 }, protocol),
        ask('/ok', { signal: stop.signal }, protocol),
        ask('/ok?bytes=3', {}, protocol),
      ].map(failure);
      stop.abort();
      expect(await Promise.all([stalled, late, aborted])).toEqual(['fetch-timeout', 'fetch-timeout', 'fetch-aborted']);
      expect(await served).toMatchObject({ status: 200, bodyBytes: 3 });
      for (let i = 0; i < 3; i++) await ask('/endless', { onHead: () => 'drop' }, protocol);
      expect(await failure(ask('/ok', {}, protocol))).toMatchObject({ status: 200 });
    });

    it('idle ones are closed when there are too many, the one idle for longest first', async () => {
      const protocol = open({ maxIdleSockets: 2 });
      const sites = [await startHostileServer(), await startHostileServer(), await startHostileServer()];
      const [a, b, c] = sites as [HostileServer, HostileServer, HostileServer];
      for (const { origin } of [a, b, c, c, b, a]) await ask(`${origin}/ok`, {}, protocol);
      expect([a.connections, b.connections, c.connections]).toEqual([2, 1, 1]);
      for (const each of sites) await each.close();
    });

    it('exchanges under way go on when the protocol is closed', async () => {
      const protocol = open();
      const exchange = ask('/in-a-moment', {}, protocol);
      await (await protocol).close();
      expect(textOf((await exchange).body)).toBe('done');
    });

    it('are closed with the protocol', async () => {
      const protocol = open();
      await ask('/ok', {}, protocol);
      await (await protocol).close();
      const before = exam.site.connections;
      await ask('/ok', {}, protocol);
      expect(exam.site.connections - before).toBe(1);
    });
  });

  describe('the address guard', () => {
    const closed: Partial<ProtocolSettings> = { allowAddresses: [] };

    it.each([
      'http://127.0.0.1',
      'http://2130706433',
      'http://[::ffff:127.0.0.1]',
      'http://localhost',
      'http://sub.localhost.',
    ])('refuses %s', async (origin) => {
      const before = exam.site.seen.length;
      const protocol = open(closed);
      expect(await failure(ask(`${origin}:${exam.site.port}/ok`, {}, protocol))).toBe('address-blocked');
      expect(exam.site.seen.length).toBe(before);
    });

    it.each([
      ['an address', () => '127.0.0.1', () => '127.0.0.1'],
      ['a range', () => '127.0.0.0/8', () => '127.0.0.1'],
      ['a range, for a name', () => '127.0.0.0/8', () => 'localhost'],
      ['address and port', () => `127.0.0.1:${exam.site.port}`, () => '127.0.0.1'],
      ['a name', () => 'localhost', () => 'localhost'],
      ['name and port', () => `localhost:${exam.site.port}`, () => 'localhost'],
    ])('lets through addresses allowed by %s', async (_name, entry, host) => {
      const protocol = open({ allowAddresses: [entry()] });
      expect(await failure(ask(`http://${host()}:${exam.site.port}/ok`, {}, protocol))).toMatchObject({ status: 200 });
    });

    it('an allowed name or port opens no other', async () => {
      const byName = open({ allowAddresses: ['localhost', '127.0.0.1:1'] });
      expect(await failure(ask('/ok', {}, byName))).toBe('address-blocked');
    });

    it('judges each request, also when an allowed one has left a connection', async () => {
      const protocol = open({ allowAddresses: ['localhost'] });
      await ask(`http://localhost:${exam.site.port}/ok`, {}, protocol);
      expect(await failure(ask('/ok', {}, protocol))).toBe('address-blocked');
    });

    it('lets exchanges with thousands of allowed addresses through at once', async () => {
      const other = await startHostileServer();
      await other.close();
      const { port } = new URL(other.origin);
      const protocol = open();
      const hosts = Array.from({ length: 1500 }, (_, i) => `127.1.${i >> 8}.${i & 255}`);
      const codes = await Promise.all(hosts.map((host) => failure(ask(`http://${host}:${port}/`, {}, protocol))));
      expect(new Set(codes)).toEqual(new Set(['connect-failed']));
    });

    it('refuses an allow list that cannot be read', async () => {
      await expect(open({ allowAddresses: ['10.0.0.0/99'] })).rejects.toThrow('"10.0.0.0/99"');
    });

    it('refuses the metadata service even under an allowed range', async () => {
      const protocol = open({ allowAddresses: ['169.254.0.0/16', '0.0.0.0/0'] });
      expect(await failure(ask('http://169.254.169.254/latest/', { timeoutMs: 500 }, protocol))).toBe(
        'address-blocked',
      );
    });
  });
}

import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CrawlError } from '../../src/domain/errors.ts';
import type { Exchange, ExchangeRequest, FetchProtocol } from '../../src/ports/fetch-protocol.ts';
import { type HostileServer, startHostileServer } from '../site/hostile-server.ts';
import { startRawServer } from '../site/raw-server.ts';
import { ETAG, LAST_MODIFIED, PLAIN } from '../site/routes.ts';
import { unknownIdentity } from '../site/tls-identity.ts';

export interface ProtocolSettings {
  readonly userAgent: string;
  readonly maxHeaderBytes: number;
  readonly connectTimeoutMs: number;
  readonly headTimeoutMs: number;
  readonly stallTimeoutMs: number;
  readonly allowAddresses: readonly string[];
  readonly maxSockets?: number;
  readonly maxIdleSockets?: number;
}

/** What the raw server says to whatever comes next. */
const FINE = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine';

/** The exam of every {@link FetchProtocol} for http, against real connections to a server that misbehaves. */
export function fetchProtocolContract(
  name: string,
  create: (settings: ProtocolSettings) => FetchProtocol | Promise<FetchProtocol>,
): void {
  let site: HostileServer;
  const opened: FetchProtocol[] = [];

  beforeAll(async () => {
    site = await startHostileServer();
  });
  afterEach(async () => {
    for (const protocol of opened.splice(0)) await protocol.close();
  });
  afterAll(() => site.close());

  const open = async (settings: Partial<ProtocolSettings> = {}): Promise<FetchProtocol> => {
    const protocol = await create({
      userAgent: 'exam/1.0 (+mailto:exam@example.org)',
      maxHeaderBytes: 16_384,
      connectTimeoutMs: 5000,
      headTimeoutMs: 5000,
      stallTimeoutMs: 5000,
      allowAddresses: ['127.0.0.0/8'],
      ...settings,
    });
    opened.push(protocol);
    return protocol;
  };

  const ask = async (path: string, change: Partial<ExchangeRequest> = {}, protocol = open()): Promise<Exchange> =>
    (await protocol).exchange({
      url: path.startsWith('/') ? site.origin + path : path,
      method: 'GET',
      headers: {},
      maxBodyBytes: 1_000_000,
      timeoutMs: 10_000,
      ...change,
    });

  const text = (body: Uint8Array | null): string => Buffer.from(body ?? []).toString('utf8');

  /** The code, and the whole error where it is none of ours. */
  const failure = async (exchange: Promise<Exchange>): Promise<unknown> => {
    try {
      const { head, truncated, bodyBytes } = await exchange;
      return { status: head.status, truncated, bodyBytes };
    } catch (error) {
      return error instanceof CrawlError ? error.code : error;
    }
  };

  describe(`fetch protocol: ${name}`, () => {
    describe('the plain exchange', () => {
      it('gives head, body and accounts', async () => {
        const { head, body, wireBody, truncated, bodyBytes, receivedBytes, ms } = await ask('/ok?bytes=5000');
        expect(head).toMatchObject({ status: 200, statusText: 'OK', httpVersion: '1.1', remoteAddress: '127.0.0.1' });
        expect(head.headers).toMatchObject({ 'content-type': 'text/html', 'content-length': '5000' });
        expect(head.rawHeaders.slice(0, 2)).toEqual(['content-type', 'text/html']);
        expect(text(body)).toBe('x'.repeat(5000));
        expect(wireBody).toBe(body);
        expect([truncated, bodyBytes]).toEqual([false, 5000]);
        expect(receivedBytes).toBeGreaterThan(5000 + 60);
        expect(ms).toBeGreaterThanOrEqual(0);
      });

      it('gives bodies memory of their own, so that they can be handed to a worker', async () => {
        for (const path of ['/ok?bytes=100', '/ok?bytes=300000', '/gzip']) {
          const { body, wireBody } = await ask(path);
          expect(body?.byteLength).toBe(body?.buffer.byteLength);
          expect(wireBody?.byteLength).toBe(wireBody?.buffer.byteLength);
        }
      });

      it('sends its own headers and those of the request, and no credentials', async () => {
        const { port } = site;
        const { body } = await ask(`http://user:secret@127.0.0.1:${port}/echo-headers#fragment`, {
          headers: { 'if-none-match': ETAG },
        });
        const sent = JSON.parse(text(body)) as Record<string, string>;
        expect(sent).toMatchObject({
          'user-agent': 'exam/1.0 (+mailto:exam@example.org)',
          'accept-encoding': 'gzip, deflate, br',
          'if-none-match': ETAG,
          host: `127.0.0.1:${port}`,
        });
        expect(sent.accept).toContain('text/html');
        expect(Object.keys(sent)).not.toContain('authorization');
        expect(Object.keys(sent)).not.toContain('cookie');
        expect(site.seen.at(-1)?.path).toBe('/echo-headers');
      });

      it('joins repeated fields', async () => {
        const { head } = await ask('/repeated-headers');
        expect(head.headers).toMatchObject({ 'set-cookie': 'a=1, b=2', 'x-twice': 'one, two' });
        expect(head.rawHeaders.filter((each) => each === 'X-Twice')).toHaveLength(2);
      });

      it('keeps no cookies', async () => {
        const protocol = open();
        await ask('/repeated-headers', {}, protocol);
        const { body } = await ask('/echo-headers', {}, protocol);
        expect(text(body)).not.toContain('a=1');
      });

      it('passes over informational answers', async () => {
        const { head, body } = await ask('/early-hints');
        expect([head.status, text(body)]).toEqual([200, 'after hints']);
      });

      it.each([
        ['/early-hints', 'OK', 'after hints'],
        ['/many-hints', 'OK', 'ok'],
      ])('%s: the reason is that of the final answer', async (path, reason, expected) => {
        const { head, body } = await ask(path);
        expect([head.statusText, text(body)]).toEqual([reason, expected]);
      });

      it.each([
        ['/old', '1.0', 'Fine', 'old'],
        ['/ok?bytes=2', '1.1', 'OK', 'xx'],
      ])('%s: HTTP version %s, reason "%s"', async (path, version, reason, expected) => {
        const { head, body, truncated } = await ask(path);
        expect([head.httpVersion, head.statusText, text(body), truncated]).toEqual([version, reason, expected, false]);
      });

      it('reads fields as RFC 9110 has them', async () => {
        const { head } = await ask('/odd-fields');
        expect(head.headers).toMatchObject({
          etag: '"a"',
          'retry-after': '1',
          'last-modified': 'one',
          'x-blank': 'in \t between',
          'x-empty': '',
          'x-empty-too': '',
          constructor: 'c',
          'x-latin': '\u00e9\u00a0',
        });
        expect(head.rawHeaders).toContain('RETRY-AFTER');
        expect(head.rawHeaders).toHaveLength(2 * 13);
      });

      it('an empty body is a body', async () => {
        const { body, truncated } = await ask('/empty');
        expect([body?.length, truncated]).toEqual([0, false]);
      });
    });

    describe('answers that have no body', () => {
      it.each<[string, string, 'GET' | 'HEAD', number]>([
        ['HEAD', '/ok?bytes=5000', 'HEAD', 200],
        ['204', '/no-content', 'GET', 204],
        ['304', '/conditional', 'GET', 304],
        ['304 without validators', '/not-modified-bare', 'GET', 304],
        ['HEAD refused by 405', '/head-405', 'HEAD', 405],
        ['HEAD refused by 501', '/head-501', 'HEAD', 501],
        ['HEAD that differs from GET', '/head-differs', 'HEAD', 200],
      ])('%s', async (_name, path, method, status) => {
        const protocol = open();
        const { head, body, wireBody, bodyBytes, truncated } = await ask(
          path,
          { method, headers: { 'if-none-match': ETAG } },
          protocol,
        );
        expect([head.status, body, wireBody, bodyBytes, truncated]).toEqual([status, null, null, 0, false]);
        const before = site.connections;
        await ask('/ok', {}, protocol);
        expect(site.connections, 'the connection is kept').toBe(before);
      });

      it.each<[string, 'GET' | 'HEAD', number]>([
        ['HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody', 'GET', 204],
        ['HTTP/1.1 205 Reset Content\r\nContent-Length: 4\r\n\r\nbody', 'GET', 205],
        ['HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody', 'HEAD', 200],
        ['HTTP/1.1 304 Not Modified\r\nContent-Length: 5000\r\n\r\n', 'GET', 304],
      ])('%j to %s: no body, and the next exchange knows nothing of it', async (answer, method, status) => {
        const server = await startRawServer((path) => (path === '/' ? answer : FINE));
        const protocol = open();
        for (let i = 0; i < 3; i++) {
          const { head, body, wireBody, bodyBytes, truncated } = await ask(`${server.origin}/`, { method }, protocol);
          expect([head.status, body, wireBody, bodyBytes, truncated]).toEqual([status, null, null, 0, false]);
          expect(text((await ask(`${server.origin}/next`, {}, protocol)).body)).toBe('fine');
        }
        await server.close();
      });

      it('a 304 renews validators', async () => {
        const { head } = await ask('/conditional', { headers: { 'if-none-match': ETAG } });
        expect(head.headers).toMatchObject({ etag: ETAG, 'last-modified': LAST_MODIFIED });
      });
    });

    describe('dropping', () => {
      it('asks once, with the head, and transfers no body', async () => {
        const heads: number[] = [];
        const { body, wireBody, bodyBytes, truncated } = await ask('/endless', {
          onHead: (head) => {
            heads.push(head.status);
            return 'drop';
          },
        });
        expect([heads, body, wireBody, bodyBytes, truncated]).toEqual([[200], null, null, 0, false]);
      });

      it('is the default for all but 2xx', async () => {
        for (const [path, status] of [
          ['/redirect-endless', 302],
          ['/server-error', 500],
          ['/nowhere', 404],
        ] as const) {
          const { head, body } = await ask(path);
          expect([head.status, body]).toEqual([status, null]);
        }
      });

      it('can be overruled', async () => {
        const { body } = await ask('/server-error', { onHead: () => 'read' });
        expect(text(body)).toBe('broken');
      });

      it('keeps the connection when nothing is left to come', async () => {
        const protocol = open();
        await ask('/ok', {}, protocol);
        const before = site.connections;
        await ask('/redirect-relative', {}, protocol);
        await ask('/empty', { onHead: () => 'drop' }, protocol);
        await ask('/ok', {}, protocol);
        expect(site.connections).toBe(before);
      });

      it('an onHead that throws ends the exchange with its error', async () => {
        const fault = new TypeError('in onHead');
        await expect(
          ask('/endless', {
            onHead: () => {
              throw fault;
            },
          }),
        ).rejects.toBe(fault);
      });
    });

    describe('redirects are not followed', () => {
      it.each([
        ['/redirect-relative', 301, 'ok?bytes=5'],
        ['/redirect-loop', 302, '/redirect-loop'],
        ['/redirect-to-private', 302, 'http://169.254.169.254/latest/meta-data/'],
        ['/redirect-utf8', 302, '/caf\u00e9'],
        ['/redirect-nowhere', 302, undefined],
      ])('%s', async (path, status, location) => {
        const before = site.seen.length;
        const { head } = await ask(path);
        expect([head.status, head.headers.location]).toEqual([status, location]);
        expect(site.seen.length - before).toBe(1);
      });
    });

    describe('content codings', () => {
      it.each(['/gzip', '/x-gzip', '/deflate', '/deflate-raw', '/br', '/identity', '/gzip-then-br'])(
        '%s',
        async (path) => {
          const { body, wireBody, bodyBytes, truncated } = await ask(path);
          expect(text(body)).toBe(PLAIN);
          expect(wireBody?.length).toBe(bodyBytes);
          expect(truncated).toBe(false);
        },
      );

      it.each(['/three-codings', '/unknown-coding', '/lying-gzip'])('%s cannot be undone', async (path) => {
        expect(await failure(ask(path))).toBe('content-undecodable');
      });

      it('a coded nothing is nothing', async () => {
        const { body, truncated } = await ask('/empty-gzip');
        expect([body?.length, truncated]).toEqual([0, false]);
      });

      it('gives what a cut coded body still holds', async () => {
        const { body, truncated } = await ask('/cut-gzip');
        expect(truncated).toBe(true);
        expect(PLAIN.startsWith(text(body))).toBe(true);
        expect(body?.length).toBeGreaterThan(0);
      });

      it.each(['/bomb-gzip', '/bomb-br', '/bomb-double'])('%s does not go off', async (path) => {
        const { body, truncated, bodyBytes } = await ask(path, { maxBodyBytes: 200_000 });
        expect(truncated).toBe(true);
        expect(body?.length).toBeLessThanOrEqual(200_000);
        expect(bodyBytes).toBeLessThan(200_000);
      });
    });

    describe('bodies that are too long or too short', () => {
      it('cuts off what exceeds the limit', async () => {
        const { body, truncated } = await ask('/endless', { maxBodyBytes: 50_000 });
        expect([body?.length, truncated]).toEqual([50_000, true]);
      });

      it('a body of just the limit is whole', async () => {
        const { body, truncated } = await ask('/ok?bytes=5000', { maxBodyBytes: 5000 });
        expect([body?.length, truncated]).toEqual([5000, false]);
      });

      it.each([
        ['/short-body', 400],
        ['/reset-in-body', 400],
        ['/cut-chunks', 5],
        ['/cut-last-chunks', 5],
        ['/reset-until-close', 10],
      ])('%s is truncated', async (path, bytes) => {
        const { body, truncated, bodyBytes } = await ask(path);
        expect([body?.length, bodyBytes, truncated]).toEqual([bytes, bytes, true]);
      });

      it('a body that ends with the connection is whole', async () => {
        const { body, truncated } = await ask('/until-close');
        expect([text(body), truncated]).toEqual(['all of it', false]);
      });

      it('a body of which nothing came is a failure', async () => {
        expect(await failure(ask('/absent-body'))).toBe('fetch-aborted');
      });
    });

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

      it('a name that does not exist', async () => {
        expect(await failure(ask('http://nowhere.invalid/', { timeoutMs: 5000 }))).toBe('dns-failed');
      });

      it('TLS with a server that speaks none', async () => {
        expect(await failure(ask(`https://127.0.0.1:${site.port}/`))).toBe('tls-failed');
      });

      it.each(['before', 'during', 'in the body'])('an abort %s the exchange', async (when) => {
        const stop = new AbortController();
        const reason = new Error('enough');
        if (when === 'before') stop.abort(reason);
        const path = when === 'in the body' ? '/slow-body' : '/slow-head';
        const before = site.account(path).requests;
        const exchange = ask(path, {
          signal: stop.signal,
          onHead: () => {
            setImmediate(() => stop.abort(reason));
            return 'read';
          },
        });
        const outcome = exchange.catch((error: unknown) => error);
        if (when === 'during') {
          while (site.account(path).requests === before) await new Promise((resolve) => setTimeout(resolve, 5));
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

      it('a certificate that nobody vouches for: nothing is asked', async () => {
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

      it('a URL that is none', async () => {
        expect(await failure(ask('not a url'))).toBe('url-invalid');
      });
    });

    describe('connections', () => {
      it('are kept between exchanges', async () => {
        const protocol = open();
        const before = site.connections;
        for (let i = 0; i < 5; i++) await ask('/ok', {}, protocol);
        expect(site.connections - before).toBe(1);
      });

      it('are made anew when the server closed one that lay idle', async () => {
        const protocol = open();
        for (let i = 0; i < 3; i++) expect(text((await ask('/closes-second', {}, protocol)).body)).toBe('fresh');
      });

      it('are made anew, too, when it is reset', async () => {
        const protocol = open();
        for (let i = 0; i < 3; i++) expect(text((await ask('/resets-second', {}, protocol)).body)).toBe('fresh');
      });

      it('are not replaced once something of an answer has come', async () => {
        const protocol = open();
        await ask('/half-a-head-second', {}, protocol);
        const { requests } = site.account('/half-a-head-second');
        expect(await failure(ask('/half-a-head-second', {}, protocol))).toBe('fetch-aborted');
        expect(site.account('/half-a-head-second').requests - requests).toBe(1);
      });

      it.each([
        ['more than its length', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more'],
        ['two answers', `HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello${FINE}`],
      ])('%s: what nobody asked for goes to nobody', async (_name, answer) => {
        const server = await startRawServer((path) => (path === '/' ? answer : FINE));
        const protocol = open();
        for (let i = 0; i < 3; i++) {
          const { body, truncated } = await ask(`${server.origin}/`, {}, protocol);
          expect([text(body), truncated]).toEqual(['hello', false]);
          expect(text((await ask(`${server.origin}/next`, {}, protocol)).body)).toBe('fine');
        }
        await server.close();
      });

      it('are no more than allowed to one host, and each exchange gets its turn', async () => {
        const protocol = open({ maxSockets: 3 });
        const before = site.connections;
        const exchanges = Array.from({ length: 20 }, () => ask('/in-a-moment', {}, protocol));
        for (const { body } of await Promise.all(exchanges)) expect(text(body)).toBe('done');
        expect(site.connections - before).toBe(3);
        expect(site.account('/in-a-moment').maxRunning).toBe(3);
      });

      it('are free again after an exchange that failed, and whoever waited for one may give up', async () => {
        const protocol = open({ maxSockets: 1, stallTimeoutMs: 100 });
        const stop = new AbortController();
        const [stalled, late, aborted, served] = [
          ask('/slow-body', {}, protocol),
          ask('/ok', { timeoutMs: 20 }, protocol),
          ask('/ok', { signal: stop.signal }, protocol),
          ask('/ok?bytes=3', {}, protocol),
        ].map(failure);
        stop.abort();
        expect(await Promise.all([stalled, late, aborted])).toEqual([
          'fetch-timeout',
          'fetch-timeout',
          'fetch-aborted',
        ]);
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
        expect(text((await exchange).body)).toBe('done');
      });

      it('are closed with the protocol', async () => {
        const protocol = open();
        await ask('/ok', {}, protocol);
        await (await protocol).close();
        const before = site.connections;
        await ask('/ok', {}, protocol);
        expect(site.connections - before).toBe(1);
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
        const before = site.seen.length;
        const protocol = open(closed);
        expect(await failure(ask(`${origin}:${site.port}/ok`, {}, protocol))).toBe('address-blocked');
        expect(site.seen.length).toBe(before);
      });

      it.each([
        ['an address', () => '127.0.0.1', () => '127.0.0.1'],
        ['a range', () => '127.0.0.0/8', () => '127.0.0.1'],
        ['a range, for a name', () => '127.0.0.0/8', () => 'localhost'],
        ['address and port', () => `127.0.0.1:${site.port}`, () => '127.0.0.1'],
        ['a name', () => 'localhost', () => 'localhost'],
        ['name and port', () => `localhost:${site.port}`, () => 'localhost'],
      ])('lets through what is allowed by %s', async (_name, entry, host) => {
        const protocol = open({ allowAddresses: [entry()] });
        expect(await failure(ask(`http://${host()}:${site.port}/ok`, {}, protocol))).toMatchObject({ status: 200 });
      });

      it('an allowed name or port opens no other', async () => {
        const byName = open({ allowAddresses: ['localhost', '127.0.0.1:1'] });
        expect(await failure(ask('/ok', {}, byName))).toBe('address-blocked');
      });

      it('judges each request, also when an allowed one has left a connection', async () => {
        const protocol = open({ allowAddresses: ['localhost'] });
        await ask(`http://localhost:${site.port}/ok`, {}, protocol);
        expect(await failure(ask('/ok', {}, protocol))).toBe('address-blocked');
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
  });
}

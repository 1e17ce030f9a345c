import zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { startRawServer } from '../site/raw-server.ts';
import { ETAG, LAST_MODIFIED, PLAIN } from '../site/routes.ts';
import {
  type CreateProtocol,
  type ExamPlace,
  FINE,
  failure,
  protocolExam,
  type SkippedQuestions,
  textOf,
} from './fetch-protocol-exam.ts';

/** Valid and malformed answers. */
export function answersContract(create: CreateProtocol, skipped: SkippedQuestions = {}, place?: ExamPlace): void {
  const exam = protocolExam(create, place);
  const { httpVersion = '1.1' } = place ?? {};
  const { open, ask } = exam;

  describe('the plain exchange', () => {
    it('gives head, body and accounts', async () => {
      const { head, body, wireBody, truncated, bodyBytes, receivedBytes, ms } = await ask('/ok?bytes=5000');
      expect(head).toMatchObject({ status: 200, statusText: 'OK', httpVersion, remoteAddress: '127.0.0.1' });
      expect(head.headers).toMatchObject({ 'content-type': 'text/html', 'content-length': '5000' });
      expect(head.rawHeaders.slice(0, 2)).toEqual(['content-type', 'text/html']);
      expect(textOf(body)).toBe('x'.repeat(5000));
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
      const { port } = exam.site;
      const { body } = await ask(`${exam.site.origin.replace('//', '//user:secret@')}/echo-headers#fragment`, {
        headers: { 'if-none-match': ETAG },
      });
      const sent = JSON.parse(textOf(body)) as Record<string, string>;
      expect(sent).toMatchObject({
        'user-agent': 'exam/1.0 (+mailto:exam@example.org)',
        'accept-encoding': 'zstdDecompressSync' in zlib ? 'gzip, deflate, br, zstd' : 'gzip, deflate, br',
        'if-none-match': ETAG,
        host: `127.0.0.1:${port}`,
      });
      expect(sent.accept).toContain('text/html');
      expect(Object.keys(sent)).not.toContain('authorization');
      expect(Object.keys(sent)).not.toContain('cookie');
      expect(exam.site.seen.at(-1)?.path).toBe('/echo-headers');
    });

    it.each([['a new'], ['a kept']])(
      'is not sent where it is aborted once %s connection stands',
      async (connection) => {
        const protocol = open();
        if (connection === 'a kept') await ask('/ok?bytes=100', {}, protocol);
        const before = exam.site.seen.length;
        const stop = new AbortController();
        let sends = 0;
        const onSend = (): void => {
          sends++;
          stop.abort();
        };
        expect(await failure(ask('/ok?bytes=200', { signal: stop.signal, onSend }, protocol))).toBe('fetch-aborted');
        expect(sends).toBe(1);
        const next = ask('/ok?bytes=300', { onSend: () => sends++ }, protocol);
        expect(await failure(next)).toMatchObject({ status: 200, bodyBytes: 300 });
        expect(sends).toBe(2);
        expect(exam.site.seen.length).toBe(before + 1);
      },
    );

    it('joins repeated fields', async () => {
      const { head } = await ask('/repeated-headers');
      expect(head.headers).toMatchObject({ 'set-cookie': 'a=1, b=2', 'x-twice': 'one, two' });
      // Names are in lower case by then.
      const name = httpVersion === '2' ? 'x-twice' : 'X-Twice';
      expect(head.rawHeaders.filter((each) => each === name)).toHaveLength(2);
    });

    it('keeps no cookies', async () => {
      const protocol = open();
      await ask('/repeated-headers', {}, protocol);
      const { body } = await ask('/echo-headers', {}, protocol);
      expect(textOf(body)).not.toContain('a=1');
    });

    it('passes over informational answers', async () => {
      const { head, body } = await ask('/early-hints');
      expect([head.status, textOf(body)]).toEqual([200, 'after hints']);
    });

    it.each([
      ['HTTP/1.1 100 Continue\r\n\r\n'],
      ['HTTP/1.1 100\r\n\r\n'],
      ['HTTP/1.1 100 Continue\r\nX-Interim: 1\r\n\r\n'],
      ['HTTP/1.1 102 Processing\r\n\r\n'],
    ])('passes over %j, which nothing asked for, and keeps the connection', async (interim) => {
      const server = await startRawServer(() => `${interim}${FINE}`);
      const protocol = open();
      for (let i = 0; i < 3; i++) {
        const { head, body } = await ask(`${server.origin}/`, {}, protocol);
        expect([head.status, head.statusText, textOf(body)]).toEqual([200, 'OK', 'fine']);
      }
      expect(server.connections).toBe(1);
      await server.close();
    });

    it.each([
      ['/early-hints', 'OK', 'after hints'],
      ['/many-hints', 'OK', 'ok'],
    ])('%s: the reason is that of the final answer', async (path, reason, expected) => {
      const { head, body } = await ask(path);
      expect([head.statusText, textOf(body)]).toEqual([reason, expected]);
    });

    const versions: [string, string, string, string][] = [
      ['/old', '1.0', 'Fine', 'old'],
      ['/ok?bytes=2', httpVersion, 'OK', 'xx'],
    ];
    it.each(versions.filter(([path]) => !(path in skipped)))(
      '%s: HTTP version %s, reason "%s"',
      async (path, version, reason, expected) => {
        const { head, body, truncated } = await ask(path);
        expect([head.httpVersion, head.statusText, textOf(body), truncated]).toEqual([
          version,
          reason,
          expected,
          false,
        ]);
      },
    );

    if (!('/odd-fields' in skipped))
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
      const before = exam.site.connections;
      await ask('/ok', {}, protocol);
      expect(exam.site.connections, 'the connection is kept').toBe(before);
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
        expect(textOf((await ask(`${server.origin}/next`, {}, protocol)).body)).toBe('fine');
      }
      await server.close();
    });

    it.each([[''], ['Content-Length: 5000\r\n'], ['Content-Length: 0\r\n'], ['Transfer-Encoding: chunked\r\n']])(
      'a 304 with the field %j leaves the connection to the next exchange',
      async (field) => {
        const server = await startRawServer((path) =>
          path === '/' ? `HTTP/1.1 304 Not Modified\r\n${field}ETag: "a"\r\n\r\n` : FINE,
        );
        const protocol = open();
        for (let i = 0; i < 3; i++) {
          expect((await ask(`${server.origin}/`, {}, protocol)).head.status).toBe(304);
          expect(textOf((await ask(`${server.origin}/next`, {}, protocol)).body)).toBe('fine');
        }
        expect(server.connections).toBe(1);
        await server.close();
      },
    );

    it('a 304 renews validators', async () => {
      const { head } = await ask('/conditional', { headers: { 'if-none-match': ETAG } });
      expect(head.headers).toMatchObject({ etag: ETAG, 'last-modified': LAST_MODIFIED });
    });
  });

  describe('dropping', () => {
    it('asks once, with the head, and gives no body', async () => {
      const heads: number[] = [];
      const { body, wireBody, bodyBytes, truncated } = await ask('/endless', {
        onHead: (head) => {
          heads.push(head.status);
          return 'drop';
        },
      });
      expect([heads, body, wireBody, truncated]).toEqual([[200], null, null, false]);
      expect(bodyBytes).toBeLessThan(1_000_000);
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
      expect(textOf(body)).toBe('broken');
    });

    it('keeps the connection when nothing is left to come', async () => {
      const protocol = open();
      await ask('/ok', {}, protocol);
      const before = exam.site.connections;
      await ask('/redirect-relative', {}, protocol);
      await ask('/empty', { onHead: () => 'drop' }, protocol);
      await ask('/ok', {}, protocol);
      expect(exam.site.connections).toBe(before);
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
      const before = exam.site.seen.length;
      const { head } = await ask(path);
      expect([head.status, head.headers.location]).toEqual([status, location]);
      expect(exam.site.seen.length - before).toBe(1);
    });
  });

  describe('content codings', () => {
    it.each([
      ...['/gzip', '/x-gzip', '/deflate', '/deflate-raw', '/br', '/identity', '/gzip-then-br'],
      ...['/charset-for-coding', '/none-then-gzip'],
    ])('%s', async (path) => {
      const { body, wireBody, bodyBytes, truncated } = await ask(path);
      expect(textOf(body)).toBe(PLAIN);
      expect(wireBody?.length).toBe(bodyBytes);
      expect(truncated).toBe(false);
    });

    it.each(['/three-codings', '/unknown-coding', '/lying-gzip', '/no-gzip'])('%s cannot be undone', async (path) => {
      expect(await failure(ask(path))).toBe('content-undecodable');
    });

    it('an empty body with a content coding is empty', async () => {
      const { body, truncated } = await ask('/empty-gzip');
      expect([body?.length, truncated]).toEqual([0, false]);
    });

    it('gives the readable part of a truncated coded body', async () => {
      const { body, truncated } = await ask('/cut-gzip');
      expect(truncated).toBe(true);
      expect(PLAIN.startsWith(textOf(body))).toBe(true);
      expect(body?.length).toBeGreaterThan(0);
    });

    it.each(['/short-gzip', '/short-gzip-then-br', '/short-br'])('%s ends before its coding does', async (path) => {
      const { body, truncated, brokenOff } = await ask(path);
      expect([truncated, brokenOff]).toEqual([true, true]);
      expect(PLAIN.startsWith(textOf(body))).toBe(true);
      expect(body?.length).toBeGreaterThan(0);
    });

    it.each(['/bomb-gzip', '/bomb-br', '/bomb-double'])('%s is cut at the limit for bodies', async (path) => {
      const { body, truncated, bodyBytes } = await ask(path, { maxBodyBytes: 200_000 });
      expect(truncated).toBe(true);
      expect(body?.length).toBeLessThanOrEqual(200_000);
      expect(bodyBytes).toBeLessThan(200_000);
    });
  });

  describe('bodies that are too long or too short', () => {
    it('cuts bodies at the limit', async () => {
      const { body, truncated, brokenOff } = await ask('/endless', { maxBodyBytes: 50_000 });
      expect([body?.length, truncated, brokenOff]).toEqual([50_000, true, undefined]);
    });

    it('a body of just the limit is whole', async () => {
      const { body, truncated } = await ask('/ok?bytes=5000', { maxBodyBytes: 5000 });
      expect([body?.length, truncated]).toEqual([5000, false]);
    });

    const broken: [string, number][] = [
      ['/short-body', 400],
      ['/reset-in-body', 400],
      ['/cut-chunks', 5],
      ['/cut-last-chunks', 5],
      ['/reset-until-close', 10],
    ];
    it.each(broken.filter(([path]) => !(path in skipped)))('%s is truncated', async (path, bytes) => {
      const { body, truncated, brokenOff, bodyBytes } = await ask(path);
      expect([body?.length, bodyBytes, truncated, brokenOff]).toEqual([bytes, bytes, true, true]);
    });

    it('a body that ends with the connection is whole', async () => {
      const { body, truncated } = await ask('/until-close');
      expect([textOf(body), truncated]).toEqual(['all of it', false]);
    });

    it('a body of which nothing came is a failure', async () => {
      expect(await failure(ask('/absent-body'))).toBe('fetch-aborted');
    });
  });
}

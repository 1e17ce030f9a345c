import { type AddressInfo, createServer, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CrawlError } from '../../src/core/domain/errors.ts';
import type { ExchangeRequest, FetchProtocol } from '../../src/core/ports/fetch-protocol.ts';
import { createGotProtocol } from '../../src/http/exchange/got-protocol.ts';
import { createUndiciProtocol } from '../../src/transports/undici/undici-protocol.ts';

/**
 * Answers by path: pieces that are written one after the other, each in a packet of its own, before the connection is
 * ended.
 */
const answers = new Map<string, readonly string[]>();
const server = createServer((socket: Socket) => {
  socket.setNoDelay(true).on('error', () => {});
  socket.once('data', async (request) => {
    for (const piece of answers.get(request.toString('latin1').split(' ')[1] ?? '') ?? []) {
      socket.write(piece, 'latin1');
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.end();
  });
});
const settings = { userAgent: 'exam', allowAddresses: ['127.0.0.1'], maxHeaderBytes: 4096 };
const got = createGotProtocol(settings);
let undici: FetchProtocol;
let origin = '';
beforeAll(async () => {
  undici = await createUndiciProtocol(settings);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await got.close();
  await undici.close();
  server.close();
});

type Ask = Pick<ExchangeRequest, 'method' | 'maxBodyBytes'> & { readonly read: boolean };

async function outcome(protocol: FetchProtocol, path: string, { method, maxBodyBytes, read }: Ask): Promise<unknown> {
  try {
    const { head, body, wireBody, truncated, brokenOff, bodyBytes } = await protocol.exchange({
      url: origin + path,
      method,
      headers: {},
      onHead: () => (read ? 'read' : 'drop'),
      maxBodyBytes,
      timeoutMs: 10_000,
    });
    const [decoded, wire] = [body, wireBody].map((bytes) => bytes && Buffer.from(bytes).toString('latin1'));
    const { remoteAddress: _, ...rest } = head;
    // How much has come when a limit is passed hangs on how the packets fell.
    return { ...rest, decoded, wire, truncated, brokenOff, ...(truncated ? {} : { bodyBytes }) };
  } catch (error) {
    if (error instanceof CrawlError) return error.code;
    throw error;
  }
}

const line = fc.constantFrom(
  ...['HTTP/1.1 200 OK', 'HTTP/1.0 200 OK', 'HTTP/1.1 404 Not Found', 'HTTP/1.1 304 Not Modified', 'HTTP/1.1 204'],
  ...[
    'HTTP/1.1 206 ',
    'HTTP/1.1 999 Odd \u00e9',
    'HTTP/1.1 301 Moved',
    'HTTP/1.1 200',
    'HTTP/1.1 20 OK',
    'HTTP/2.0 200 OK',
  ],
  ...[
    'HTTP/1.1 101 Switching',
    'HTTP/3.1 200 OK',
    'http/1.1 200 OK',
    'HTTP/1.1  200 OK',
    'ICY 200 OK',
    '',
    '\r\nHTTP/1.1 200 OK',
  ],
);
const field = fc.constantFrom(
  ...[
    'Content-Type: text/html',
    'X-One: 1',
    'X-One:2',
    'ETag: "a"',
    'ETag: "b"',
    'Set-Cookie: a=1',
    'X-Blank: \t x \t',
  ],
  ...['Connection: close', 'Connection: keep-alive', 'Keep-Alive: timeout=5', 'Connection: upgrade', 'Upgrade: h2c'],
  ...['Content-Length: 10', 'Content-Length: 10', 'Content-Length: 4', 'Content-Length: 99', 'Content-Length: 0'],
  ...['Content-Length: -1', 'Content-Length: 1e3', 'Content-Length: 10, 10', 'Content-Length:'],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: identity'],
  ...[
    'Content-Encoding: gzip',
    'Content-Encoding: identity',
    'Location: /caf\u00c3\u00a9',
    'X-Latin: \u00e9',
    'X Bad: y',
  ],
  ...[
    'NoColon',
    ': none',
    ' folded: line',
    'X-Empty:',
    `X-Long: ${'l'.repeat(3000)}`,
    'X-Nul: a\u0000b',
    'Trailer: X-After',
  ],
);
const content = fc.constantFrom(
  ...['', '0123456789', '0123', '0123456789 and more', 'x'.repeat(3000), '5\r\nhello\r\n0\r\n\r\n', '5\r\nhello\r\n'],
  ...[
    '5;ext=1\r\nhello\r\n0\r\nX-After: 1\r\n\r\n',
    'zz\r\nhello\r\n',
    '5\r\nhelloX',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx',
  ],
);
const interim = fc.constantFrom(
  ...['', '', '', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 102 \r\n\r\n'],
  'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n',
);
const text = fc
  .tuple(interim, line, fc.array(field, { maxLength: 5 }), fc.constantFrom('\r\n', '\r\n', '\r\n', '\n'), content)
  .map(([before, first, fields, end, body]) => {
    // What differs behind a hint, see the README of protocol-http.
    const hint = /^HTTP\/1\.1[ -~]*$/.test(first) ? before : '';
    return `${hint}${[first, ...fields, '', ''].join(end)}${body}`;
  });
const answer = fc
  .tuple(text, fc.option(fc.nat({ max: 200 })), fc.array(fc.nat({ max: 250 }), { maxLength: 3 }))
  .map(([whole, length, cuts]) => {
    const sent = length === null ? whole : whole.slice(0, length);
    const first = sent.startsWith('HTTP/1.1 10') ? sent.indexOf('\r\n\r\nHTTP') + 30 : 0;
    const places = [0, ...cuts.filter((cut) => cut >= first && cut < sent.length).sort((a, b) => a - b), sent.length];
    return places.slice(1).map((to, i) => sent.slice(places[i], to));
  });
const ask = fc.record({
  method: fc.constantFrom('GET' as const, 'GET' as const, 'GET' as const, 'HEAD' as const),
  maxBodyBytes: fc.constantFrom(1_000_000, 7),
  read: fc.constantFrom(true, true, false),
});

it.each(['http://unix/', 'https://unix:8443/run/docker.sock:/images'])('both refuse %s', async (url) => {
  for (const protocol of [got, undici]) {
    const exchange = protocol.exchange({ url, method: 'GET', headers: {}, maxBodyBytes: 1, timeoutMs: 1_000 });
    await expect(exchange).rejects.toMatchObject({
      code: 'address-blocked',
      message: 'the host name "unix" stands for a Unix domain socket, not for a host',
    });
  }
});

it('got and undici make the same of an answer, however odd, however it is cut', async () => {
  let number = 0;
  const test = fc.asyncProperty(answer, ask, async (pieces, how) => {
    const path = `/${number++}`;
    answers.set(path, pieces);
    const [byGot, byUndici] = await Promise.all([outcome(got, path, how), outcome(undici, path, how)]);
    expect(byUndici).toEqual(byGot);
  });
  const { seed = 6, runs = 400 } = JSON.parse(process.env.INCRAWL_TRANSPORTS ?? '{}') as {
    seed?: number;
    runs?: number;
  };
  await fc.assert(test, { seed, numRuns: runs });
});

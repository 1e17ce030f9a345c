import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { bombOf } from './bombs.ts';

export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Socket;
  readonly url: URL;
  readonly origin: string;
  /** 1 for the first request on its connection. */
  readonly nthOfConnection: number;
}

/** Decoded body of the routes with a content coding. */
export const PLAIN = `<!doctype html><title>plain</title><p>${'Words that repeat themselves. '.repeat(200)}</p>`;
export const ETAG = '"v1"';
export const LAST_MODIFIED = 'Sun, 06 Nov 1994 08:49:37 GMT';

const HTML = { 'content-type': 'text/html' };

function page({ request, response }: Visit, body: string | Buffer, headers: Record<string, string> = {}): void {
  response.writeHead(200, { ...HTML, 'content-length': String(Buffer.byteLength(body)), ...headers });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** Bytes written past node's own idea of HTTP. */
function raw({ socket }: Visit, text: string, after: 'end' | 'reset' | 'stay' = 'stay'): void {
  socket.write(text, 'latin1', () => {
    if (after === 'end') socket.end();
    // The client gets to read what was sent before the reset wipes it out.
    else if (after === 'reset') setTimeout(() => socket.resetAndDestroy(), 20);
  });
}

const coded =
  (coding: string, encode: (text: string) => Buffer) =>
  (visit: Visit): void =>
    page(visit, encode(PLAIN), { 'content-encoding': coding });

const redirect =
  (location: string | null, status = 302) =>
  ({ response }: Visit): void => {
    const headers = location === null ? {} : { location: Buffer.from(location).toString('latin1') };
    response.writeHead(status, headers).end();
  };

function endless({ response }: Visit): void {
  const chunk = 'endless '.repeat(2000);
  const write = (): void => {
    while (!response.destroyed) if (!response.write(chunk)) return;
  };
  response.on('drain', write);
  write();
}

const body = (text: string): string => `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n${text}`;

/** Path -> behaviour. */
export const ROUTES: Readonly<Record<string, (visit: Visit) => void>> = {
  '/ok': (visit) => page(visit, 'x'.repeat(Number(visit.url.searchParams.get('bytes') ?? 1000))),
  '/empty': (visit) => page(visit, ''),
  '/no-content': ({ response }) => void response.writeHead(204).end(),
  '/echo-headers': (visit) =>
    page(visit, JSON.stringify(visit.request.headers), { 'content-type': 'application/json' }),
  '/repeated-headers': ({ response }) =>
    void response
      .writeHead(200, [
        ...['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Twice', 'one', 'X-Twice', 'two'],
        ...['Content-Length', '0'],
      ])
      .end(),

  '/slow-head': () => {},
  '/slow-body': ({ response }) => void response.writeHead(200, HTML).write('the beginning'),
  '/trickle': ({ response }) => {
    response.writeHead(200, HTML);
    const timer = setInterval(() => response.write('.'), 10);
    response.once('close', () => clearInterval(timer));
  },
  '/endless': (visit) => {
    visit.response.writeHead(200, HTML);
    endless(visit);
  },
  '/endless-headers': (visit) => {
    raw(visit, 'HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => visit.socket.write('X-More: again\r\n'), 10);
    visit.socket.once('close', () => clearInterval(timer));
  },

  '/short-body': (visit) => raw(visit, `${body('Content-Length: 1000\r\n\r\n')}${'x'.repeat(400)}`, 'end'),
  '/absent-body': (visit) => raw(visit, body('Content-Length: 1000\r\n\r\n'), 'end'),
  '/reset-in-body': (visit) => raw(visit, `${body('Content-Length: 1000\r\n\r\n')}${'x'.repeat(400)}`, 'reset'),
  '/reset-at-once': ({ socket }) => void socket.resetAndDestroy(),
  '/cut-chunks': (visit) => raw(visit, `${body('Transfer-Encoding: chunked\r\n\r\n')}5\r\nhello\r\n`, 'end'),
  '/bad-chunk': (visit) => raw(visit, `${body('Transfer-Encoding: chunked\r\n\r\n')}5\r\nhello\r\nzz\r\n`),
  '/until-close': (visit) => raw(visit, `${body('Connection: close\r\n\r\n')}all of it`, 'end'),
  '/two-lengths': (visit) => raw(visit, body('Content-Length: 5\r\nContent-Length: 7\r\n\r\nhello')),
  '/not-http': (visit) => raw(visit, 'SSH-2.0-OpenSSH_9.2\r\n'),
  '/switching-protocols': (visit) =>
    raw(visit, 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
  '/switching-nothing': (visit) => raw(visit, 'HTTP/1.1 101 Switching Protocols\r\n\r\n'),
  '/early-hints': (visit) => {
    visit.socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n');
    page(visit, 'after hints');
  },
  '/huge-headers': (visit) =>
    raw(
      visit,
      body(`X-Huge: ${'h'.repeat(Number(visit.url.searchParams.get('bytes')))}\r\nContent-Length: 2\r\n\r\nok`),
    ),
  '/closes-second': (visit) => {
    if (visit.nthOfConnection > 1) visit.socket.destroy();
    else page(visit, 'fresh');
  },

  '/resets-second': (visit) => {
    if (visit.nthOfConnection > 1) visit.socket.resetAndDestroy();
    else page(visit, 'fresh');
  },
  '/half-a-head-second': (visit) => {
    if (visit.nthOfConnection > 1) raw(visit, 'HTTP/1.1 200 OK\r\nContent-Ty', 'end');
    else page(visit, 'fresh');
  },
  '/half-a-head': (visit) => raw(visit, 'HTTP/1.1 200 OK\r\nContent-Ty', 'end'),
  '/in-a-moment': (visit) => void setTimeout(() => page(visit, 'done'), 20),

  '/old': (visit) => raw(visit, 'HTTP/1.0 200 Fine\r\nContent-Type: text/html\r\n\r\nold', 'end'),
  '/odd-fields': (visit) => {
    const once =
      'ETag: "a"\r\nETag: "b"\r\nRetry-After: 1\r\nRETRY-AFTER: 2\r\nLast-Modified: one\r\nlast-modified: two\r\n';
    const blank = 'X-Blank: \t in \t between \t \r\nX-Empty:\r\nX-Empty-Too: \t\r\n';
    const names = 'constructor: c\r\nX-Latin: \u00e9\u00a0\r\n';
    raw(visit, body(`${once}${blank}${names}Content-Length: 2\r\n\r\nok`));
  },
  '/many-fields': (visit) => {
    const count = Number(visit.url.searchParams.get('count'));
    raw(visit, body(`${'X-Many: again\r\n'.repeat(count)}Content-Length: 2\r\n\r\nok`));
  },
  '/length-and-chunks': (visit) =>
    raw(visit, body('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n')),
  '/cut-last-chunks': (visit) =>
    raw(visit, body('Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'), 'end'),
  '/reset-until-close': (visit) => raw(visit, body('Connection: close\r\n\r\npart of it'), 'reset'),
  '/continue': (visit) => {
    visit.socket.write('HTTP/1.1 100 Continue\r\n\r\n');
    page(visit, 'after all');
  },
  '/many-hints': (visit) => {
    visit.socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n'.repeat(50));
    raw(visit, 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok');
  },

  '/gzip': coded('gzip', gzipSync),
  '/x-gzip': coded('X-GZIP', gzipSync),
  '/deflate': coded('deflate', deflateSync),
  '/deflate-raw': coded('deflate', deflateRawSync),
  '/br': coded('br', brotliCompressSync),
  '/identity': coded('identity', (text) => Buffer.from(text)),
  '/charset-for-coding': coded('UTF-8', (text) => Buffer.from(text)),
  '/none-then-gzip': coded('none, gzip', gzipSync),
  '/gzip-then-br': coded('gzip, br', (text) => brotliCompressSync(gzipSync(text))),
  '/three-codings': coded('gzip, gzip, gzip', (text) => gzipSync(gzipSync(gzipSync(text)))),
  '/unknown-coding': coded('compress', (text) => Buffer.from(text)),
  '/lying-gzip': coded('gzip', (text) => Buffer.from(text)),
  '/empty-gzip': (visit) => page(visit, '', { 'content-encoding': 'gzip' }),
  '/cut-gzip': (visit) => {
    const whole = gzipSync(PLAIN);
    const head = body(`Content-Encoding: gzip\r\nContent-Length: ${whole.length}\r\n\r\n`);
    raw(visit, `${head}${whole.subarray(0, whole.length - 20).toString('latin1')}`, 'end');
  },
  '/short-gzip': coded('gzip', (text) => gzipSync(text).subarray(0, -20)),
  '/short-gzip-then-br': coded('gzip, br', (text) => brotliCompressSync(gzipSync(text).subarray(0, -20))),
  '/short-br': coded('br', (text) => brotliCompressSync(text).subarray(0, -2)),
  '/no-gzip': coded('gzip', (text) => gzipSync(text).subarray(0, 12)),
  '/bomb-gzip': (visit) => page(visit, bombOf('gzip'), { 'content-encoding': 'gzip' }),
  '/bomb-br': (visit) => page(visit, bombOf('br'), { 'content-encoding': 'br' }),
  '/bomb-double': (visit) => page(visit, bombOf('gzip-gzip'), { 'content-encoding': 'gzip, gzip' }),

  '/redirect-relative': redirect('ok?bytes=5', 301),
  '/redirect-loop': redirect('/redirect-loop'),
  '/redirect-to-private': redirect('http://169.254.169.254/latest/meta-data/'),
  '/redirect-with-userinfo': redirect('http://user:secret@127.0.0.1:1/'),
  '/redirect-utf8': redirect('/caf\u00e9'),
  '/redirect-nowhere': redirect(null),
  '/redirect-endless': (visit) => {
    visit.response.writeHead(302, { location: '/ok' });
    endless(visit);
  },

  '/conditional': (visit) => {
    const { request, response } = visit;
    if (request.headers['if-none-match'] === ETAG)
      response.writeHead(304, { etag: ETAG, 'last-modified': LAST_MODIFIED }).end();
    else page(visit, 'the page', { etag: ETAG, 'last-modified': LAST_MODIFIED });
  },
  '/not-modified-bare': ({ response }) => void response.writeHead(304).end(),
  '/head-405': (visit) => {
    if (visit.request.method === 'HEAD') visit.response.writeHead(405, { allow: 'GET', 'content-length': '0' }).end();
    else page(visit, 'only by GET');
  },
  '/head-501': (visit) => {
    if (visit.request.method === 'HEAD') visit.response.writeHead(501, { 'content-length': '0' }).end();
    else page(visit, 'only by GET');
  },
  '/head-differs': (visit) => {
    if (visit.request.method === 'HEAD')
      visit.response.writeHead(200, { 'content-length': '7', etag: '"of head"' }).end();
    else page(visit, 'more than seven', { etag: ETAG });
  },
  '/retry-after-seconds': ({ response }) => void response.writeHead(503, { 'retry-after': '120' }).end('later'),
  '/retry-after-date': ({ response }) => void response.writeHead(429, { 'retry-after': LAST_MODIFIED }).end('later'),
  '/server-error': ({ response }) => void response.writeHead(500, HTML).end('broken'),
};

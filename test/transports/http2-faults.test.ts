import { once } from 'node:events';
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import type { Exchange, ExchangeRequest, FetchProtocol } from '../../src/core/ports/fetch-protocol.ts';
import type { HttpProtocolOptions } from '../../src/http/exchange/protocol-options.ts';
import { createUndiciProtocol } from '../../src/transports/undici/undici-protocol.ts';
import { failure, textOf } from '../contracts/fetch-protocol-exam.ts';
import { unknownIdentity } from '../site/tls-identity.ts';

const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_HTTP_1_1_REQUIRED, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = constants;

interface Visit {
  readonly stream: ServerHttp2Stream;
  readonly session: ServerHttp2Session;
  readonly path: string;
  /** 1 for the first stream of its connection. */
  readonly nth: number;
}

type Answer = (visit: Visit) => void;
const fine: Answer = ({ stream, path }) => {
  stream.respond({ ':status': 200, 'content-type': 'text/plain' });
  stream.end(`page ${path}`);
};
/** Ends a stream without END_STREAM, where `close` would end it in order. */
const reset = (stream: ServerHttp2Stream): void => void stream.destroy(new Error('reset'));
/** The socket below, which Node does not let be touched. */
const socketOf = (session: ServerHttp2Session): Socket =>
  Object.getOwnPropertySymbols(session)
    .map((key) => (session as unknown as Record<symbol, unknown>)[key])
    .find((each): each is TLSSocket => each instanceof Socket) as Socket;

class Site {
  readonly requests: string[] = [];
  connections = 0;
  running = 0;
  maxRunning = 0;
  readonly server: Http2SecureServer;
  readonly sessions = new Set<ServerHttp2Session>();

  constructor(answer: Answer, options: { readonly allowHTTP1?: boolean } = {}) {
    this.server = createSecureServer(
      { ...unknownIdentity, maxSendHeaderBlockLength: 1_000_000, ...options },
      (request, response) => {
        if (request.httpVersion === '2.0') return;
        this.requests.push(`1.1 ${request.url}`);
        response.end(`page ${request.url}`);
      },
    );
    this.server.on('secureConnection', () => this.connections++);
    this.server.on('session', (session) => {
      this.sessions.add(session);
      session.on('error', () => {});
      session.on('close', () => this.sessions.delete(session));
      let nth = 0;
      session.on('stream', (stream, headers) => {
        stream.on('error', () => {});
        stream.on('close', () => this.running--);
        this.maxRunning = Math.max(this.maxRunning, ++this.running);
        const path = String(headers[':path']);
        this.requests.push(`2 ${path}`);
        nth++;
        answer({ stream, session, path, nth });
      });
    });
  }

  async start(): Promise<string> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return `https://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }
}

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function serve(answer: Answer, options: ConstructorParameters<typeof Site>[1] = {}) {
  const site = new Site(answer, options);
  const origin = await site.start();
  ends.push(() => {
    site.server.close();
    for (const session of site.sessions) session.destroy();
  });
  return { site, origin };
}

async function open(more: Partial<HttpProtocolOptions> = {}) {
  const protocol: FetchProtocol = await createUndiciProtocol({
    ...{ userAgent: 'exam', allowAddresses: ['127.0.0.1', 'localhost'], http2: true },
    ...{ tls: { ca: [unknownIdentity.cert] }, connectTimeoutMs: 3000, ...more },
  });
  ends.unshift(() => protocol.close());
  const ask = (url: string, change: Partial<ExchangeRequest> = {}): Promise<Exchange> =>
    protocol.exchange({ url, method: 'GET', headers: {}, maxBodyBytes: 1_000_000, timeoutMs: 8000, ...change });
  return Object.assign(ask, { protocol });
}

describe('one connection of HTTP/2', () => {
  it('serves all exchanges with an origin, at most so many at a time as allowed', async () => {
    const { site, origin } = await serve(async (visit) => {
      await delay(20);
      fine(visit);
    });
    const ask = await open({ maxSockets: 3 });
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(`${origin}/${i}`)));
    expect(all.map(({ body }) => textOf(body))).toEqual(Array.from({ length: 20 }, (_, i) => `page /${i}`));
    expect([site.connections, site.maxRunning]).toEqual([1, 3]);
    const one = await open({ maxSockets: 1 });
    site.maxRunning = 0;
    await Promise.all(Array.from({ length: 8 }, (_, i) => one(`${origin}/${i}`)));
    expect([site.connections, site.maxRunning]).toEqual([2, 1]);
  });

  it('reports version, Latin-1 and repeated fields as received, without pseudo-fields', async () => {
    const { origin } = await serve(({ stream }) => {
      stream.respond({ ':status': 404, 'x-twice': ['one', 'two'], 'set-cookie': ['a=1', 'b=2'], 'x-latin': 'é' });
      stream.end('gone');
    });
    const ask = await open();
    const { head } = await ask(`${origin}/`, { onHead: () => 'read' });
    expect(head).toMatchObject({ status: 404, statusText: 'Not Found', httpVersion: '2' });
    expect(head.headers).toMatchObject({ 'x-twice': 'one, two', 'set-cookie': 'a=1, b=2', 'x-latin': 'é' });
    expect(head.rawHeaders.filter((each) => each.startsWith(':'))).toEqual([]);
    expect(head.rawHeaders.filter((each) => each === 'x-twice')).toHaveLength(2);
  });

  it('stays when bodies are dropped, however long, and has room for the next', async () => {
    const { site, origin } = await serve((visit) => {
      if (visit.path === '/next') return fine(visit);
      visit.stream.respond({ ':status': 200 });
      const more = (): void => {
        while (!visit.stream.destroyed && visit.stream.write(Buffer.alloc(16_384)));
      };
      visit.stream.on('drain', more);
      more();
    });
    const ask = await open();
    for (let i = 0; i < 30; i++) {
      const { body, bodyBytes } = await ask(`${origin}/long`, { onHead: () => 'drop' });
      expect(body).toBeNull();
      expect(bodyBytes).toBeLessThan(1_000_000);
      const cut = await ask(`${origin}/long`, { maxBodyBytes: 50_000 });
      expect([cut.body?.length, cut.truncated, cut.brokenOff]).toEqual([50_000, true, undefined]);
    }
    expect(textOf((await ask(`${origin}/next`)).body)).toBe('page /next');
    expect(site.connections).toBe(1);
  });

  it('is closed with the protocol once idle; exchanges under way go on', async () => {
    const { site, origin } = await serve(async (visit) => {
      await delay(50);
      fine(visit);
    });
    const ask = await open();
    await ask(`${origin}/a`);
    const running = ask(`${origin}/b`);
    await ask.protocol.close();
    expect(textOf((await running).body)).toBe('page /b');
    await ask.protocol.close();
    while (site.sessions.size > 0) await delay(5);
    await ask(`${origin}/c`);
    expect(site.connections).toBe(2);
  });

  it('of several origins, the one idle for longest goes first', async () => {
    const sites = await Promise.all([serve(fine), serve(fine), serve(fine)]);
    const ask = await open({ maxIdleSockets: 2 });
    for (const i of [0, 1, 2, 2, 1, 0]) await ask(`${sites[i]?.origin}/`);
    expect(sites.map(({ site }) => site.connections)).toEqual([2, 1, 1]);
  });

  it('does not serve an origin that the guard refuses, though another name of the machine may be asked', async () => {
    const { origin } = await serve(fine);
    const ask = await open({ allowAddresses: ['localhost'] });
    expect(await failure(ask(origin.replace('127.0.0.1', 'localhost')))).toMatchObject({ status: 200 });
    expect(await failure(ask(origin))).toBe('address-blocked');
  });
});

describe('streams that end early', () => {
  const begin = (stream: ServerHttp2Stream, length?: number): void => {
    stream.respond({ ':status': 200, ...(length !== undefined && { 'content-length': length }) });
    stream.write('x'.repeat(400));
  };
  const answers: Record<string, Answer> = {
    '/reset': ({ stream }) => {
      begin(stream);
      setTimeout(() => reset(stream), 20);
    },
    '/short': ({ stream }) => {
      begin(stream, 900);
      setTimeout(() => stream.end(), 20);
    },
    '/away': ({ stream, session }) => {
      begin(stream);
      setTimeout(() => socketOf(session).destroy(), 20);
    },
    '/goaway-with-error': ({ stream, session }) => {
      begin(stream);
      setTimeout(() => session.goaway(constants.NGHTTP2_INTERNAL_ERROR), 20);
    },
    '/no-head': ({ stream }) => reset(stream),
    '/calm': ({ stream }) => stream.close(NGHTTP2_ENHANCE_YOUR_CALM),
    '/silent-end': ({ stream }) => stream.close(NGHTTP2_NO_ERROR),
  };
  const answer: Answer = (visit) => (answers[visit.path] ?? fine)(visit);

  it.each(['/reset', '/short', '/away', '/goaway-with-error'])(
    '%s: what came of the body is kept as a part',
    async (path) => {
      const { origin } = await serve(answer);
      const ask = await open();
      for (let i = 0; i < 2; i++) {
        const { body, truncated, brokenOff } = await ask(origin + path);
        expect([body?.length, truncated, brokenOff]).toEqual([400, true, true]);
        expect(textOf((await ask(`${origin}/fine`)).body)).toBe('page /fine');
      }
    },
  );

  it.each(['/no-head', '/calm'])('%s: fetch-aborted, and no second request', async (path) => {
    const { site, origin } = await serve(answer);
    const ask = await open();
    await ask(`${origin}/fine`);
    expect(await failure(ask(origin + path))).toBe('fetch-aborted');
    expect(site.requests).toEqual(['2 /fine', `2 ${path}`]);
    expect(textOf((await ask(`${origin}/fine`)).body)).toBe('page /fine');
    expect(site.connections).toBe(1);
  });

  it('one without head and body has failed', async () => {
    const { origin } = await serve(answer);
    expect(await failure((await open())(`${origin}/silent-end`))).toMatch(/^(fetch-aborted|protocol-error)$/);
  });

  it('times: the head, the body, the whole, and an abort; the connection stays', async () => {
    const { site, origin } = await serve((visit) => {
      if (visit.path === '/mute') return;
      if (visit.path === '/stalls') begin(visit.stream);
      else fine(visit);
    });
    const ask = await open({ headTimeoutMs: 100, stallTimeoutMs: 100 });
    await ask(`${origin}/`);
    for (const path of ['/mute', '/stalls']) expect(await failure(ask(origin + path))).toBe('fetch-timeout');
    expect(await failure(ask(`${origin}/mute`, { timeoutMs: 50 }))).toBe('fetch-timeout');
    const stop = new AbortController();
    const aborted = ask(`${origin}/mute`, { signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    expect(await failure(aborted)).toBe('fetch-aborted');
    await ask(`${origin}/`);
    expect([site.connections, site.running]).toEqual([1, 0]);
  });
});

describe('connections that end', () => {
  it('GOAWAY: the exchange under way is finished, the next has a new connection', async () => {
    const { site, origin } = await serve(({ stream, session, path }) => {
      stream.respond({ ':status': 200 });
      stream.write('begun, ');
      session.goaway(NGHTTP2_NO_ERROR);
      setTimeout(() => stream.end(path), 30);
    });
    const ask = await open();
    for (const path of ['/a', '/b']) {
      const { body, truncated } = await ask(origin + path);
      expect([textOf(body), truncated]).toEqual([`begun, ${path}`, false]);
    }
    expect(site.connections).toBe(2);
  });

  it('a refused stream is sent again, once, and a kept connection that was closed is replaced', async () => {
    const { site, origin } = await serve((visit) => {
      if (visit.path === '/refused' || (visit.path === '/refused-once' && visit.nth > 1 && site.requests.length < 3)) {
        visit.stream.close(NGHTTP2_REFUSED_STREAM);
      } else if (visit.path === '/closes' && visit.nth > 1) socketOf(visit.session).destroy();
      else fine(visit);
    });
    const ask = await open();
    await ask(`${origin}/`);
    expect(textOf((await ask(`${origin}/refused-once`)).body)).toBe('page /refused-once');
    expect(site.requests).toHaveLength(3);
    expect(await failure(ask(`${origin}/refused`))).toBe('fetch-aborted');
    expect(site.requests).toHaveLength(5);
    for (let i = 0; i < 3; i++) expect(textOf((await ask(`${origin}/closes`)).body)).toBe('page /closes');
  });

  it('a first connection that is closed unanswered has failed', async () => {
    const { site, origin } = await serve(({ session }) => socketOf(session).destroy());
    expect(await failure((await open())(`${origin}/`))).toBe('fetch-aborted');
    expect(site.requests).toEqual(['2 /']);
  });

  it('a server that agrees on HTTP/2 and speaks something else', async () => {
    const server = createTlsServer({ ...unknownIdentity, ALPNProtocols: ['h2'] }, (socket) => {
      socket.on('error', () => {});
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    ends.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    expect(await failure((await open())(`https://127.0.0.1:${port}/`))).toBe('protocol-error');
  });

  it('an untrusted certificate: no request is sent', async () => {
    const { site, origin } = await serve(fine);
    expect(await failure((await open({ tls: {} }))(`${origin}/`))).toBe('tls-failed');
    expect(site.requests).toEqual([]);
  });
});

describe('header fields', () => {
  const big: Answer = ({ stream, path }) => {
    const bytes = Number(path.slice(1));
    const fields = Array.from({ length: bytes / 1000 }, (_, i) => [`x-${i}`, 'h'.repeat(990)]);
    stream.respond({ ':status': 200, ...Object.fromEntries(fields) });
    stream.end('ok');
  };
  it('have the limit of the configuration, and the connection stays', async () => {
    const { site, origin } = await serve(big);
    const ask = await open({ maxHeaderBytes: 16_384 });
    for (let i = 0; i < 2; i++) {
      expect(await failure(ask(`${origin}/10000`))).toMatchObject({ status: 200 });
      expect(await failure(ask(`${origin}/50000`))).toBe('headers-too-large');
    }
    expect(site.connections).toBe(1);
    const roomy = await open({ maxHeaderBytes: 200_000 });
    expect(await failure(roomy(`${origin}/50000`))).toMatchObject({ status: 200 });
  });

  it('so many as fit into few bytes are too large as well', async () => {
    const { origin } = await serve(({ stream }) => {
      // A field that the compression makes one byte.
      stream.respond({ ':status': 200, 'x-again': Array.from({ length: 5000 }, () => 'again') });
      stream.end('ok');
    });
    expect(await failure((await open())(`${origin}/`))).toBe('headers-too-large');
  });
});

describe('HTTP/1.1 in its place', () => {
  it('where the server has nothing else: by the connection that found it out, and without asking again', async () => {
    let connections = 0;
    const server = createHttpsServer(unknownIdentity, (request, response) => response.end(`page ${request.url}`));
    server.on('secureConnection', () => connections++);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    ends.push(() => server.close());
    const ask = await open();
    for (const path of ['/a', '/b', '/c']) {
      const { head, body } = await ask(`https://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);
      expect([head.httpVersion, textOf(body)]).toEqual(['1.1', `page ${path}`]);
    }
    expect(connections).toBe(1);
  });

  it('where the server asks for it', async () => {
    const { site, origin } = await serve(({ stream }) => stream.close(NGHTTP2_HTTP_1_1_REQUIRED), { allowHTTP1: true });
    const ask = await open();
    for (const path of ['/a', '/b']) expect(textOf((await ask(origin + path)).body)).toBe(`page ${path}`);
    expect(site.requests).toEqual(['2 /a', '1.1 /a', '1.1 /b']);
  });

  it('unless it is switched on', async () => {
    const { site, origin } = await serve(fine, { allowHTTP1: true });
    expect((await (await open({ http2: false }))(`${origin}/`)).head.httpVersion).toBe('1.1');
    expect((await (await open())(`${origin}/`)).head.httpVersion).toBe('2');
    expect(site.requests).toEqual(['1.1 /', '2 /']);
  });
});

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { FetchProtocol } from '../../../src/core/ports/fetch-protocol.ts';
import { createGotProtocol } from '../../../src/http/exchange/got-protocol.ts';
import type { HttpProtocolOptions } from '../../../src/http/exchange/protocol-options.ts';
import { type ProxyServer, parseProxy } from '../../../src/http/guard/proxied-socket.ts';
import { createUndiciProtocol } from '../../../src/transports/undici/undici-protocol.ts';
import { answersContract } from '../../contracts/fetch-protocol-answers.contract.ts';
import type { CreateProtocol, SkippedQuestions } from '../../contracts/fetch-protocol-exam.ts';
import { faultsContract } from '../../contracts/fetch-protocol-faults.contract.ts';
import { startTlsFront } from '../../site/fronts.ts';
import { freePort, missing, type RunningProxy, startMicrosocks, startTinyproxy } from '../../site/proxy-programs.ts';
import { unknownIdentity } from '../../site/tls-identity.ts';

const noSocks = missing('microsocks');
const noHttp = missing('tinyproxy');
const LOGIN = { user: 'crawler', password: 'pass-1' };
const TRANSPORTS = [
  ['got', async (options: HttpProtocolOptions) => createGotProtocol(options)],
  ['undici', createUndiciProtocol],
] as const;

describe.skipIf(noSocks !== '')(`through SOCKS5${noSocks}`, () => {
  let socks: RunningProxy;
  beforeAll(async () => {
    socks = await startMicrosocks();
  });
  afterAll(() => socks.stop());
  for (const [name, create] of TRANSPORTS) {
    const through: CreateProtocol = (settings) =>
      create({ ...settings, proxy: parseProxy(`socks5://127.0.0.1:${socks.port}`) as ProxyServer });
    // But for the bytes of dropped bodies: the proxy cuts what servers send into packets of its own.
    describe(name, () => {
      answersContract(through, { '/reset-until-close': 'the proxy makes an ordinary end of a reset' });
      const skipped: SkippedQuestions =
        name === 'got' ? { maxSockets: 'http.Agent does not count sockets that are made later; host lanes do' } : {};
      faultsContract(through, skipped);
    });
  }
});

describe.each(TRANSPORTS)('proxies by %s', (_name, create) => {
  const asked: { url: string; headers: IncomingHttpHeaders }[] = [];
  const listener: Parameters<typeof createServer>[1] = (request, response) => {
    asked.push({ url: request.url ?? '', headers: request.headers });
    response.end(`page of ${request.headers.host}`);
  };
  const plain = createServer(listener);
  const secure = createTlsServer(unknownIdentity, listener);
  let [port, tlsPort] = [0, 0];
  const proxies: RunningProxy[] = [];
  const opened: FetchProtocol[] = [];
  beforeAll(async () => {
    await Promise.all([
      once(plain.listen(0, '127.0.0.1'), 'listening'),
      once(secure.listen(0, '127.0.0.1'), 'listening'),
    ]);
    [port, tlsPort] = [plain, secure].map((each) => (each.address() as AddressInfo).port) as [number, number];
  });
  afterAll(() => {
    for (const server of [plain, secure]) {
      server.closeAllConnections();
      server.close();
    }
  });
  afterEach(async () => {
    for (const protocol of opened.splice(0)) await protocol.close();
    for (const proxy of proxies.splice(0)) await proxy.stop();
  });
  const running = async (proxy: Promise<RunningProxy>): Promise<number> => {
    proxies.push(await proxy);
    return (await proxy).port;
  };
  const open = async (proxy: string, more: Partial<HttpProtocolOptions> = {}) => {
    const protocol = await create({
      userAgent: 'exam',
      allowAddresses: ['127.0.0.1', 'localhost'],
      connectTimeoutMs: 3000,
      tls: { ca: [unknownIdentity.cert] },
      proxy: parseProxy(proxy) as ProxyServer,
      ...more,
    });
    opened.push(protocol);
    return (url: string, method: 'GET' | 'HEAD' = 'GET') =>
      protocol.exchange({ url, method, headers: {}, maxBodyBytes: 10_000, timeoutMs: 8000 });
  };
  const textOf = ({ body }: { readonly body: Uint8Array | null }) => Buffer.from(body ?? []).toString();
  const LOGIN_TEXT = `${LOGIN.user}:${encodeURIComponent(LOGIN.password)}@`;

  describe.skipIf(noHttp !== '')(`of HTTP${noHttp}`, () => {
    it('are sent http: whole, and tunnel https:, with their credentials for themselves alone', async () => {
      const at = await running(startTinyproxy(LOGIN));
      const ask = await open(`http://${LOGIN_TEXT}127.0.0.1:${at}`);
      expect(textOf(await ask(`http://127.0.0.1:${port}/a?b=c`))).toBe(`page of 127.0.0.1:${port}`);
      expect(asked.at(-1)).toMatchObject({ url: '/a?b=c' });
      expect(asked.at(-1)?.headers).toHaveProperty('via');
      expect(textOf(await ask(`https://localhost:${tlsPort}/s`))).toBe(`page of localhost:${tlsPort}`);
      expect(asked.at(-1)?.headers).not.toHaveProperty('via');
      expect((await ask(`https://localhost:${tlsPort}/s`, 'HEAD')).head.status).toBe(200);
      expect(asked.every(({ headers }) => !('proxy-authorization' in headers))).toBe(true);
    });

    it('are spoken to over TLS by https://, and trusted by the authorities of the entry alone', async () => {
      const inner = await running(startTinyproxy(LOGIN));
      const front = await startTlsFront(inner);
      const ask = await open(`https://${LOGIN_TEXT}localhost:${front.port}`);
      expect(textOf(await ask(`http://127.0.0.1:${port}/plain`))).toBe(`page of 127.0.0.1:${port}`);
      expect(asked.at(-1)?.headers).toHaveProperty('via');
      expect(textOf(await ask(`https://localhost:${tlsPort}/s`))).toBe(`page of localhost:${tlsPort}`);
      expect(textOf(await ask(`https://localhost:${tlsPort}/t`))).toBe(`page of localhost:${tlsPort}`);
      expect(asked.every(({ headers }) => !('proxy-authorization' in headers))).toBe(true);
      const wrong = await open(`https://other:word@localhost:${front.port}`);
      await expect(wrong(`https://localhost:${tlsPort}/`)).rejects.toMatchObject({ code: 'proxy-failed' });
      const before = asked.length;
      const untrusting = await open(`https://${LOGIN_TEXT}localhost:${front.port}`, { tls: {} });
      for (const url of [`http://127.0.0.1:${port}/`, `https://localhost:${tlsPort}/`]) {
        await expect(untrusting(url)).rejects.toMatchObject({ code: 'proxy-failed' });
      }
      // A proxy that speaks no TLS.
      const plainly = await open(`https://127.0.0.1:${inner}`);
      await expect(plainly(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'proxy-failed' });
      expect(asked.length).toBe(before);
      await front.close();
    });

    it('that refuse the credentials, or are away, are at fault, and no host is', async () => {
      const at = await running(startTinyproxy(LOGIN));
      const wrong = await open(`http://other:word@127.0.0.1:${at}`);
      await expect(wrong(`https://localhost:${tlsPort}/`)).rejects.toMatchObject({ code: 'proxy-failed' });
      const away = await open(`http://127.0.0.1:${await freePort()}`);
      for (const url of [`http://127.0.0.1:${port}/`, `https://localhost:${tlsPort}/`]) {
        await expect(away(url)).rejects.toMatchObject({ code: 'proxy-failed' });
      }
    });

    it('that cannot reach a host say so of the host', async () => {
      const ask = await open(`http://127.0.0.1:${await running(startTinyproxy())}`);
      await expect(ask(`https://127.0.0.1:${await freePort()}/`)).rejects.toMatchObject({ code: 'connect-failed' });
    });
  });

  describe.skipIf(noSocks !== '')(`of SOCKS5${noSocks}`, () => {
    it.each(['socks5', 'socks5h'])('lead to hosts by %s, with credentials', async (scheme) => {
      const at = await running(startMicrosocks(LOGIN));
      const ask = await open(`${scheme}://${LOGIN_TEXT}127.0.0.1:${at}`);
      expect(textOf(await ask(`http://localhost:${port}/`))).toBe(`page of localhost:${port}`);
      expect(textOf(await ask(`https://localhost:${tlsPort}/`))).toBe(`page of localhost:${tlsPort}`);
      const wrong = await open(`${scheme}://127.0.0.1:${at}`);
      await expect(wrong(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ code: 'proxy-failed' });
      const refused = ask(`http://127.0.0.1:${await freePort()}/`);
      await expect(refused).rejects.toMatchObject({ code: 'connect-failed' });
    });
  });

  it('do not keep the guard from refusing what it can see', async () => {
    const away = `127.0.0.1:${await freePort()}`;
    for (const scheme of ['http', 'socks5', 'socks5h']) {
      const ask = await open(`${scheme}://${away}`, { allowAddresses: [] });
      for (const url of [`http://127.0.0.1:${port}/`, `http://localhost:${port}/`, 'http://169.254.169.254/']) {
        await expect(ask(url)).rejects.toMatchObject({ code: 'address-blocked' });
      }
    }
    // An address of this machine behind a name, which names are resolved here with.
    const ask = await open(`socks5://${away}`, { allowAddresses: ['10.0.0.1'] });
    await expect(ask(`http://ip6-localhost:${port}/`)).rejects.toMatchObject({
      code: expect.stringMatching(/^(address-blocked|dns-failed)$/),
    });
  });

  it('that are sent no answer by end in time', async () => {
    const mute = createServer();
    const tunnels: Duplex[] = [];
    mute.on('connect', (_request, tunnel) => tunnels.push(tunnel));
    await once(mute.listen(0, '127.0.0.1'), 'listening');
    const at = (mute.address() as AddressInfo).port;
    const ask = await open(`http://127.0.0.1:${at}`, { connectTimeoutMs: 300 });
    await expect(ask(`https://localhost:${tlsPort}/`)).rejects.toMatchObject({ code: 'connect-timeout' });
    for (const tunnel of tunnels) tunnel.destroy();
    mute.close();
  });
});

describe('HTTP/2', () => {
  const connections = new Set<object>();
  const server = createSecureServer(unknownIdentity);
  server.on('session', (session) => connections.add(session));
  server.on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'text/plain' });
    stream.end('page');
  });
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => server.close());

  const goes = async (scheme: string, proxy: RunningProxy): Promise<void> => {
    connections.clear();
    const protocol = await createUndiciProtocol({
      userAgent: 'exam',
      allowAddresses: ['127.0.0.1'],
      http2: true,
      tls: { ca: [unknownIdentity.cert] },
      connectTimeoutMs: 3000,
      proxy: parseProxy(`${scheme}://127.0.0.1:${proxy.port}`) as ProxyServer,
    });
    const { port } = server.address() as AddressInfo;
    for (const path of ['a', 'b']) {
      const url = `https://127.0.0.1:${port}/${path}`;
      const { head } = await protocol.exchange({
        url,
        method: 'GET',
        headers: {},
        maxBodyBytes: 10_000,
        timeoutMs: 8000,
      });
      expect(head.httpVersion).toBe('2');
    }
    expect(connections.size).toBe(1);
    await protocol.close();
    await proxy.stop();
  };

  it.skipIf(noHttp !== '')(`goes through a tunnel of HTTP${noHttp}`, async () => goes('http', await startTinyproxy()));

  it.skipIf(noSocks !== '')(`goes through SOCKS5${noSocks}`, async () => goes('socks5', await startMicrosocks()));
});

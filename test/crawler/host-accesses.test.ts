import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import type { FetchProtocol } from '../../src/core/ports/fetch-protocol.ts';
import { laneSettings, type ProtocolsByHost, protocolsByHost } from '../../src/crawler/host-accesses.ts';
import { createGotProtocol } from '../../src/http/exchange/got-protocol.ts';
import { createUndiciProtocol } from '../../src/transports/undici/undici-protocol.ts';
import { unknownIdentity } from '../site/tls-identity.ts';

const http = { userAgent: 'exam/1.0', allowAddresses: ['127.0.0.1', 'localhost'] };
const log = { info: () => {} };
const isOwnHost = () => false;
const seen: (IncomingMessage & { readonly socket: Partial<TLSSocket> })[] = [];
const listener: RequestListener = (request, response) => {
  seen.push(request as (typeof seen)[number]);
  if (request.url === '/moved') response.writeHead(302, { location: `http://localhost:${port}/` });
  response.end('ok');
};
const plain = createServer(listener);
const secure = createTlsServer({ ...unknownIdentity, requestCert: true, rejectUnauthorized: false }, listener);
let [port, tlsPort, baseDir] = [0, 0, ''];

beforeAll(async () => {
  await Promise.all([
    once(plain.listen(0, '127.0.0.1'), 'listening'),
    once(secure.listen(0, '127.0.0.1'), 'listening'),
  ]);
  [port, tlsPort] = [plain, secure].map((each) => (each.address() as AddressInfo).port) as [number, number];
  baseDir = mkdtempSync(join(tmpdir(), 'host-accesses-'));
  writeFileSync(join(baseDir, 'authority.pem'), unknownIdentity.cert);
  writeFileSync(join(baseDir, 'client.pem'), unknownIdentity.cert);
  writeFileSync(join(baseDir, 'client.key'), unknownIdentity.key);
  writeFileSync(join(baseDir, 'token.txt'), 'token-of-a-file\n');
});
afterAll(() => {
  plain.close();
  secure.close();
  rmSync(baseDir, { recursive: true, force: true });
});

function open(inner: FetchProtocol, hosts: readonly object[], env: Record<string, string> = {}): ProtocolsByHost {
  const config = defaultConfig([{ key: 'hosts', value: hosts, origin: 'test' }]);
  return protocolsByHost(
    new Map([
      ['http', inner],
      ['https', inner],
    ]),
    { config, baseDir, log, env, http, isOwnHost },
  );
}

async function ask(protocols: ProtocolsByHost['protocols'], url: string): Promise<IncomingMessage['headers']> {
  const protocol = protocols.get('http') as FetchProtocol;
  await protocol.exchange({ url, method: 'GET', headers: { 'x-own': '1' }, maxBodyBytes: 1000, timeoutMs: 5000 });
  return (seen.at(-1) as IncomingMessage).headers;
}

describe.each([
  ['got', async () => createGotProtocol(http)],
  ['undici', () => createUndiciProtocol(http)],
] as const)('requests by %s, as hosts: sets them', (name, create) => {
  it('carry headers, user agent and credentials to the URLs of their entry alone', async () => {
    const inner = await create();
    const { protocols } = open(
      inner,
      [
        {
          match: `http://127.0.0.1:${port}/members/`,
          credentials: { basic: { user: 'me', password: { env: 'PASSWORD' } } },
          secretsOverHttp: true,
        },
        {
          match: `127.0.0.1:${port}`,
          userAgent: 'other/2',
          headers: { 'X-Plain': 'a', 'X-Api-Key': { file: 'token.txt' } },
        },
      ],
      { PASSWORD: 'pä:ss' },
    );
    const members = await ask(protocols, `http://127.0.0.1:${port}/members/1`);
    expect(members.authorization).toBe(`Basic ${Buffer.from('me:pä:ss').toString('base64')}`);
    expect(members).toMatchObject({ 'user-agent': 'exam/1.0', 'x-own': '1' });
    const others = await ask(protocols, `http://127.0.0.1:${port}/members`);
    expect(others).toMatchObject({ 'user-agent': 'other/2', 'x-plain': 'a', 'x-own': '1' });
    // A secret, and the connection is not encrypted.
    expect(others).not.toHaveProperty('x-api-key');
    expect(others).not.toHaveProperty('authorization');
    const elsewhere = await ask(protocols, `http://localhost:${port}/members/1`);
    expect(elsewhere).toMatchObject({ 'user-agent': 'exam/1.0' });
    expect(elsewhere).not.toHaveProperty('authorization');
    expect(elsewhere).not.toHaveProperty('x-plain');
    await protocols.get('http')?.close();
  });

  it('do not follow a redirect with credentials', async () => {
    const { protocols } = open(await create(), [
      { match: `127.0.0.1:${port}`, credentials: { bearer: { file: 'token.txt' } }, secretsOverHttp: true },
    ]);
    const before = seen.length;
    expect((await ask(protocols, `http://127.0.0.1:${port}/moved`)).authorization).toBe('Bearer token-of-a-file');
    expect(seen.length).toBe(before + 1);
    await protocols.get('http')?.close();
  });

  it('trust the authorities of their entry, and show its certificate there alone', async () => {
    const entry = { protocol: name, ca: 'authority.pem', certificate: { cert: 'client.pem', key: 'client.key' } };
    const { protocols } = open(await create(), [
      { match: `localhost:${tlsPort}`, ...entry, credentials: { bearer: { file: 'token.txt' } } },
    ]);
    const headers = await ask(protocols, `https://localhost:${tlsPort}/`);
    expect(headers.authorization).toBe('Bearer token-of-a-file');
    expect(seen.at(-1)?.socket.getPeerCertificate?.().subject).toBeDefined();
    await expect(ask(protocols, `https://127.0.0.1:${tlsPort}/`)).rejects.toMatchObject({ code: 'tls-failed' });
    await protocols.get('http')?.close();
  });

  it('go by the transport of their entry', async () => {
    const inner: FetchProtocol = {
      schemes: ['http'],
      exchange: () => Promise.reject(new Error('inner')),
      close: async () => {},
    };
    const { protocols } = open(inner, [{ match: `127.0.0.1:${port}`, protocol: name }]);
    expect(await ask(protocols, `http://127.0.0.1:${port}/`)).toMatchObject({ 'user-agent': 'exam/1.0' });
    await expect(ask(protocols, `http://localhost:${port}/`)).rejects.toThrow('inner');
    await protocols.get('http')?.close();
  });
});

describe('hosts:', () => {
  const inner: FetchProtocol = {
    schemes: ['http'],
    exchange: () => Promise.reject(new Error('asked')),
    close: async () => {},
  };

  it.each([
    [{ env: 'MISSING' }, /^hosts\[0\]\.credentials\.bearer: the variable MISSING of the environment is not set/],
    [{ file: 'missing.txt' }, /^hosts\[0\]\.credentials\.bearer: .*missing\.txt cannot be read \(ENOENT\)/],
    [{ env: 'TWO_LINES' }, /is not one line of text/],
  ])('refuses the crawl before its first request where a secret is missing: %j', (bearer, wanted) => {
    const { prepare } = open(inner, [{ match: 'a.org', credentials: { bearer } }], { TWO_LINES: 'top\nsecret' });
    expect(prepare).toThrow(wanted);
    expect(prepare).not.toThrow(/top/);
  });

  it('leaves the protocols and the lanes as they are where it is empty', () => {
    const protocols = new Map([['http', inner]]);
    expect(protocolsByHost(protocols, { config: defaultConfig(), baseDir, log, http, isOwnHost }).protocols).toBe(
      protocols,
    );
    expect(laneSettings(defaultConfig())).toBeUndefined();
  });
});

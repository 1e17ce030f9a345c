import { rootCertificates } from 'node:tls';
import { cookieFile } from '../adapters/files/cookie-files.ts';
import { createGotProtocol } from '../adapters/http/exchange/got-protocol.ts';
import type { HttpProtocolOptions } from '../adapters/http/exchange/protocol-options.ts';
import { type ProxyServer, parseProxy } from '../adapters/http/guard/proxy-server.ts';
import type { TlsFiles } from '../adapters/http/guard/tls-files.ts';
import type { HostCookies } from '../adapters/http/hosts/cookie-jar.ts';
import { readConfiguredFile, readSecret } from '../adapters/system/secrets.ts';
import type { SecretRef } from '../config/hosts/secret-ref.ts';
import type { Config } from '../config/schema.ts';
import type { FetchProtocol } from '../ports/fetch-protocol.ts';
import type { Log } from '../ports/log.ts';
import type { Environment } from './unused-proxies.ts';

type HostEntry = Config['hosts'][number];

export interface HostRequestOptions {
  /** State directory, for cookies; absent: none are kept. */
  readonly dir?: string;
  /** Folder that paths are relative to. */
  readonly baseDir: string;
  readonly log: Pick<Log, 'info'>;
  /** For secrets; default: none is set. */
  readonly env?: Environment | undefined;
  /** Options of the transports of all hosts, on which those of some are based. */
  readonly http: HttpProtocolOptions;
}

/** What an entry of `hosts:` sends, with its secrets read. */
export interface HostRequests {
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  readonly sendsOverHttp: boolean;
  /** Opens the jar of its cookies; `null`: none are kept. */
  openCookies(): Promise<HostCookies | null>;
  /** The proxy of these requests; `undefined`: as for all hosts. */
  readonly proxy: ProxyServer | null | undefined;
  /** Makes a transport of its own, through a proxy or none; `null`: that of all hosts serves. */
  openProtocol(proxy: ProxyServer | null): Promise<FetchProtocol | null>;
}

/** Of a URL that no entry is for. */
export function plainRequests(options: HostRequestOptions): HostRequests {
  return {
    ...{ headers: {}, secrets: {}, sendsOverHttp: false, proxy: undefined },
    openCookies: async () => null,
    openProtocol: (proxy) => openTransport({}, options.http, null, proxy),
  };
}

/**
 * Reads the secrets of an entry. Throws `config-invalid` with the entry's name where one cannot be read.
 * @param name as messages name it: `hosts[0]`
 */
export function hostRequests(entry: HostEntry, name: string, options: HostRequestOptions): HostRequests {
  const read = (ref: SecretRef, key: string): string =>
    readSecret(ref, `${name}.${key}`, { env: options.env ?? {}, baseDir: options.baseDir });
  const { userAgent, headers = {}, credentials = {}, secretsOverHttp = false } = entry;
  const plain: Record<string, string> = userAgent === undefined ? {} : { 'user-agent': userAgent };
  const secrets: Record<string, string> = {};
  for (const [field, value] of Object.entries(headers)) {
    if (typeof value === 'string') plain[field.toLowerCase()] = value;
    else secrets[field.toLowerCase()] = read(value, `headers.${field}`);
  }
  if (credentials.bearer !== undefined) {
    secrets.authorization = `Bearer ${read(credentials.bearer, 'credentials.bearer')}`;
  }
  if (credentials.basic !== undefined) {
    const { user, password } = credentials.basic;
    // In UTF-8, as RFC 7617 lets servers ask for, and most expect.
    const pair = Buffer.from(`${user}:${read(password, 'credentials.basic.password')}`, 'utf8');
    secrets.authorization = `Basic ${pair.toString('base64')}`;
  }
  const tls = tlsFiles(entry, name, read, options.baseDir);
  return {
    headers: plain,
    secrets,
    sendsOverHttp: secretsOverHttp,
    async openCookies() {
      if (entry.cookies !== true || options.dir === undefined) return null;
      const { openCookies } = await import('../adapters/http/hosts/cookie-jar.ts');
      return openCookies(cookieFile(options.dir, entry.match));
    },
    proxy: proxyOf(entry, read),
    openProtocol: (proxy) => openTransport(entry, options.http, tls, proxy),
  };
}

async function openTransport(
  { protocol, http2 }: Pick<HostEntry, 'protocol' | 'http2'>,
  options: HttpProtocolOptions,
  tls: TlsFiles | null,
  proxy: ProxyServer | null,
): Promise<FetchProtocol | null> {
  if (protocol === undefined && http2 !== true && tls === null && proxy === null) return null;
  const http = { ...options, ...(tls !== null && { tls }), ...(proxy !== null && { proxy }) };
  if (protocol !== 'undici' && http2 !== true) return createGotProtocol(http);
  const { createUndiciProtocol } = await import('../adapters/http/exchange/undici-protocol.ts');
  return createUndiciProtocol({ ...http, ...(http2 !== undefined && { http2 }) });
}

function proxyOf({ proxy }: HostEntry, read: (ref: SecretRef, key: string) => string): ProxyServer | null | undefined {
  if (proxy === undefined) return undefined;
  if (typeof proxy === 'string') return proxy === 'none' ? null : parseProxy(proxy);
  const server = parseProxy(proxy.url);
  return server && { ...server, user: proxy.user, password: read(proxy.password, 'proxy.password') };
}

function tlsFiles(
  { certificate, ca }: HostEntry,
  name: string,
  read: (ref: SecretRef, key: string) => string,
  baseDir: string,
): TlsFiles | null {
  if (certificate === undefined && ca === undefined) return null;
  const file = (path: string, key: string): string =>
    readConfiguredFile(path, `${name}.${key}`, baseDir).toString('utf8');
  return {
    // Beside the authorities that are known anyway: one entry may be for public and own hosts.
    ...(ca !== undefined && { ca: [...rootCertificates, file(ca, 'ca')] }),
    ...(certificate !== undefined && {
      cert: file(certificate.cert, 'certificate.cert'),
      key: file(certificate.key, 'certificate.key'),
      ...(certificate.passphrase !== undefined && {
        passphrase: read(certificate.passphrase, 'certificate.passphrase'),
      }),
    }),
  };
}

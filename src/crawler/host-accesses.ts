// crawler/: composition: a state directory opened to write, to read, as a snapshot or as a worker.

import { rootCertificates } from 'node:tls';
import { hostEntriesBy } from '../core/config/hosts/host-entries.ts';
import type { SecretRef } from '../core/config/hosts/host-keys.ts';
import type { Config } from '../core/config/schema.ts';
import type { FetchProtocol } from '../core/ports/fetch-protocol.ts';
import type { Log } from '../core/ports/log.ts';
import { createGotProtocol } from '../http/exchange/got-protocol.ts';
import type { HttpProtocolOptions } from '../http/exchange/protocol-options.ts';
import type { TlsFiles } from '../http/guard/guarded-socket.ts';
import { type ProxyServer, parseProxy, proxyName, resolvesNames } from '../http/guard/proxied-socket.ts';
import type { HostCookies } from '../http/hosts/cookie-jar.ts';
import { createHostProtocol, type HostAccess, type HostAccesses } from '../http/hosts/host-protocol.ts';
import type { HostLanesOptions } from '../http/lanes/host-lanes.ts';
import { readConfiguredFile, readSecret } from '../operations/system/secrets.ts';
import { cookieFile } from '../store/files/cookie-files.ts';
import { type Environment, generalProxy, type ProxyFor } from './proxies.ts';

type HostEntry = Config['hosts'][number];

interface HostRequestOptions {
  /** State directory, for cookies; absent: none are kept. */
  readonly dir?: string;
  /** Folder that relative paths are resolved against. */
  readonly baseDir: string;
  readonly log: Pick<Log, 'info'>;
  /** Source of secrets; default: none are set. */
  readonly env?: Environment | undefined;
  /** Options of the transports for all hosts, on which host-specific ones are based. */
  readonly http: HttpProtocolOptions;
}

/** What requests under an entry of `hosts:` send, with their secrets read. */
interface HostRequests {
  readonly headers: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  readonly sendsOverHttp: boolean;
  /** Opens its cookie jar; `null`: no cookies are kept. */
  openCookies(): Promise<HostCookies | null>;
  /** The proxy for these requests; `undefined`: as for all hosts. */
  readonly proxy: ProxyServer | null | undefined;
  /** Creates its own transport, with or without a proxy; `null`: the one for all hosts serves. */
  openProtocol(proxy: ProxyServer | null): Promise<FetchProtocol | null>;
}

/** For a URL that matches no entry. */
function plainRequests(options: HostRequestOptions): HostRequests {
  return {
    ...{ headers: {}, secrets: {}, sendsOverHttp: false, proxy: undefined },
    openCookies: async () => null,
    openProtocol: (proxy) => openTransport({}, options.http, null, proxy),
  };
}

/**
 * Reads the secrets of an entry. Throws `config-invalid` with the entry's name if one cannot be read.
 * @param name as messages name it: `hosts[0]`
 */
function hostRequests(entry: HostEntry, name: string, options: HostRequestOptions): HostRequests {
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
    // In UTF-8, which RFC 7617 lets servers request and most expect.
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
      const { openCookies } = await import('../http/hosts/cookie-jar.ts');
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
  const { createUndiciProtocol } = await import('../transports/undici/undici-protocol.ts');
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
    // In addition to the known authorities: one entry may cover public and own hosts.
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

interface HostAccessOptions extends HostRequestOptions {
  readonly config: Config;
  /** Whether a host has a private address or is allowed by name. */
  readonly isOwnHost: (host: string) => boolean;
}

export interface ProtocolsByHost {
  /** By scheme, without the colon. */
  readonly protocols: ReadonlyMap<string, FetchProtocol>;
  /** Reads all secrets. Must be called before the first request; throws `config-invalid` if one cannot be read. */
  prepare(): void;
}

/**
 * The protocols, with the settings of `hosts:` and `http.proxy` for requests to some URLs; unchanged objects if these
 * set nothing. Throws `config-invalid` for an invalid proxy in the environment.
 */
export function protocolsByHost(
  protocols: ReadonlyMap<string, FetchProtocol>,
  options: HostAccessOptions,
): ProtocolsByHost {
  const { config, env = {}, isOwnHost } = options;
  const proxyFor = generalProxy(config, env, isOwnHost);
  if (config.hosts.length === 0 && proxyFor === null) return { protocols, prepare: () => {} };
  const accesses = new OpenAccesses(options, proxyFor);
  const wrapped = new Map<FetchProtocol, FetchProtocol>();
  for (const scheme of ['http', 'https']) {
    const inner = protocols.get(scheme);
    if (inner !== undefined && !wrapped.has(inner)) wrapped.set(inner, createHostProtocol(inner, accesses));
  }
  return {
    protocols: new Map([...protocols].map(([scheme, inner]) => [scheme, wrapped.get(inner) ?? inner])),
    prepare: () => accesses.prepare(),
  };
}

/** Index for URLs that match no entry. */
const NO_ENTRY = -1;

/** Created at the first request that needs them; kept by entry and proxy. */
class OpenAccesses implements HostAccesses {
  readonly #options: HostAccessOptions;
  readonly #proxyFor: ProxyFor | null;
  readonly #entries: ReturnType<typeof hostEntriesBy<Config['hosts'][number]>>;
  readonly #requests = new Map<number, HostRequests>();
  readonly #cookies = new Map<number, Promise<HostCookies | null>>();
  readonly #open = new Map<string, Promise<HostAccess>>();
  readonly #announced = new Set<string>();

  constructor(options: HostAccessOptions, proxyFor: ProxyFor | null) {
    this.#options = options;
    this.#proxyFor = proxyFor;
    this.#entries = hostEntriesBy(options.config.hosts);
  }

  prepare(): void {
    for (const index of this.#options.config.hosts.keys()) this.#requestsOf(index);
  }

  of(url: string): Promise<HostAccess> | undefined {
    const index = this.#entries.forUrl(url)?.index ?? NO_ENTRY;
    const requests = this.#requestsOf(index);
    const proxy = requests.proxy === undefined ? (this.#proxyFor?.(url) ?? null) : requests.proxy;
    if (index === NO_ENTRY && proxy === null) return undefined;
    const key = `${index} ${proxy === null ? '' : proxyName(proxy)}`;
    let access = this.#open.get(key);
    if (access === undefined) {
      access = this.#opened(index, requests, proxy);
      this.#open.set(key, access);
    }
    return access;
  }

  async close(): Promise<void> {
    const accesses = [...this.#open.values()];
    this.#open.clear();
    for (const opening of accesses) {
      const access = await opening.catch(() => null);
      access?.cookies?.flush();
      await access?.protocol?.close();
    }
  }

  #requestsOf(index: number): HostRequests {
    let found = this.#requests.get(index);
    if (found === undefined) {
      const entry = this.#options.config.hosts[index];
      found =
        entry === undefined ? plainRequests(this.#options) : hostRequests(entry, `hosts[${index}]`, this.#options);
      this.#requests.set(index, found);
    }
    return found;
  }

  async #opened(index: number, requests: HostRequests, proxy: ProxyServer | null): Promise<HostAccess> {
    if (proxy !== null) this.#announce(proxy);
    const { headers, secrets, sendsOverHttp } = requests;
    const protocol = await requests.openProtocol(proxy);
    const cookies = this.#cookies.get(index) ?? requests.openCookies();
    this.#cookies.set(index, cookies);
    return { headers, secrets, sendsOverHttp, protocol, cookies: await cookies, isProxied: proxy !== null };
  }

  /** Warns once about what the guard can no longer see. */
  #announce(proxy: ProxyServer): void {
    const name = proxyName(proxy);
    if (this.#announced.has(name) || !resolvesNames(proxy)) return;
    this.#announced.add(name);
    this.#options.log.info(
      'the proxy resolves host names, so private addresses behind names are not refused; socks5:// resolves them here',
      { proxy: name },
    );
  }
}

/** Delay and connections set by `hosts:`; `undefined` if neither is set, so that a host costs nothing. */
export function laneSettings({ hosts }: Config): HostLanesOptions['ownSettings'] {
  if (hosts.every(({ delayMs, connections }) => delayMs === undefined && connections === undefined)) return undefined;
  const entries = hostEntriesBy(hosts);
  return (host) => entries.forHost(host)?.entry;
}

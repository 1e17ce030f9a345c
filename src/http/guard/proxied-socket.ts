import { request } from 'node:http';
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { SocksClient, type SocksProxy } from 'socks';
import { CrawlError } from '../../core/domain/errors.ts';
import { isOutOfFiles } from '../../core/domain/system-limit.ts';
import { isUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import type { AddressGuard } from './address-guard.ts';
import {
  type Alpn,
  createTlsSessions,
  HTTP1,
  type SocketMaker,
  type SocketTarget,
  type TlsFiles,
} from './guarded-socket.ts';

/** A proxy that the operator named. The guard does not judge its address. */
export interface ProxyServer {
  /** `http`, `https`: how the proxy itself is reached. `socks5`: names are resolved here; `socks5h`: by the proxy. */
  readonly scheme: 'http' | 'https' | 'socks5' | 'socks5h';
  /** Without the brackets of an IPv6 address. */
  readonly hostname: string;
  readonly port: number;
  readonly user: string | null;
  readonly password: string | null;
}

const PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, socks5: 1080, socks5h: 1080 };

/** Reads `http://proxy.example:3128`, with or without user and password; `null` for any other text. */
export function parseProxy(text: string): ProxyServer | null {
  // The URL parser finds no host after a scheme that the web does not know, so it is given another scheme.
  const [, scheme = '', rest = ''] = /^(https?|socks5h?):\/\/(.*)$/i.exec(text.trim()) ?? [];
  const spelled = `http://${rest}`;
  if (scheme === '' || !isUrl(spelled)) return null;
  const { hostname, port, username, password, pathname, search, hash } = new URL(spelled);
  if (hostname === '' || pathname !== '/' || search !== '' || hash !== '') return null;
  const name = scheme.toLowerCase() as ProxyServer['scheme'];
  try {
    return {
      scheme: name,
      hostname: hostname.replace(/^\[|\]$/g, ''),
      // The parser omits the default port of http.
      port: port === '' ? (/:80\/?$/.test(rest) ? 80 : (PORTS[name] as number)) : Number(port),
      user: username === '' ? null : decodeURIComponent(username),
      password: password === '' ? null : decodeURIComponent(password),
    };
  } catch {
    return null;
  }
}

/** The proxy as messages show it: without user and password. */
export function proxyName({ scheme, hostname, port }: ProxyServer): string {
  return `${scheme}://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
}

/** Whether the proxy resolves host names, so that the guard cannot judge the addresses behind them. */
export const resolvesNames = ({ scheme }: ProxyServer): boolean => scheme !== 'socks5';

/**
 * Header fields of a request that the proxy forwards: it gets the whole URL (RFC 9112 section 3.2.2). `null`: requests
 * go through a tunnel.
 */
export function forwardingFields(proxy: ProxyServer): Readonly<Record<string, string>> | null {
  if (proxy.scheme !== 'http' && proxy.scheme !== 'https') return null;
  return proxyAuthorization(proxy);
}

export function proxyAuthorization({ user, password }: ProxyServer): Readonly<Record<string, string>> {
  if (user === null) return {};
  const pair = Buffer.from(`${user}:${password ?? ''}`, 'utf8').toString('base64');
  return { 'proxy-authorization': `Basic ${pair}` };
}

/**
 * Sockets that lead to their targets through a proxy: by CONNECT or SOCKS5 (RFC 1928). With `http:`, an HTTP proxy is
 * sent the whole URL, so the socket leads to the proxy itself. A fault of the proxy is a `proxy-failed`; a fault of the
 * target that the proxy reports is that of the target. Each step ends after `timeoutMs`.
 */
export function createProxiedSocketMaker(
  proxy: ProxyServer,
  guard: AddressGuard,
  timeoutMs: number,
  tls: TlsFiles,
  alpn: Alpn = HTTP1,
): SocketMaker {
  const sessions = createTlsSessions(tls, alpn);
  // The proxy gets no client certificate: that is for the servers behind it.
  const sessionsOfProxy = createTlsSessions(tls.ca === undefined ? {} : { ca: tls.ca });
  const isSocks = proxy.scheme.startsWith('socks');

  async function establish(tcp: Socket, target: SocketTarget): Promise<Socket> {
    const connected = ready(tcp, 'connect');
    // It may fail while the name is being resolved.
    connected.catch(() => {});
    const address = isSocks && !resolvesNames(proxy) ? await resolved(guard, target) : target.hostname;
    await within(timeoutMs, `no connection to ${proxyName(proxy)}`, connected, tcp);
    let socket = tcp;
    if (proxy.scheme === 'https') {
      socket = sessionsOfProxy.connect(tcp, proxy);
      await within(timeoutMs, `no TLS handshake with ${proxyName(proxy)}`, ready(socket, 'secureConnect'), tcp);
    }
    const tunnel = isSocks ? throughSocks : target.isSecure ? throughConnect : null;
    if (tunnel !== null) {
      const wait = `no tunnel by ${proxyName(proxy)}`;
      const made = tunnel(proxy, socket, { ...target, hostname: address });
      socket = await within(timeoutMs, wait, made, tcp, tunnelFault);
    }
    if (!target.isSecure) return socket;
    const secured = sessions.connect(socket, target);
    return within(timeoutMs, 'secureConnect', ready(secured, 'secureConnect'), tcp, secureFault);
  }

  return (target, done) => {
    const tcp = connect({ host: proxy.hostname, port: proxy.port, noDelay: true });
    // The listener stays attached, so that a late error of the socket does not end the process.
    tcp.on('error', () => {});
    establish(tcp, target).then(
      (socket) => done(null, socket),
      (fault: Error) => {
        tcp.destroy();
        done(fault, null);
      },
    );
    return tcp;
  };
}

/** An address of the target that the guard permits. */
function resolved(guard: AddressGuard, { hostname, isNamed }: SocketTarget): Promise<string> {
  if (isIP(hostname) !== 0) return Promise.resolve(hostname);
  const lookup: LookupFunction = isNamed ? guard.lookupNamed : guard.lookup;
  return new Promise((resolve, reject) => {
    lookup(hostname, { all: false }, (fault, address) => (fault ? reject(fault) : resolve(address as string)));
  });
}

function ready(socket: Socket, event: 'connect' | 'secureConnect'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('the connection was closed')));
    socket.once(event, () => resolve(socket));
  });
}

const proxyFault = (what: string, error: unknown): CrawlError =>
  new CrawlError('proxy-failed', `${what}: ${error instanceof Error ? error.message : String(error)}`, {
    cause: error,
  });

/** A proxy that does not answer is most likely waiting for the target. */
const tunnelFault = (what: string, error: unknown): unknown =>
  error instanceof Error && 'event' in error
    ? new CrawlError('connect-timeout', `${what}: ${error.message}`, { cause: error })
    : proxyFault(what, error);

const secureFault = (_what: string, error: unknown): unknown => error;

/** Ends a step after its time; `faultOf` makes the error from its failure. A fault of this machine stays one. */
async function within<Value>(
  timeoutMs: number,
  what: string,
  step: Promise<Value>,
  tcp: Socket,
  faultOf: (what: string, error: unknown) => unknown = proxyFault,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const text = `not done after ${timeoutMs} ms`;
    timer = setTimeout(() => {
      reject(Object.assign(new Error(text), { code: 'ETIMEDOUT', event: what }));
      tcp.destroy();
    }, timeoutMs);
  });
  try {
    return await Promise.race([step, late]);
  } catch (error) {
    if (error instanceof CrawlError || isOutOfFiles(error)) throw error;
    throw faultOf(what, error);
  } finally {
    clearTimeout(timer);
  }
}

const authorityOf = ({ hostname, port }: SocketTarget): string =>
  `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;

/** A tunnel by CONNECT (RFC 9110 section 9.3.6). */
function throughConnect(proxy: ProxyServer, socket: Socket, target: SocketTarget): Promise<Socket> {
  const authority = authorityOf(target);
  return new Promise((resolve, reject) => {
    const asked = request({
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...proxyAuthorization(proxy) },
      createConnection: () => socket,
    });
    asked.once('error', reject);
    asked.once('connect', ({ statusCode = 0 }, tunnel: Socket, first: Buffer) => {
      if (statusCode < 200 || statusCode > 299) return reject(refusal(proxy, authority, statusCode));
      if (first.length > 0) tunnel.unshift(first);
      resolve(tunnel);
    });
    asked.end();
  });
}

function refusal(proxy: ProxyServer, authority: string, status: number): CrawlError {
  const name = proxyName(proxy);
  if (status === 407) return new CrawlError('proxy-failed', `${name} asks for other credentials (status 407)`);
  // Gateway statuses: it was the target that did not answer.
  if (status >= 500) return new CrawlError('connect-failed', `${name} could not reach ${authority} (status ${status})`);
  return new CrawlError('proxy-failed', `${name} does not connect to ${authority} (status ${status})`);
}

/** Replies of RFC 1928 section 6 that are about the target. */
const UNREACHED = /HostUnreachable|NetworkUnreachable|ConnectionRefused|TTLExpired/;

async function throughSocks(proxy: ProxyServer, socket: Socket, target: SocketTarget): Promise<Socket> {
  const server: SocksProxy = {
    host: proxy.hostname,
    port: proxy.port,
    type: 5,
    ...(proxy.user !== null && { userId: proxy.user, password: proxy.password ?? '' }),
  };
  try {
    await SocksClient.createConnection({
      command: 'connect',
      proxy: server,
      destination: { host: target.hostname, port: target.port },
      existing_socket: socket,
    });
    return socket;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // The error itself has the options, and so the password.
    const cause = new Error(message);
    const authority = authorityOf(target);
    if (UNREACHED.test(message)) {
      throw new CrawlError('connect-failed', `${proxyName(proxy)} could not reach ${authority}: ${message}`, { cause });
    }
    throw new CrawlError('proxy-failed', `${proxyName(proxy)} does not connect to ${authority}: ${message}`, { cause });
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import { CrawlError } from '../../core/domain/errors.ts';
import type { Exchange, ExchangeRequest } from '../../core/ports/fetch-protocol.ts';
import type { TlsFiles } from '../guard/guarded-socket.ts';
import { forwardingFields, type ProxyServer } from '../guard/proxied-socket.ts';
import { ACCEPTED_CODINGS } from './content-coding.ts';

/** Pauses before another attempt, ms: the first and the longest. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

/**
 * An exchange that waits for a file descriptor: without one no request was sent, so the host has noticed nothing. The
 * wait counts towards the deadline of the request, and rejects with `system-limit` when that has passed.
 * @param makeWay closes idle connections, which have descriptors
 */
export async function awaitDescriptor(
  request: ExchangeRequest,
  send: (request: ExchangeRequest) => Promise<Exchange>,
  makeWay: () => void,
): Promise<Exchange> {
  const endsAt = performance.now() + request.timeoutMs;
  for (let pauseMs = FIRST_PAUSE_MS, timeoutMs = request.timeoutMs; ; ) {
    try {
      return await send(timeoutMs === request.timeoutMs ? request : { ...request, timeoutMs });
    } catch (error) {
      if (!(error instanceof CrawlError) || error.code !== 'system-limit') throw error;
      timeoutMs = Math.ceil(endsAt - performance.now() - pauseMs);
      if (timeoutMs <= 0 || request.signal?.aborted) throw error;
    }
    makeWay();
    await delay(pauseMs);
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }
}

/** Options of both transports for `http:` and `https:`. */
export interface HttpProtocolOptions {
  readonly userAgent: string;
  /** Accept-Language to be sent; none by default. */
  readonly acceptLanguage?: string;
  /** Maximum header section of a response, bytes. Default 32 KiB. */
  readonly maxHeaderBytes?: number;
  /** Timeout of name resolution, connection and TLS handshake, each, ms. Default 10 s. */
  readonly connectTimeoutMs?: number;
  /** Timeout of the response head once the request has been sent, ms. Default 20 s. */
  readonly headTimeoutMs?: number;
  /** Timeout between two chunks of a body, ms. Default 20 s. */
  readonly stallTimeoutMs?: number;
  /** Exceptions to the address guard besides public hosts: host names, `host:port`, IP addresses, CIDR ranges. */
  readonly allowAddresses?: readonly string[];
  /** Maximum connections to one host and port. Default 8: the host lanes decide how many are used. */
  readonly maxSockets?: number;
  /** Maximum idle connections over all hosts. Default 256. */
  readonly maxIdleSockets?: number;
  /** Certificates to use instead of those of the system. */
  readonly tls?: TlsFiles;
  /** Proxy for all requests; default: requests go to the servers themselves. */
  readonly proxy?: ProxyServer;
  /** Uses HTTP/2 over TLS with servers that support it; default: only HTTP/1.1. got always uses HTTP/1.1. */
  readonly http2?: boolean;
}

/** The options with their defaults, and values derived from them. All timeouts of an exchange are here. */
export interface HttpProtocolSettings {
  /** Sent with every request, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly maxHeaderBytes: number;
  readonly connectTimeoutMs: number;
  /** Timeout for each address of a host except the last, ms. */
  readonly attemptTimeoutMs: number;
  readonly headTimeoutMs: number;
  readonly stallTimeoutMs: number;
  readonly allowAddresses: readonly string[];
  readonly maxSockets: number;
  readonly maxIdleSockets: number;
  /**
   * Idle connections are closed after this time, ms. It is longer than the usual crawl delays of 5 to 10 s, so that the
   * next request finds one.
   */
  readonly idleTimeoutMs: number;
  readonly tls: TlsFiles;
  readonly proxy: ProxyServer | undefined;
  /** {@link forwardingFields} of the proxy; `null` without a proxy. */
  readonly forwarding: Readonly<Record<string, string>> | null;
}

const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

export function protocolSettings(options: HttpProtocolOptions): HttpProtocolSettings {
  const connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
  return {
    headers: {
      'user-agent': options.userAgent,
      accept: ACCEPT,
      'accept-encoding': ACCEPTED_CODINGS,
      ...(options.acceptLanguage ? { 'accept-language': options.acceptLanguage } : {}),
    },
    maxHeaderBytes: options.maxHeaderBytes ?? 32 * 1024,
    connectTimeoutMs,
    // Node's default, 250 ms without a second attempt, is too short for half the globe, a lost packet, or a busy event
    // loop.
    attemptTimeoutMs: Math.ceil(connectTimeoutMs / 4),
    headTimeoutMs: options.headTimeoutMs ?? 20_000,
    stallTimeoutMs: options.stallTimeoutMs ?? 20_000,
    allowAddresses: options.allowAddresses ?? [],
    maxSockets: options.maxSockets ?? 8,
    maxIdleSockets: options.maxIdleSockets ?? 256,
    idleTimeoutMs: 15_000,
    tls: options.tls ?? {},
    proxy: options.proxy,
    forwarding: options.proxy === undefined ? null : forwardingFields(options.proxy),
  };
}

/** A URL without credentials and fragment, neither of which is sent. Throws `CrawlError('url-invalid')`. */
export function bareUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new CrawlError('url-invalid', `"${text}" is not an absolute URL`);
  }
  if (url.username !== '') url.username = '';
  if (url.password !== '') url.password = '';
  if (url.href.includes('#')) url.hash = '';
  return url;
}

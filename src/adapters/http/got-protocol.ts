import { type Got, got } from 'got';
import { CrawlError } from '../../domain/errors.ts';
import { isUrl } from '../../domain/url/is-url.ts';
import type { FetchProtocol } from '../../ports/fetch-protocol.ts';
import { type ConnectionPool, createConnectionPools } from './connection-pools.ts';
import { GotExchange } from './got-exchange.ts';

export interface GotProtocolOptions {
  readonly userAgent: string;
  /** Accept-Language to be sent; none by default. */
  readonly acceptLanguage?: string;
  /** Longest header section of an answer, bytes. Default 32 KiB. */
  readonly maxHeaderBytes?: number;
  /** Longest wait for name resolution, connection and TLS handshake, each, ms. Default 10 s. */
  readonly connectTimeoutMs?: number;
  /** Longest wait for the head of the answer once the request has been sent, ms. Default 20 s. */
  readonly headTimeoutMs?: number;
  /** Longest pause between two pieces of a body, ms. Default 20 s. */
  readonly stallTimeoutMs?: number;
  /** What the address guard lets through besides public hosts: host names, `host:port`, IP addresses, CIDR ranges. */
  readonly allowAddresses?: readonly string[];
  /** Connections to one host and port. Default 8: how many are used is up to the lanes. */
  readonly maxSockets?: number;
  /** Idle connections over all hosts. Default 256. */
  readonly maxIdleSockets?: number;
}

const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
/** Idle connections outlive the usual crawl delays of 5 to 10 s, so that the next page finds one. */
const IDLE_TIMEOUT_MS = 15_000;

/**
 * The `http:` and `https:` protocol on got. Every time limit is a real one (timers of the machine, not of the Clock port):
 * sockets do not live in simulated time.
 *
 * Throws `CrawlError('config-invalid')` for an entry of `allowAddresses` that cannot be read.
 */
export function createGotProtocol(options: GotProtocolOptions): FetchProtocol {
  const pools = createConnectionPools({
    allowAddresses: options.allowAddresses ?? [],
    maxSockets: options.maxSockets ?? 8,
    maxIdleSockets: options.maxIdleSockets ?? 256,
    idleTimeoutMs: IDLE_TIMEOUT_MS,
  });
  const guarded = clientFor(options, pools.guarded);
  const named = clientFor(options, pools.named);
  const stallTimeoutMs = options.stallTimeoutMs ?? 20_000;
  return {
    schemes: ['http', 'https'],
    async exchange(request) {
      if (!isUrl(request.url)) throw new CrawlError('url-invalid', `"${request.url}" is not an absolute URL`);
      const url = new URL(request.url);
      url.username = '';
      url.password = '';
      url.hash = '';
      const refusal = pools.refusal(url);
      if (refusal !== null) throw new CrawlError('address-blocked', refusal);
      return new GotExchange(pools.isNamed(url) ? named : guarded, url, request, stallTimeoutMs).run();
    },
    async close() {
      pools.closeIdle();
    },
  };
}

/** Everything that stays the same is set once: got copies its defaults faster than it merges options. */
function clientFor(options: GotProtocolOptions, pool: ConnectionPool): Got {
  const connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
  return got.extend({
    headers: {
      'user-agent': options.userAgent,
      accept: ACCEPT,
      'accept-encoding': 'gzip, deflate, br',
      ...(options.acceptLanguage ? { 'accept-language': options.acceptLanguage } : {}),
    },
    agent: pool.agent,
    dnsLookup: pool.dnsLookup,
    maxHeaderSize: options.maxHeaderBytes ?? 32 * 1024,
    timeout: {
      lookup: connectTimeoutMs,
      connect: connectTimeoutMs,
      secureConnect: connectTimeoutMs,
      response: options.headTimeoutMs ?? 20_000,
    },
    followRedirect: false,
    retry: { limit: 0 },
    throwHttpErrors: false,
    decompress: false,
    strictContentLength: false,
    http2: false,
  });
}

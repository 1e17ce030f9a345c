import { CrawlError } from '../../domain/errors.ts';
import type { FetchProtocol } from '../../ports/fetch-protocol.ts';
import { createConnectionPools } from './connection-pools.ts';
import { createGotClient } from './got-client.ts';
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
  const clientOptions = {
    headers: {
      'user-agent': options.userAgent,
      accept: ACCEPT,
      'accept-encoding': 'gzip, deflate, br',
      ...(options.acceptLanguage ? { 'accept-language': options.acceptLanguage } : {}),
    },
    maxHeaderBytes: options.maxHeaderBytes ?? 32 * 1024,
    connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
    headTimeoutMs: options.headTimeoutMs ?? 20_000,
  };
  const guarded = createGotClient(clientOptions, pools.guarded);
  const named = createGotClient(clientOptions, pools.named);
  const stallTimeoutMs = options.stallTimeoutMs ?? 20_000;
  return {
    schemes: ['http', 'https'],
    async exchange(request) {
      const url = bareUrl(request.url);
      const refusal = pools.refusal(url);
      if (refusal !== null) throw new CrawlError('address-blocked', refusal);
      return new GotExchange(pools.isNamed(url) ? named : guarded, url, request, stallTimeoutMs).run();
    },
    async close() {
      pools.closeIdle();
    },
  };
}

/** Without credentials and fragment, neither of which is sent. */
function bareUrl(text: string): URL {
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

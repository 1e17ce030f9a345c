import type { RequestOptions as HttpsRequestOptions } from 'node:https';
import { got, Options, type Request } from 'got';
import type { ConnectionPool } from '../guard/connection-pools.ts';

export interface GotClientOptions {
  /** Sent with every request, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Longest header section of an answer, bytes. */
  readonly maxHeaderBytes: number;
  /** Longest wait for name resolution, connection and TLS handshake, each, ms. */
  readonly connectTimeoutMs: number;
  /** Longest wait for the head of the answer once the request has been sent, ms. */
  readonly headTimeoutMs: number;
}

/**
 * Sends a request and answers got's stream of it, which got fills from the next turn on. `headers` by lower-case name.
 */
export type GotClient = (url: URL, method: 'GET' | 'HEAD', headers: Readonly<Record<string, string>>) => Request;

/**
 * Requests through got at the least price. got copies prepared options in a third of the time that it takes to merge
 * given ones, so there is one set for each method, of which a request changes URL and headers: got copies them before
 * it returns.
 */
export function createGotClient(options: GotClientOptions, pool: ConnectionPool): GotClient {
  const { connectTimeoutMs } = options;
  const client = got.extend({
    isStream: true,
    agent: pool.agent,
    dnsLookup: pool.dnsLookup,
    maxHeaderSize: options.maxHeaderBytes,
    timeout: {
      lookup: connectTimeoutMs,
      connect: connectTimeoutMs,
      secureConnect: connectTimeoutMs,
      response: options.headTimeoutMs,
    },
    followRedirect: false,
    retry: { limit: 0 },
    throwHttpErrors: false,
    decompress: false,
    strictContentLength: false,
    http2: false,
    handlers: [
      (request, next) => {
        Object.defineProperty(request, 'createNativeRequestOptions', { value: nativeRequestOptions });
        return next(request);
      },
    ],
  });
  const prepared = (method: 'GET' | 'HEAD'): Options => new Options(undefined, { method }, client.defaults.options);
  const templates = { GET: prepared('GET'), HEAD: prepared('HEAD') };
  return (url, method, headers) => {
    const template = templates[method];
    template.url = url;
    template.headers = { ...options.headers, ...headers };
    return client(undefined, undefined, template) as Request;
  };
}

/**
 * What `node:http` is to know of a request, in place of got's own list: that one has thirty fields, nearly all of them
 * undefined, which Node copies three times on the way to the socket. It took more time than all else that is done for a
 * request.
 */
function nativeRequestOptions(this: Options): HttpsRequestOptions {
  const { agent, url } = this;
  const isSecure = url instanceof URL && url.protocol === 'https:';
  return {
    method: this.method,
    headers: this.headers as Record<string, string>,
    agent: (isSecure ? agent.https : agent.http) || undefined,
    lookup: this.dnsLookup as NonNullable<HttpsRequestOptions['lookup']>,
    maxHeaderSize: this.maxHeaderSize,
  };
}

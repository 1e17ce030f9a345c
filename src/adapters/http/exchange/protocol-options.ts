/** What both transports for `http:` and `https:` are told. */
export interface HttpProtocolOptions {
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

/** The options with their defaults, and what follows from them. */
export interface HttpProtocolSettings {
  /** Sent with every request, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly maxHeaderBytes: number;
  readonly connectTimeoutMs: number;
  /** Of a host with several addresses, each but the last is tried for no longer, ms. */
  readonly attemptTimeoutMs: number;
  readonly headTimeoutMs: number;
  readonly stallTimeoutMs: number;
  readonly allowAddresses: readonly string[];
  readonly maxSockets: number;
  readonly maxIdleSockets: number;
  /**
   * An idle connection is closed after this time, ms; they outlive the usual crawl delays of 5 to 10 s, so that the
   * next page finds one.
   */
  readonly idleTimeoutMs: number;
}

const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

export function protocolSettings(options: HttpProtocolOptions): HttpProtocolSettings {
  const connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
  return {
    headers: {
      'user-agent': options.userAgent,
      accept: ACCEPT,
      'accept-encoding': 'gzip, deflate, br',
      ...(options.acceptLanguage ? { 'accept-language': options.acceptLanguage } : {}),
    },
    maxHeaderBytes: options.maxHeaderBytes ?? 32 * 1024,
    connectTimeoutMs,
    // Node gives an address up after 250 ms and does not come back to it: too soon for half the globe, a lost packet,
    // or a busy event loop.
    attemptTimeoutMs: Math.ceil(connectTimeoutMs / 4),
    headTimeoutMs: options.headTimeoutMs ?? 20_000,
    stallTimeoutMs: options.stallTimeoutMs ?? 20_000,
    allowAddresses: options.allowAddresses ?? [],
    maxSockets: options.maxSockets ?? 8,
    maxIdleSockets: options.maxIdleSockets ?? 256,
    idleTimeoutMs: 15_000,
  };
}

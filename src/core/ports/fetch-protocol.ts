/**
 * One exchange with a server: no retries, no redirects followed, no cookies kept. Politeness is up to the caller.
 * Rejects with a `CrawlError` whose code says how to go on: `dns-failed`, `connect-failed`, `connect-timeout`,
 * `tls-failed`, `fetch-timeout`, `fetch-aborted`, `protocol-error`, `headers-too-large`, `content-undecodable`,
 * `address-blocked`; or `system-limit`: this machine had no descriptor until the deadline, and no host has seen the
 * request. The address guard checks every address after resolution, however the URL spells it.
 */
export interface FetchProtocol {
  /** URL schemes, lower case, without the colon: `['http', 'https']`. */
  readonly schemes: readonly string[];
  /** Called for each request: pages, robots.txt, sitemaps, probes. The turn of the host has come by then. */
  exchange(request: ExchangeRequest): Promise<Exchange>;
  /** Called once, at the end: closes idle connections. */
  close(): Promise<void>;
}

export interface ExchangeRequest {
  readonly url: string;
  readonly method: 'GET' | 'HEAD';
  /** Request headers beyond those that the protocol sets itself (User-Agent, Accept, Accept-Encoding). */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Called once with the head of the response; `drop` ends the exchange without transferring the body.
   * Default: read 2xx bodies, drop all others.
   */
  readonly onHead?: (head: ResponseHead) => 'read' | 'drop';
  /** Limit of the decoded body, bytes; the rest is cut off and `truncated` is set. */
  readonly maxBodyBytes: number;
  /** Deadline for the whole exchange, ms. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /**
   * Called once the connection stands, just before the request goes out over it. Where the signal is aborted there,
   * nothing is sent. A request that is sent again, over another connection, calls it again.
   */
  readonly onSend?: () => void;
}

export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  /** `1.0`, `1.1` or `2`. */
  readonly httpVersion: string;
  /**
   * By name in lower case. Repeated fields are joined by `, `; those of `X-Robots-Tag`, where the name of an agent
   * applies to its own line, by line ends.
   */
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  readonly remoteAddress: string | null;
  /** What the operator has set for this URL was withheld, since secrets are not sent over http; absent otherwise. */
  readonly withheldSecrets?: true;
}

export interface Exchange {
  readonly head: ResponseHead;
  /** Body as transferred, content codings kept; `null` when dropped, or absent by definition (HEAD, 304). */
  readonly wireBody: Uint8Array | null;
  /** Body after decoding (gzip, deflate, br, zstd; at most two codings); the same object as `wireBody` without any. */
  readonly body: Uint8Array | null;
  /** The body was longer than `maxBodyBytes`, or ended before its declared or coded length. */
  readonly truncated: boolean;
  /** The body ended before its declared or coded length; absent otherwise. `truncated` is then set as well. */
  readonly brokenOff?: true;
  /**
   * Body bytes received over the wire until the exchange ended, those of a dropped body included. Not counted is what
   * the system had received and the program had not read yet when it closed the connection.
   */
  readonly bodyBytes: number;
  /** Body and head bytes received (TLS and TCP overhead not counted). */
  readonly receivedBytes: number;
  readonly ms: number;
}

/**
 * One exchange with a server: no retries, no redirects followed, no cookies kept. Politeness is the caller's business.
 * Rejects with a `CrawlError` whose code says what to do next: `dns-failed`, `connect-failed`, `tls-failed`,
 * `fetch-timeout`, `fetch-aborted`, `protocol-error`, `headers-too-large`, `content-undecodable`, `address-blocked`.
 * Every address is judged by the guard after resolution, whatever its spelling in the URL.
 */
export interface FetchProtocol {
  /** Without the colon, lower case: `['http', 'https']`. */
  readonly schemes: readonly string[];
  exchange(request: ExchangeRequest): Promise<Exchange>;
  /** Closes idle connections. */
  close(): Promise<void>;
}

export interface ExchangeRequest {
  readonly url: string;
  readonly method: 'GET' | 'HEAD';
  /** Request headers beyond those that the protocol sets itself (User-Agent, Accept, Accept-Encoding). */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Called once with the head of the answer; `drop` ends the exchange without transferring the body.
   * Default: read 2xx bodies, drop all others.
   */
  readonly onHead?: (head: ResponseHead) => 'read' | 'drop';
  /** Bytes of decoded body after which the rest is cut off and `truncated` set. */
  readonly maxBodyBytes: number;
  /** Deadline for the whole exchange, ms. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly httpVersion: string;
  /**
   * Names lower case, repeated fields joined by `, `; those of `X-Robots-Tag`, in which a name holds for its line
   * alone, by line ends.
   */
  readonly headers: Readonly<Record<string, string>>;
  readonly rawHeaders: readonly string[];
  readonly remoteAddress: string | null;
}

export interface Exchange {
  readonly head: ResponseHead;
  /** Body as transferred, content codings kept; `null` when dropped or absent by definition (HEAD, 304). */
  readonly wireBody: Uint8Array | null;
  /** Body after undoing gzip, deflate, br (at most two codings); the same object as `wireBody` when there was none. */
  readonly body: Uint8Array | null;
  /** The body was longer than `maxBodyBytes`, or ended before its declared length or that of its coding. */
  readonly truncated: boolean;
  /**
   * The body ended before its declared length or that of its coding, whoever is to blame; absent otherwise. Then
   * `truncated` is set as well.
   */
  readonly brokenOff?: true;
  /** Body bytes received over the wire. */
  readonly bodyBytes: number;
  /** Body and head bytes received (TLS and TCP overhead not counted). */
  readonly receivedBytes: number;
  readonly ms: number;
}

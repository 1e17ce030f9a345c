/** Reaction of the crawl to an error. */
export type Consequence =
  /** The URL is retried later, on a schedule of its own. */
  | 'retry-later'
  /** The URL cannot be fetched; the error is recorded and the URL waits for its next due time. */
  | 'drop-url'
  /** The whole host is paused for the rest of the round. */
  | 'pause-host'
  /** The crawl stops: going on would lose data or be useless. */
  | 'stop-crawl'
  /** The command was called wrongly; nothing was started. */
  | 'refuse';

/** The one table of stable error codes. Messages may change, codes do not. */
export const ERRORS = {
  'config-invalid': { consequence: 'refuse', text: 'The configuration has a value that is not allowed.' },
  'usage-invalid': { consequence: 'refuse', text: 'The command was called with arguments that it does not accept.' },
  'contact-missing': {
    consequence: 'refuse',
    text: 'Crawling the open web requires a contact in the User-Agent.',
  },
  'crawl-missing': { consequence: 'refuse', text: 'The state directory holds no crawl.' },
  'db-locked': { consequence: 'refuse', text: 'Another process holds the crawl db.' },
  'lease-lost': {
    consequence: 'stop-crawl',
    text: 'Another process has taken over the write lease; this one has written nothing more.',
  },
  'db-moved': { consequence: 'refuse', text: 'The crawl db of a partition lies on another server now.' },
  'redis-unreachable': {
    consequence: 'stop-crawl',
    text: 'The Redis server of the filter of seen URLs does not answer.',
  },
  'postgres-unreachable': {
    consequence: 'stop-crawl',
    text: 'The PostgreSQL server that holds the crawl does not answer.',
  },
  'object-store-unreachable': {
    consequence: 'stop-crawl',
    text: 'The object store does not answer, or fails again and again.',
  },
  'object-store-refused': {
    consequence: 'stop-crawl',
    text: 'The object store refuses a request: its credentials, bucket, region or permissions.',
  },
  'holder-gone': { consequence: 'refuse', text: 'The process that holds the crawl db ended before it answered.' },
  'run-missing': { consequence: 'refuse', text: 'No crawl runs that could be steered.' },
  'db-readonly': {
    consequence: 'refuse',
    text: 'The crawl db cannot be written by this user, or on this file system.',
  },
  'db-version': { consequence: 'refuse', text: 'What is stored has a format that this version does not know.' },
  'db-corrupt': { consequence: 'stop-crawl', text: 'A stored record cannot be read.' },
  'disk-full': { consequence: 'stop-crawl', text: 'The disk is full.' },
  'system-limit': {
    consequence: 'stop-crawl',
    text: 'The system gives this process no more file descriptors, threads or memory.',
  },
  'plugin-broken': { consequence: 'refuse', text: 'A plugin could not be loaded or set up.' },
  'package-missing': { consequence: 'refuse', text: 'An optional package is needed that is not installed.' },
  'install-failed': { consequence: 'refuse', text: 'An optional package could not be installed.' },
  'plugin-failed': {
    consequence: 'drop-url',
    text: 'A plugin threw an error, returned an invalid value, or took too long.',
  },
  'segment-missing': { consequence: 'refuse', text: 'There is no segment in the state that the step expects.' },
  'segment-corrupt': { consequence: 'stop-crawl', text: 'A segment cannot be read.' },
  'url-invalid': { consequence: 'drop-url', text: 'The URL cannot be made canonical.' },
  'dns-failed': { consequence: 'retry-later', text: 'The host name could not be resolved.' },
  'connect-failed': { consequence: 'retry-later', text: 'No connection to the host could be made.' },
  'connect-timeout': { consequence: 'retry-later', text: 'No connection to the host was made in the time allowed.' },
  'tls-failed': { consequence: 'retry-later', text: 'The TLS handshake failed.' },
  'proxy-failed': {
    consequence: 'retry-later',
    text: 'The proxy could not be reached, or refused the request; the host was not contacted.',
  },
  'fetch-timeout': { consequence: 'retry-later', text: 'The exchange took longer than allowed.' },
  'fetch-aborted': { consequence: 'retry-later', text: 'The exchange was aborted.' },
  'protocol-error': { consequence: 'retry-later', text: 'The response was not valid HTTP.' },
  'headers-too-large': { consequence: 'retry-later', text: 'The header section was larger than allowed.' },
  'content-undecodable': {
    consequence: 'retry-later',
    text: 'The content coding (gzip, deflate, br; zstd from Node 22.15 on) could not be decoded.',
  },
  'body-incomplete': {
    consequence: 'retry-later',
    text: 'Only a part of the body came: the connection or the coding ended too soon, or the status was 206.',
  },
  'http-client-error': { consequence: 'retry-later', text: 'The server refused the request (4xx).' },
  'http-server-error': { consequence: 'retry-later', text: 'The server failed (5xx).' },
  'http-throttled': {
    consequence: 'pause-host',
    text: 'The server asks for fewer requests (429 or 503 with Retry-After).',
  },
  'host-failing': { consequence: 'pause-host', text: 'The host failed too many times in a row in this round.' },
  'missing-unasked': {
    consequence: 'drop-url',
    text: 'It is probably not there: other such URLs of its host were requested lately, and none of them was.',
  },
  'address-blocked': { consequence: 'drop-url', text: 'The address is private or reserved and not on the allow list.' },
  'robots-denied': { consequence: 'drop-url', text: 'robots.txt does not allow the URL.' },
  'robots-unreachable': {
    consequence: 'pause-host',
    text: 'robots.txt could not be fetched, which forbids the whole origin for now (RFC 9309).',
  },
  'crawl-delay-too-long': {
    consequence: 'drop-url',
    text: 'The Crawl-delay of robots.txt is longer than the configured limit.',
  },
  'scheme-unsupported': { consequence: 'drop-url', text: 'No protocol plugin serves the scheme of the URL.' },
  'redirect-invalid': { consequence: 'drop-url', text: 'The redirect has no usable target.' },
  'redirect-limit': {
    consequence: 'drop-url',
    text: 'It is at the end of as many redirects in a row as are followed; its own target is not added.',
  },
  'soft-404': {
    consequence: 'drop-url',
    text: 'The page is like the answer of its host for URLs that do not exist: it counts as gone.',
  },
  'login-required': {
    consequence: 'retry-later',
    text: 'The server answered with the login page in place of the page.',
  },
  'render-failed': {
    consequence: 'retry-later',
    text: 'The browser could not render the page: it took too long, needed too much, or ended.',
  },
  'parse-failed': { consequence: 'drop-url', text: 'The page could not be parsed.' },
  'parse-timeout': { consequence: 'drop-url', text: 'Parsing took longer than allowed.' },
  'parse-unsupported': { consequence: 'drop-url', text: 'No parser plugin serves the MIME type.' },
  'failure-limit': {
    consequence: 'stop-crawl',
    text: 'More fetches in a row failed than allowed; the network may be down.',
  },
  internal: { consequence: 'stop-crawl', text: 'An internal error of incrawl.' },
} as const satisfies Record<string, { consequence: Consequence; text: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** Faults before a request could be sent: the host was not reached. */
export type UnreachedCode = 'dns-failed' | 'connect-failed' | 'connect-timeout' | 'tls-failed' | 'proxy-failed';

const UNREACHED: ReadonlySet<string> = new Set<UnreachedCode>([
  'dns-failed',
  'connect-failed',
  'connect-timeout',
  'tls-failed',
  'proxy-failed',
]);

export const isUnreached = (code: string): code is UnreachedCode => UNREACHED.has(code);

/** An error with a stable code; `cause` keeps the original error. */
export class CrawlError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'CrawlError';
    this.code = code;
  }

  get consequence(): Consequence {
    return ERRORS[this.code].consequence;
  }
}

/**
 * The error for stored data of a version above those that this program knows.
 * @param what ends where the version follows: `the crawl db /x has format`
 */
export function unknownVersion(what: string, found: number, known: number): CrawlError {
  return new CrawlError(
    'db-version',
    `${what} ${found}; this incrawl reads up to ${known}, and has changed nothing: use the version that wrote ` +
      `${found}, or a newer one`,
  );
}

/** The error for a batch whose token is not the newest. */
export function tokenIsOld(): CrawlError {
  return new CrawlError(
    'lease-lost',
    'another process has taken the write lease of the crawl db, since this one sent no heartbeat for too long; ' +
      'nothing was written',
  );
}

/** The error for a batch without a token. */
export function readingOnly(): CrawlError {
  return new CrawlError('db-locked', 'the crawl db was opened for reading only; writing needs the write lease');
}

/** The error of a server whose rows of a name lie on another one. */
export class MovedError extends CrawlError {
  /** The name. */
  readonly of: string;
  /** Server that has them, as `ServerMap` names it. */
  readonly to: string;
  /** Token under which they arrived there. */
  readonly token: string;

  constructor(name: string, { to, token }: { readonly to: string; readonly token: string }) {
    super('db-moved', `the crawl db "${name}" lies on another server now: ${to === '' ? 'that of cluster.store' : to}`);
    this.of = name;
    this.to = to;
    this.token = token;
  }
}

import { CrawlError } from '../../core/domain/errors.ts';
import type { Exchange, ExchangeRequest, FetchProtocol, ResponseHead } from '../../core/ports/fetch-protocol.ts';
import type { HostCookies } from './cookie-jar.ts';

/** Settings for the requests to some URLs. */
export interface HostAccess {
  /** Sent with each request, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The same for secrets, which are sent over https, and over http only if the operator says so. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly sendsOverHttp: boolean;
  /** Separate connections; `null`: the common ones. */
  readonly protocol: FetchProtocol | null;
  /** Sent under the same conditions as secrets, and stored likewise; `null`: no cookies are kept. */
  readonly cookies: HostCookies | null;
  /**
   * Whether there is a proxy in between: then a response may be the proxy's own, and the address of the peer is the
   * proxy's.
   */
  readonly isProxied?: boolean;
}

export interface HostAccesses {
  /** `undefined`: nothing was set for this URL. Rejects with `config-invalid` if a secret cannot be read. */
  of(url: string): Promise<HostAccess> | undefined;
  /** Closes the separate connections. */
  close(): Promise<void>;
}

/**
 * A protocol that adds to each request what was set for its URL, and only for that URL: it does not follow redirects,
 * and the target of a redirect is a request like any other.
 */
export function createHostProtocol(inner: FetchProtocol, accesses: HostAccesses): FetchProtocol {
  return {
    schemes: inner.schemes,
    exchange(request) {
      const access = accesses.of(request.url);
      return access === undefined ? inner.exchange(request) : access.then((each) => exchangeBy(each, inner, request));
    },
    async close() {
      await inner.close();
      await accesses.close();
    },
  };
}

async function exchangeBy(access: HostAccess, inner: FetchProtocol, request: ExchangeRequest): Promise<Exchange> {
  const mayTell = request.url.startsWith('https:') || access.sendsOverHttp;
  const cookies = mayTell ? access.cookies : null;
  const cookie = cookies?.header(request.url) ?? '';
  const headers = {
    ...request.headers,
    ...access.headers,
    ...(mayTell ? access.secrets : {}),
    ...(cookie !== '' && { cookie }),
  };
  const answered = await (access.protocol ?? inner).exchange({ ...request, headers });
  const reached = access.isProxied === true ? fromProxy(answered) : answered;
  const exchange = !mayTell && hasSecrets(access) ? withheld(reached) : reached;
  if (access.cookies === null) return exchange;
  const set = setCookiesOf(exchange.head.rawHeaders);
  if (set.length > 0) cookies?.keep(request.url, set);
  return set.length === 0 ? exchange : { ...exchange, head: withMaskedCookies(exchange.head) };
}

const hasSecrets = ({ secrets, cookies }: HostAccess): boolean => cookies !== null || Object.keys(secrets).length > 0;

const withheld = (exchange: Exchange): Exchange => ({ ...exchange, head: { ...exchange.head, withheldSecrets: true } });

/** Throws if the response is the proxy's own. */
function fromProxy(exchange: Exchange): Exchange {
  const { status } = exchange.head;
  if (status === 407) throw new CrawlError('proxy-failed', 'the proxy asks for other credentials (status 407)');
  if (status >= 500 && isOfProxy(exchange.head)) {
    throw new CrawlError('connect-failed', `the proxy could not reach the host (status ${status})`);
  }
  return { ...exchange, head: { ...exchange.head, remoteAddress: null } };
}

/** According to RFC 9209, or to what common proxies write. */
function isOfProxy({ headers }: ResponseHead): boolean {
  const { 'proxy-status': report = '', 'x-squid-error': squid, server = '' } = headers;
  return /;\s*error=/.test(report) || squid !== undefined || /^(?:tinyproxy|squid|privoxy)\b/i.test(server);
}

const isSetCookie = (name: string | undefined): boolean => name?.toLowerCase() === 'set-cookie';

function setCookiesOf(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 1 && isSetCookie(rawHeaders[i - 1]));
}

/** A session is a secret, and the head is written to the WARC file. */
function withMaskedCookies(head: ResponseHead): ResponseHead {
  const masked = (line: string): string => line.replace(/^([^=;]*=)?[^;]*/, '$1***');
  const rawHeaders = head.rawHeaders.map((text, i) =>
    i % 2 === 1 && isSetCookie(head.rawHeaders[i - 1]) ? masked(text) : text,
  );
  return { ...head, rawHeaders, headers: { ...head.headers, 'set-cookie': setCookiesOf(rawHeaders).join(', ') } };
}

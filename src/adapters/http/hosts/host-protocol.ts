// adapters/http/hosts/: what the operator set for some hosts: headers, credentials, cookies, connections of their own.
import type { ExchangeRequest, FetchProtocol } from '../../../ports/fetch-protocol.ts';

/** What holds for the requests to some URLs. */
export interface HostAccess {
  /** Sent with each request, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The same for those that are secrets: over https, and over http only where the operator says so. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly sendsOverHttp: boolean;
  /** Connections of their own; `null`: those of all hosts. */
  readonly protocol: FetchProtocol | null;
}

export interface HostAccesses {
  /** `undefined`: nothing was set for this URL. Rejects with `config-invalid` where a secret cannot be read. */
  of(url: string): Promise<HostAccess> | undefined;
  /** Closes the connections of their own. */
  close(): Promise<void>;
}

/**
 * A protocol that sends with each request what was set for its URL, and for that URL alone: it follows no redirect, and
 * the target of one is a request like any other.
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

function exchangeBy(access: HostAccess, inner: FetchProtocol, request: ExchangeRequest) {
  const mayTell = request.url.startsWith('https:') || access.sendsOverHttp;
  const headers = { ...request.headers, ...access.headers, ...(mayTell ? access.secrets : {}) };
  return (access.protocol ?? inner).exchange({ ...request, headers });
}

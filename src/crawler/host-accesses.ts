import { type ProxyServer, proxyName, resolvesNames } from '../adapters/http/guard/proxy-server.ts';
import type { HostCookies } from '../adapters/http/hosts/cookie-jar.ts';
import { createHostProtocol, type HostAccess, type HostAccesses } from '../adapters/http/hosts/host-protocol.ts';
import type { HostLanesOptions } from '../adapters/http/lanes/host-lanes.ts';
import { hostEntriesBy } from '../config/hosts/host-entries.ts';
import type { Config } from '../config/schema.ts';
import type { FetchProtocol } from '../ports/fetch-protocol.ts';
import { type HostRequestOptions, type HostRequests, hostRequests, plainRequests } from './host-requests.ts';
import { generalProxy, type ProxyFor } from './proxies.ts';

export interface HostAccessOptions extends HostRequestOptions {
  readonly config: Config;
  /** Whether a host has a private address or is allowed by name. */
  readonly isOwnHost: (host: string) => boolean;
}

export interface ProtocolsByHost {
  /** By scheme, without the colon. */
  readonly protocols: ReadonlyMap<string, FetchProtocol>;
  /** Reads all secrets. To be called before the first request; throws `config-invalid` where one cannot be read. */
  prepare(): void;
}

/**
 * The protocols, with what `hosts:` and `http.proxy` set for requests to some URLs; the very same ones where they set
 * nothing. Throws `config-invalid` for a proxy of the environment that is none.
 */
export function protocolsByHost(
  protocols: ReadonlyMap<string, FetchProtocol>,
  options: HostAccessOptions,
): ProtocolsByHost {
  const { config, env = {}, isOwnHost } = options;
  const proxyFor = generalProxy(config, env, isOwnHost);
  if (config.hosts.length === 0 && proxyFor === null) return { protocols, prepare: () => {} };
  const accesses = new OpenAccesses(options, proxyFor);
  const wrapped = new Map<FetchProtocol, FetchProtocol>();
  for (const scheme of ['http', 'https']) {
    const inner = protocols.get(scheme);
    if (inner !== undefined && !wrapped.has(inner)) wrapped.set(inner, createHostProtocol(inner, accesses));
  }
  return {
    protocols: new Map([...protocols].map(([scheme, inner]) => [scheme, wrapped.get(inner) ?? inner])),
    prepare: () => accesses.prepare(),
  };
}

/** Place in the list for URLs that no entry is for. */
const NO_ENTRY = -1;

/** Made at the first request that needs them; kept by entry and proxy. */
class OpenAccesses implements HostAccesses {
  readonly #options: HostAccessOptions;
  readonly #proxyFor: ProxyFor | null;
  readonly #entries: ReturnType<typeof hostEntriesBy<Config['hosts'][number]>>;
  readonly #requests = new Map<number, HostRequests>();
  readonly #cookies = new Map<number, Promise<HostCookies | null>>();
  readonly #open = new Map<string, Promise<HostAccess>>();
  readonly #announced = new Set<string>();

  constructor(options: HostAccessOptions, proxyFor: ProxyFor | null) {
    this.#options = options;
    this.#proxyFor = proxyFor;
    this.#entries = hostEntriesBy(options.config.hosts);
  }

  prepare(): void {
    for (const index of this.#options.config.hosts.keys()) this.#requestsOf(index);
  }

  of(url: string): Promise<HostAccess> | undefined {
    const index = this.#entries.forUrl(url)?.index ?? NO_ENTRY;
    const requests = this.#requestsOf(index);
    const proxy = requests.proxy === undefined ? (this.#proxyFor?.(url) ?? null) : requests.proxy;
    if (index === NO_ENTRY && proxy === null) return undefined;
    const key = `${index} ${proxy === null ? '' : proxyName(proxy)}`;
    let access = this.#open.get(key);
    if (access === undefined) {
      access = this.#opened(index, requests, proxy);
      this.#open.set(key, access);
    }
    return access;
  }

  async close(): Promise<void> {
    const accesses = [...this.#open.values()];
    this.#open.clear();
    for (const opening of accesses) {
      const access = await opening.catch(() => null);
      access?.cookies?.flush();
      await access?.protocol?.close();
    }
  }

  #requestsOf(index: number): HostRequests {
    let found = this.#requests.get(index);
    if (found === undefined) {
      const entry = this.#options.config.hosts[index];
      found =
        entry === undefined ? plainRequests(this.#options) : hostRequests(entry, `hosts[${index}]`, this.#options);
      this.#requests.set(index, found);
    }
    return found;
  }

  async #opened(index: number, requests: HostRequests, proxy: ProxyServer | null): Promise<HostAccess> {
    if (proxy !== null) this.#announce(proxy);
    const { headers, secrets, sendsOverHttp } = requests;
    const protocol = await requests.openProtocol(proxy);
    const cookies = this.#cookies.get(index) ?? requests.openCookies();
    this.#cookies.set(index, cookies);
    return { headers, secrets, sendsOverHttp, protocol, cookies: await cookies, isProxied: proxy !== null };
  }

  /** Says once what the guard can no longer see. */
  #announce(proxy: ProxyServer): void {
    const name = proxyName(proxy);
    if (this.#announced.has(name) || !resolvesNames(proxy)) return;
    this.#announced.add(name);
    this.#options.log.info(
      'the proxy resolves host names, so private addresses behind names are not refused; socks5:// resolves them here',
      { proxy: name },
    );
  }
}

/** Delay and connections that `hosts:` sets; `undefined` where it sets neither, which costs a host nothing. */
export function laneSettings({ hosts }: Config): HostLanesOptions['ownSettings'] {
  if (hosts.every(({ delayMs, connections }) => delayMs === undefined && connections === undefined)) return undefined;
  const entries = hostEntriesBy(hosts);
  return (host) => entries.forHost(host)?.entry;
}

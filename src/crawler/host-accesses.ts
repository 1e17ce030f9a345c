import { createHostProtocol, type HostAccess, type HostAccesses } from '../adapters/http/hosts/host-protocol.ts';
import type { HostLanesOptions } from '../adapters/http/lanes/host-lanes.ts';
import { hostEntriesBy } from '../config/hosts/host-entries.ts';
import type { Config } from '../config/schema.ts';
import type { FetchProtocol } from '../ports/fetch-protocol.ts';
import { type HostRequestOptions, type HostRequests, hostRequests } from './host-requests.ts';

export interface HostAccessOptions extends HostRequestOptions {
  readonly config: Config;
}

export interface ProtocolsByHost {
  /** By scheme, without the colon. */
  readonly protocols: ReadonlyMap<string, FetchProtocol>;
  /** Reads all secrets. To be called before the first request; throws `config-invalid` where one cannot be read. */
  prepare(): void;
}

/** The protocols, with what `hosts:` sets for requests to some URLs; the very same ones where it sets nothing. */
export function protocolsByHost(
  protocols: ReadonlyMap<string, FetchProtocol>,
  options: HostAccessOptions,
): ProtocolsByHost {
  const { hosts } = options.config;
  if (hosts.length === 0) return { protocols, prepare: () => {} };
  const entries = hostEntriesBy(hosts);
  const requests = new Map<number, HostRequests>();
  const requestsOf = (index: number): HostRequests => {
    let found = requests.get(index);
    if (found === undefined) {
      found = hostRequests(hosts[index] as Config['hosts'][number], `hosts[${index}]`, options);
      requests.set(index, found);
    }
    return found;
  };
  const opened = new Map<number, Promise<HostAccess>>();
  const open = async (index: number): Promise<HostAccess> => {
    const { openProtocol, openCookies, ...rest } = requestsOf(index);
    return { ...rest, protocol: await openProtocol(), cookies: await openCookies() };
  };
  const accesses: HostAccesses = {
    of(url) {
      const index = entries.forUrl(url)?.index;
      if (index === undefined) return undefined;
      let access = opened.get(index);
      if (access === undefined) {
        access = open(index);
        opened.set(index, access);
      }
      return access;
    },
    async close() {
      const accesses = [...opened.values()];
      opened.clear();
      for (const opening of accesses) {
        const access = await opening.catch(() => null);
        access?.cookies?.flush();
        await access?.protocol?.close();
      }
    },
  };
  const wrapped = new Map<FetchProtocol, FetchProtocol>();
  for (const scheme of ['http', 'https']) {
    const inner = protocols.get(scheme);
    if (inner !== undefined && !wrapped.has(inner)) wrapped.set(inner, createHostProtocol(inner, accesses));
  }
  return {
    protocols: new Map([...protocols].map(([scheme, inner]) => [scheme, wrapped.get(inner) ?? inner])),
    prepare: () => {
      for (const index of hosts.keys()) requestsOf(index);
    },
  };
}

/** Delay and connections that `hosts:` sets; `undefined` where it sets neither, which costs a host nothing. */
export function laneSettings({ hosts }: Config): HostLanesOptions['ownSettings'] {
  if (hosts.every(({ delayMs, connections }) => delayMs === undefined && connections === undefined)) return undefined;
  const entries = hostEntriesBy(hosts);
  return (host) => entries.forHost(host)?.entry;
}

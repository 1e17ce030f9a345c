import { BlockList, isIP } from 'node:net';
import { CrawlError } from '../../../domain/errors.ts';
import { isUrl } from '../../../domain/url/canonical/is-url.ts';
import { canonicalAddress, isMetadataAddress } from './special-addresses.ts';

/** The operator's exceptions of the address guard. */
export interface AllowList {
  /**
   * Whether the host was named (alone, or with this port): then it may have any address but those of cloud metadata.
   */
  hasHost(hostname: string, port: number): boolean;
  /** Whether host and port were named together, which also permits a blocked port. */
  hasHostAndPort(hostname: string, port: number): boolean;
  /** Whether the address was named or lies in a range that was. */
  hasAddress(address: string): boolean;
}

const EXPECTED = 'expected a host name, host:port, an IP address or a CIDR range such as 127.0.0.0/8';

/**
 * Parses entries: `intranet.example`, `localhost:8080`, `10.1.2.3`, `[::1]:8080`, `127.0.0.0/8`, `fd00::/8`. Throws
 * `CrawlError('config-invalid')` that quotes the entry.
 */
export function createAllowList(entries: readonly string[]): AllowList {
  const hosts = new Set<string>();
  const hostsAndPorts = new Set<string>();
  const addresses = new Set<string>();
  const ranges = new BlockList();
  for (const entry of entries) {
    const text = entry.trim().toLowerCase();
    if (text.includes('/')) {
      addRange(ranges, text, entry);
      continue;
    }
    const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(isIP(text) === 6 ? `[${text}]` : text) ?? [];
    const name = hostnameOf(host);
    if (name === null || Number(port) > 65_535) throw new CrawlError('config-invalid', `"${entry}": ${EXPECTED}`);
    const address = bare(name);
    if (port !== undefined) hostsAndPorts.add(`${name}:${port}`);
    else if (isIP(address) !== 0) addresses.add(canonicalAddress(address));
    else hosts.add(name);
  }
  return {
    hasHost: (hostname, port) => hosts.has(plain(hostname)) || hostsAndPorts.has(`${plain(hostname)}:${port}`),
    hasHostAndPort: (hostname, port) => hostsAndPorts.has(`${plain(hostname)}:${port}`),
    hasAddress(address) {
      const canonical = canonicalAddress(address);
      if (addresses.has(canonical)) return true;
      return !isMetadataAddress(canonical) && ranges.check(canonical, isIP(canonical) === 6 ? 'ipv6' : 'ipv4');
    },
  };
}

function addRange(ranges: BlockList, text: string, entry: string): void {
  const [net = '', prefix = ''] = text.split('/');
  const family = isIP(bare(net));
  const bits = /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (family === 0 || !(bits <= (family === 4 ? 32 : 128))) {
    throw new CrawlError('config-invalid', `"${entry}": ${EXPECTED}`);
  }
  ranges.addSubnet(bare(net), bits, family === 6 ? 'ipv6' : 'ipv4');
}

const plain = (hostname: string): string => hostname.replace(/\.$/, '');
const bare = (host: string): string => host.replace(/^\[|\]$/g, '');

/** In the spelling of the URL parser, so that all spellings of a host are one entry. */
function hostnameOf(host: string): string | null {
  const url = isUrl(`http://${host}/`) ? new URL(`http://${host}/`) : null;
  return url === null || url.hostname === '' || url.pathname !== '/' || url.username !== ''
    ? null
    : plain(url.hostname);
}

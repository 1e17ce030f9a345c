// http/guard/: which addresses and ports may be connected to.

import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { CrawlError } from '../../core/domain/errors.ts';
import { Lru } from '../../core/domain/lru.ts';
import { isUrl } from '../../core/domain/url/canonical/canonical-url.ts';

/**
 * Ports of other protocols that a crafted URL could reach: the "bad port" list of the WHATWG Fetch standard, section
 * 2.9. A page served there can be crawled only if the operator names host and port.
 */
const BAD_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

const isBadPort = (port: number): boolean => BAD_PORTS.has(port);

/** IANA special-purpose registry, multicast and class E, and the relay anycast of 6to4. */
const BLOCKED_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/**
 * Ranges within global unicast (2000::/3) that are not public: protocol assignments with Teredo and ORCHID,
 * documentation.
 */
const BLOCKED_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
];

/**
 * Metadata services of clouds, which give credentials to any process inside: AWS (EC2, ECS, EKS), Alibaba, Oracle,
 * Azure, Google. Permitted only if the operator has named this exact address.
 */
const METADATA = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
]);

const blockedV4 = new BlockList();
for (const [net, prefix] of BLOCKED_V4) blockedV4.addSubnet(net, prefix, 'ipv4');
const blockedV6 = new BlockList();
for (const [net, prefix] of BLOCKED_V6) blockedV6.addSubnet(net, prefix, 'ipv6');

/** Whether an IP address (text, in any spelling) is public; false for other text. */
function isPublicAddress(address: string): boolean {
  if (isMetadataAddress(address)) return false;
  const family = isIP(address);
  if (family === 4) return !blockedV4.check(address, 'ipv4');
  if (family !== 6) return false;
  const inner = embeddedIPv4(address);
  if (inner !== null) return isPublicAddress(inner);
  const first = groupsOf(address)[0] ?? 0;
  return first >> 13 === 0b001 && !blockedV6.check(withoutZone(address), 'ipv6');
}

function isMetadataAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return METADATA.has(address);
  if (family !== 6) return false;
  const inner = embeddedIPv4(address);
  return METADATA.has(inner ?? canonicalIPv6(address));
}

/** The IPv4 address within an IPv6 address: mapped (RFC 4291), NAT64 (RFC 6052), 6to4 (RFC 3056). */
function embeddedIPv4(address: string): string | null {
  const groups = groupsOf(address);
  const [a, b, c, d, e, f, g, h] = groups;
  const startsWithZeros = a === 0 && b === 0 && c === 0 && d === 0 && e === 0;
  if (startsWithZeros && f === 0xffff) return dotted(g ?? 0, h ?? 0);
  if (a === 0x64 && b === 0xff9b && c === 0 && d === 0 && e === 0 && f === 0) return dotted(g ?? 0, h ?? 0);
  if (a === 0x2002) return dotted(b ?? 0, c ?? 0);
  return null;
}

/** Canonical text of a valid address: without zone; mapped IPv4 is written as IPv4. */
function canonicalAddress(address: string): string {
  if (isIP(address) !== 6) return address;
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return isMapped ? dotted(groups[6] ?? 0, groups[7] ?? 0) : canonicalIPv6(address);
}

const dotted = (high: number, low: number): string => `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;

const withoutZone = (address: string): string => address.replace(/%.*$/, '');

/** The URL parser writes IPv6 addresses in the canonical form of RFC 5952. */
const canonicalIPv6 = (address: string): string => new URL(`http://[${withoutZone(address)}]/`).hostname.slice(1, -1);

/** The eight 16-bit groups of a valid IPv6 address. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = canonicalIPv6(address).split('::');
  const numbers = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const before = numbers(head);
  if (tail === undefined) return before;
  const after = numbers(tail);
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
}

/** The operator's exceptions to the address guard. */
interface AllowList {
  /**
   * Whether the host was named (without a port, or with this port): then it may have any address except those of cloud
   * metadata.
   */
  hasHost(hostname: string, port: number): boolean;
  /** Whether host and port were named together, which also permits a blocked port. */
  hasHostAndPort(hostname: string, port: number): boolean;
  /** Whether the address, or a range that contains it, was named. */
  hasAddress(address: string): boolean;
}

const EXPECTED = 'expected a host name, host:port, an IP address or a CIDR range such as 127.0.0.0/8';

/**
 * Parses entries: `intranet.example`, `localhost:8080`, `10.1.2.3`, `[::1]:8080`, `127.0.0.0/8`, `fd00::/8`. Throws
 * `CrawlError('config-invalid')`, quoting the entry.
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

/** Keeps requests away from private, reserved and metadata addresses (server-side request forgery). */
export interface AddressGuard {
  /** Reason why this URL must not be requested, as far as that is known before its host is resolved; `null`: none. */
  refusal(url: URL): string | null;
  /** Whether the operator named the host: then its addresses are not checked, except for metadata. */
  isNamed(url: URL): boolean;
  /** `dns.lookup` that returns only permitted addresses, and fails with {@link BLOCKED} if none is left. */
  readonly lookup: LookupFunction;
  readonly lookupNamed: LookupFunction;
  /**
   * Whether a connection to this address may be used; `isNamed` as above. True for all addresses that `lookup` returns.
   */
  permits(address: string, isNamed: boolean): boolean;
  /** Whether the address is permitted although a check that allows only global unicast may refuse it. */
  isException(address: string): boolean;
}

/** `code` of the error with which a lookup refuses a host. */
export const BLOCKED = 'ERR_ADDRESS_BLOCKED';

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** The guard with the operator's exceptions, in the forms of {@link createAllowList}. */
export function createAddressGuard(
  allow: readonly string[],
  resolve: LookupFunction = systemLookup as LookupFunction,
): AddressGuard {
  const allowed = createAllowList(allow);
  const permits: AddressGuard['permits'] = (address, isNamed) =>
    isNamed ? !isMetadataAddress(address) || allowed.hasAddress(address) : isPermitted(address, allowed);
  return {
    refusal: byOrigin(allowed),
    isNamed: (url) => allowed.hasHost(url.hostname, portOf(url)),
    lookup: guarded(resolve, (address) => permits(address, false)),
    lookupNamed: guarded(resolve, (address) => permits(address, true)),
    permits,
    isException: (address) => allowed.hasAddress(address) || (address.includes(':') && isPublicAddress(address)),
  };
}

/**
 * Whether the guard refuses the URL by its text alone: scheme, port, literal address in any spelling, names that always
 * mean this machine. Text that is not an absolute URL is also refused. Other names are checked once they are resolved.
 */
export function isAddressBlocked(url: string, allow: readonly string[] = []): boolean {
  return !isUrl(url) || createAddressGuard(allow).refusal(new URL(url)) !== null;
}

/** Origins whose verdicts are kept; a crawl visits few at a time. */
const KEPT_ORIGINS = 1_000;

/** The verdict depends only on scheme, host and port, so it is computed once per origin. */
function byOrigin(allowed: AllowList): AddressGuard['refusal'] {
  const kept = new Lru<{ readonly refusal: string | null }>({ entries: KEPT_ORIGINS });
  return (url) => {
    const origin = `${url.protocol}//${url.host}`;
    let answer = kept.get(origin);
    if (answer === undefined) {
      answer = { refusal: refusalOf(url, allowed) };
      kept.set(origin, answer);
    }
    return answer.refusal;
  };
}

function refusalOf(url: URL, allowed: AllowList): string | null {
  if (!(url.protocol in PORTS)) return `scheme ${url.protocol} is not http or https`;
  const port = portOf(url);
  const { hostname } = url;
  if (isBadPort(port) && !allowed.hasHostAndPort(hostname, port)) {
    return `port ${port} belongs to another protocol (Fetch standard, "bad port")`;
  }
  const address = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const isNamed = allowed.hasHost(hostname, port);
  if (isIP(address) !== 0) {
    if (isNamed && !isMetadataAddress(address)) return null;
    return isPermitted(address, allowed) ? null : `${address} is a private or reserved address`;
  }
  // RFC 6761: these names mean the loopback interface whatever a resolver says.
  if (/(^|\.)localhost\.?$/.test(hostname) && !isNamed && !allowed.hasAddress('127.0.0.1')) {
    return `${hostname} means this machine`;
  }
  // Even if the operator allows it: got takes this name for a socket file.
  if (hostname === 'unix') return 'the host name "unix" stands for a Unix domain socket, not for a host';
  return null;
}

const portOf = (url: URL): number => (url.port === '' ? (PORTS[url.protocol] ?? 0) : Number(url.port));

const isPermitted = (address: string, allowed: AllowList): boolean =>
  allowed.hasAddress(address) || isPublicAddress(address);

function guarded(resolve: LookupFunction, isPermittedAddress: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '', 0);
      const addresses = found as unknown as LookupAddress[];
      const permitted = addresses.filter(({ address }) => isPermittedAddress(address));
      const first = permitted[0];
      if (first === undefined) return callback(blocked(hostname, addresses), '', 0);
      if (options.all) callback(null, permitted);
      else callback(null, first.address, first.family);
    });
  };
}

function blocked(hostname: string, addresses: readonly LookupAddress[]): NodeJS.ErrnoException {
  const text = addresses.map(({ address }) => address).join(', ');
  return Object.assign(new Error(`${hostname} has only private or reserved addresses: ${text}`), { code: BLOCKED });
}

// adapters/http/guard/: which addresses and ports may be connected to.
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Lru } from '../../../domain/lru.ts';
import { isUrl } from '../../../domain/url/canonical/is-url.ts';
import { type AllowList, createAllowList } from './allow-list.ts';
import { isBadPort } from './bad-ports.ts';
import { isMetadataAddress, isPublicAddress } from './special-addresses.ts';

/** Keeps requests away from private, reserved and metadata addresses (server-side request forgery). */
export interface AddressGuard {
  /** Reason why this URL must not be requested, as far as known before its host is resolved; else `null`. */
  refusal(url: URL): string | null;
  /** Whether the operator named the host: then its addresses are not checked (metadata excepted). */
  isNamed(url: URL): boolean;
  /** `dns.lookup` that returns the permitted addresses only, and fails with {@link BLOCKED} when none is left. */
  readonly lookup: LookupFunction;
  readonly lookupNamed: LookupFunction;
  /**
   * Whether a connection to this address may be used; `isNamed` as above. True for all addresses that `lookup` returns.
   */
  permits(address: string, isNamed: boolean): boolean;
  /** Whether the address is permitted though a check that knows global unicast alone may refuse it. */
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
 * mean this machine. Text that is no absolute URL is refused as well. Other names are checked once resolved.
 */
export function isAddressBlocked(url: string, allow: readonly string[] = []): boolean {
  return !isUrl(url) || createAddressGuard(allow).refusal(new URL(url)) !== null;
}

/** Origins whose verdicts are kept; a crawl visits few at a time. */
const KEPT_ORIGINS = 1_000;

/** The verdict depends on scheme, host and port alone, so it is computed once for each. */
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
  // Whatever the operator allows: got takes this name for a socket file.
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

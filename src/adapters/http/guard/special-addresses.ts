import { BlockList, isIP } from 'node:net';

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
 * Azure, Google. Permitted only where the operator has named the very address.
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

/** Whether an IP address (text, any spelling) belongs to a public host; false for other text. */
export function isPublicAddress(address: string): boolean {
  if (isMetadataAddress(address)) return false;
  const family = isIP(address);
  if (family === 4) return !blockedV4.check(address, 'ipv4');
  if (family !== 6) return false;
  const inner = embeddedIPv4(address);
  if (inner !== null) return isPublicAddress(inner);
  const first = groupsOf(address)[0] ?? 0;
  return first >> 13 === 0b001 && !blockedV6.check(withoutZone(address), 'ipv6');
}

export function isMetadataAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return METADATA.has(address);
  if (family !== 6) return false;
  const inner = embeddedIPv4(address);
  return METADATA.has(inner ?? canonicalIPv6(address));
}

/** The IPv4 address within an IPv6 address: mapped (RFC 4291), NAT64 (RFC 6052), 6to4 (RFC 3056). */
export function embeddedIPv4(address: string): string | null {
  const groups = groupsOf(address);
  const [a, b, c, d, e, f, g, h] = groups;
  const startsWithZeros = a === 0 && b === 0 && c === 0 && d === 0 && e === 0;
  if (startsWithZeros && f === 0xffff) return dotted(g ?? 0, h ?? 0);
  if (a === 0x64 && b === 0xff9b && c === 0 && d === 0 && e === 0 && f === 0) return dotted(g ?? 0, h ?? 0);
  if (a === 0x2002) return dotted(b ?? 0, c ?? 0);
  return null;
}

/** Canonical text of a valid address: without zone, mapped IPv4 written as IPv4. */
export function canonicalAddress(address: string): string {
  if (isIP(address) !== 6) return address;
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return isMapped ? dotted(groups[6] ?? 0, groups[7] ?? 0) : canonicalIPv6(address);
}

const dotted = (high: number, low: number): string => `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;

const withoutZone = (address: string): string => address.replace(/%.*$/, '');

/** The URL parser writes IPv6 addresses in the one form of RFC 5952. */
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

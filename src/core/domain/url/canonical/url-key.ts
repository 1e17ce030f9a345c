import { memoized } from '../../../../page/memoized.ts';

/** `org` of `www.example.org:8080`; an address, which has no labels, is its own. */
export function topLevelDomain(host: string): string {
  const name = host.replace(/:\d+$/, '');
  const label = name.slice(name.lastIndexOf('.') + 1);
  return /^\d*$|\]$/.test(label) ? name : label;
}

/**
 * Where a URL is met, as the scopes of Nutch's normalisers: as a seed, as a known URL about to be selected, as the
 * target of a redirect, as a link of a page or a sitemap, or elsewhere.
 */
export const URL_SCOPES = ['default', 'inject', 'generate', 'fetcher', 'outlink'] as const;
export type UrlScope = (typeof URL_SCOPES)[number];

/**
 * The key under which a URL is stored: the host reversed, so that the hosts of a domain lie together in key order.
 *
 *     https://www.example.com/path?x      com.example.www.::https/path?x
 *     http://www.example.com:8080/        com.example.www.:8080:http/
 *     http://192.0.2.7/a                  @192.0.2.7::http/a
 *     https://[2001:db8::1]:444/          @[2001:db8::1]:444:https/
 *
 * Every label is followed by a dot, which makes a domain with all hosts below it one range (`com.example.`) that does
 * not touch `example.community`. The port stands before the scheme, so that a politeness key (`host[:port]`) is one
 * range too. Addresses have no labels to reverse and are marked by `@`.
 *
 * All functions expect canonical URLs: scheme and host in lower case, no userinfo, default port or fragment, ASCII
 * only.
 */

/** Keys from `from` on and before `to`. */
export interface KeyRange {
  readonly from: string;
  readonly to: string;
}

const SCHEME_END = '://';
const BRACKET = 0x5b;
const AT = 0x40;

/** Order-preserving and injective. Throws a `TypeError` for a text without scheme and host. */
export function urlKey(url: string): string {
  const authorityStart = startOfAuthority(url);
  const authorityEnd = endOfAuthority(url, authorityStart);
  const origin = prefixOf(url.slice(authorityStart, authorityEnd));
  return `${origin}${url.slice(0, authorityStart - SCHEME_END.length)}${url.slice(authorityEnd)}`;
}

/** Cached prefixes of hosts: keys are computed in batches whose URLs share hosts. */
const REMEMBERED_HOSTS = 1_024;
const prefixOf = memoized(hostPrefix, REMEMBERED_HOSTS);

/** The inverse of {@link urlKey}. Throws a `TypeError` for a text that is no such key. */
export function urlFromKey(key: string): string {
  const hostEnd = endOfHostPrefix(key);
  const schemeEnd = key.indexOf('/', hostEnd);
  if (schemeEnd < 0) throw new TypeError(`"${key}" is not a URL key`);
  return `${key.slice(hostEnd, schemeEnd)}${SCHEME_END}${hostFromPrefix(key)}${key.slice(schemeEnd)}`;
}

/** Politeness key of a URL: `host[:port]`, the port only where it is not the scheme's default. */
export function hostOf(url: string): string {
  const start = startOfAuthority(url);
  return url.slice(start, endOfAuthority(url, start));
}

/** All URLs of a politeness key (`host[:port]`), whatever their scheme. */
export function hostRange(host: string): KeyRange {
  return prefixRange(hostPrefix(host));
}

/** All URLs of a domain and of the hosts below it, on any port. An address is a domain of one host. */
export function domainRange(domain: string): KeyRange {
  if (domain === '' || domain.startsWith('.'))
    throw new TypeError(`a domain such as "example.com" was expected, got "${domain}"`);
  return prefixRange(isAddress(domain) ? `@${domain}:` : `${reversedLabels(domain)}.`);
}

/** All URLs with this prefix. Scheme and host must be complete: `https://example.com` means `https://example.com/`. */
export function urlPrefixRange(prefix: string): KeyRange {
  const start = startOfAuthority(prefix);
  return prefixRange(urlKey(endOfAuthority(prefix, start) === prefix.length ? `${prefix}/` : prefix));
}

/** All keys with this prefix. */
export function prefixRange(prefix: string): KeyRange {
  const last = prefix.length - 1;
  return { from: prefix, to: prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1) };
}

/** Sort key of a host: the common prefix of the keys of its URLs, `com.example.www.:8080:`. */
export function hostPrefix(host: string): string {
  const colon = portColon(host);
  const name = colon < 0 ? host : host.slice(0, colon);
  const port = colon < 0 ? ':' : host.slice(colon);
  if (name === '')
    throw new TypeError(`a host such as "example.com" or "example.com:8080" was expected, got "${host}"`);
  return isAddress(name) ? `@${name}${port}:` : `${reversedLabels(name)}.${port}:`;
}

/** The inverse of {@link hostPrefix}; the rest of a URL key may follow. */
export function hostFromPrefix(key: string): string {
  const nameEnd = endOfName(key);
  const portEnd = endOfHostPrefix(key) - 1;
  const name = key.charCodeAt(0) === AT ? key.slice(1, nameEnd) : reversedLabels(key.slice(0, nameEnd - 1));
  return portEnd === nameEnd + 1 ? name : name + key.slice(nameEnd, portEnd);
}

function endOfHostPrefix(key: string): number {
  const portEnd = key.indexOf(':', endOfName(key) + 1);
  if (portEnd < 0) throw new TypeError(`"${key}" is not the key of a host or URL`);
  return portEnd + 1;
}

/** Names have no colon; an IPv6 address has its own in brackets. */
function endOfName(key: string): number {
  const colon = key.indexOf(':', key.charCodeAt(0) === AT ? key.indexOf(']') + 1 : 0);
  if (colon <= 0) throw new TypeError(`"${key}" is not the key of a host or URL`);
  return colon;
}

function startOfAuthority(url: string): number {
  const end = url.indexOf(SCHEME_END);
  if (end <= 0) throw new TypeError(`a canonical absolute URL was expected, got "${url}"`);
  return end + SCHEME_END.length;
}

function endOfAuthority(url: string, start: number): number {
  const slash = url.indexOf('/', start);
  return slash < 0 ? url.length : slash;
}

/** Start of the port of an authority, -1 without one. The colons of an IPv6 address are in brackets. */
function portColon(authority: string): number {
  const colon = authority.lastIndexOf(':');
  return colon > authority.lastIndexOf(']') ? colon : -1;
}

/** By the WHATWG URL standard a host whose last label is a number is an IPv4 address, so no name ends in one. */
function isAddress(name: string): boolean {
  if (name.charCodeAt(0) === BRACKET) return true;
  for (let i = name.length - 1; i >= 0; i--) {
    const code = name.charCodeAt(i);
    if (code === 0x2e) return i < name.length - 1;
    if (code < 0x30 || code > 0x39) return false;
  }
  return true;
}

function reversedLabels(name: string): string {
  let reversed = '';
  let end = name.length;
  for (let dot = name.lastIndexOf('.'); dot >= 0; dot = dot === 0 ? -1 : name.lastIndexOf('.', dot - 1)) {
    reversed += `${name.slice(dot + 1, end)}.`;
    end = dot;
  }
  return reversed + name.slice(0, end);
}

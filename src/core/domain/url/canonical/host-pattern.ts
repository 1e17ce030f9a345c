import { canonicalUrl } from './canonical-url.ts';
import { hostOf } from './url-key.ts';

/** The URLs that a setting of the operator is for. Hosts are in canonical spelling, `host[:port]`. */
export type HostPattern =
  /** `example.org`, `example.org:8080`: without a port, only the default ports. */
  | { readonly kind: 'host'; readonly host: string }
  /** `*.example.org`: the domain and all hosts below it, with `port` as of a host. */
  | { readonly kind: 'domain'; readonly domain: string; readonly port: string }
  /** `https://example.org/members/`: URLs that begin so. */
  | { readonly kind: 'prefix'; readonly prefix: string };

/** Reads a pattern as operators type it; `null` for any other text. */
export function parseHostPattern(text: string): HostPattern | null {
  const typed = text.trim();
  if (typed.includes('://')) return prefixPattern(typed);
  if (!typed.startsWith('*.')) {
    const host = typedHost(typed);
    return host === null || host.includes('*') ? null : { kind: 'host', host };
  }
  const [, name = '', port = ''] = /^(.*?)((?::\d{1,5})?)$/.exec(typed.slice(2)) ?? [];
  const domain = typedDomain(name);
  if (domain === null || domain.includes('*') || domain.startsWith('[')) return null;
  const host = typedHost(`${domain}${port}`);
  return host === null ? null : { kind: 'domain', domain, port: host.slice(domain.length) };
}

function prefixPattern(typed: string): HostPattern | null {
  const prefix = typedUrlPrefix(typed);
  if (prefix === null) return null;
  // Without the slash "https://example.org" would also begin "https://example.org.evil.example/".
  const isBare = prefix.indexOf('/', prefix.indexOf('://') + 3) < 0;
  return { kind: 'prefix', prefix: isBare ? `${prefix}/` : prefix };
}

/** Whether a canonical URL is one of a pattern. */
export function matchesUrl(pattern: HostPattern, url: string): boolean {
  return pattern.kind === 'prefix' ? url.startsWith(pattern.prefix) : matchesHost(pattern, hostOf(url));
}

/** Whether a pattern is for all URLs of a host. */
function matchesHost(pattern: HostPattern, host: string): boolean {
  if (pattern.kind === 'host') return pattern.host === host;
  if (pattern.kind === 'prefix') return false;
  const { domain, port } = pattern;
  const colon = host.lastIndexOf(':');
  const at = colon > host.lastIndexOf(']') ? colon : host.length;
  if (host.slice(at) !== port) return false;
  const name = host.slice(0, at);
  return name === domain || name.endsWith(`.${domain}`);
}

/** Whether every URL of the second pattern is one of the first: standing first, that leaves the second none. */
export function coversPattern(first: HostPattern, second: HostPattern): boolean {
  if (second.kind === 'prefix') return matchesUrl(first, second.prefix);
  if (second.kind === 'host') return matchesHost(first, second.host);
  return first.kind === 'domain' && matchesHost(first, `${second.domain}${second.port}`);
}

/** A list of settings in which the first entry whose pattern matches decides. */
export interface FirstMatch<Entry> {
  forUrl(url: string): Entry | undefined;
  /** The first entry for a host as a whole, which decides what its URLs share, such as the delay. */
  forHost(host: string): Entry | undefined;
}

export function createFirstMatch<Entry>(
  entries: readonly { readonly pattern: HostPattern; readonly entry: Entry }[],
): FirstMatch<Entry> {
  return {
    forUrl: (url) => entries.find(({ pattern }) => matchesUrl(pattern, url))?.entry,
    forHost: (host) => entries.find(({ pattern }) => matchesHost(pattern, host))?.entry,
  };
}

/** Parts of URLs as users type them, in canonical spelling; `null` for invalid ones. */

/** `Example.org:8080` as `example.org:8080`, the politeness key of its URLs. */
export function typedHost(text: string): string | null {
  const host = text.trim();
  if (/[\s/?#@\\]/.test(host)) return null;
  const canonical = canonicalUrl(`http://${host}/`);
  return 'error' in canonical ? null : canonical.url.slice('http://'.length, -1);
}

/** A host without a port. */
export function typedDomain(text: string): string | null {
  const host = typedHost(text);
  return host === null || /:\d+$/.test(host) ? null : host;
}

/** A URL prefix with scheme and host complete; the rest is taken as typed. */
export function typedUrlPrefix(text: string): string | null {
  const [, origin, rest] = /^(https?:\/\/[^/?#\\]*)(.*)$/is.exec(text.trim()) ?? [];
  if (origin === undefined) return null;
  const canonical = canonicalUrl(`${origin}/`);
  return 'error' in canonical ? null : `${canonical.url.slice(0, -1)}${rest}`;
}

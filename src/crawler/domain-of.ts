import { getDomain } from 'tldts';

/** Registrable domain of a `host[:port]` by the public suffix list; hosts without one (addresses, intranet names) are their own. */
export function domainOf(host: string): string {
  return getDomain(host, { allowPrivateDomains: true }) ?? host;
}

import { createRequire } from 'node:module';

/**
 * By `require`: an import would search the whole text of this CommonJS package for the names that it exports, at every
 * start.
 */
const { getDomain }: typeof import('tldts') = createRequire(import.meta.url)('tldts');

/**
 * Registrable domain of a `host[:port]` by the public suffix list; hosts without one (addresses, intranet names) are
 * their own.
 */
export function domainOf(host: string): string {
  return getDomain(host, { allowPrivateDomains: true }) ?? host;
}

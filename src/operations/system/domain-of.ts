import { createRequire } from 'node:module';

/**
 * Loaded by `require`: at every start, an import would search the whole text of this CommonJS package for the names
 * that it exports.
 */
const { getDomain }: typeof import('tldts') = createRequire(import.meta.url)('tldts');

/**
 * Registrable domain of a `host[:port]` according to the public suffix list; hosts without one (addresses, intranet
 * names) are their own domain.
 */
export function domainOf(host: string): string {
  return getDomain(host, { allowPrivateDomains: true }) ?? host;
}

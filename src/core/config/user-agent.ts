import type { Config } from './schema.ts';

/** The User-Agent header of the crawl (RFC 9110, section 10.1.5): product, version, and how to reach its operator. */
export function userAgentOf({ name, version, contact }: Config['agent']): string {
  return `${name}/${version}${contact === '' ? '' : ` (+${contact})`}`;
}

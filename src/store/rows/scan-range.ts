import type { KeyRange } from '../../core/domain/url/canonical/url-key.ts';
import { domainRange, hostRange, urlPrefixRange } from '../../core/domain/url/canonical/url-key.ts';
import type { ScanQuery } from '../../core/ports/crawl-db.ts';

/** Intersection of host, domain and prefix. */
export function scanRange({ host, domain, prefix }: ScanQuery): KeyRange | undefined {
  const ranges: KeyRange[] = [];
  if (host !== undefined) ranges.push(hostRange(host));
  if (domain !== undefined) ranges.push(domainRange(domain));
  if (prefix !== undefined) ranges.push(urlPrefixRange(prefix));
  const [first, ...others] = ranges;
  if (first === undefined) return undefined;
  let { from, to } = first;
  for (const other of others) {
    if (other.from > from) from = other.from;
    if (other.to < to) to = other.to;
  }
  return { from, to };
}

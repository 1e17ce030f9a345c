import type { TransferSummary } from '../../../crawler.ts';
import { count, counted } from '../quantities.ts';

/** Of records for a crawl db that had some. */
export const KNOWN = 'known already: the one visited last is kept';
/** Of records for an empty crawl db. */
export const SPELLED_OTHERWISE = 'spelled otherwise: merged with the record of the same URL';

/**
 * Rows that an import or a merge brought, in a few words.
 * @param again what it means that a record has a URL that is there already
 */
export function transferText({ records, links, hosts, merged }: TransferSummary, again: string): string {
  const both = merged === 0 ? '' : ` (${count(merged)} ${again})`;
  return `${counted(records, 'record')}${both}, outlinks of ${counted(links, 'page')}, data of ${counted(hosts, 'host')}`;
}

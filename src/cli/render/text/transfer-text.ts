import type { TransferSummary } from '../../../crawler.ts';
import { count, counted } from '../quantities.ts';

/** Rows that an import or a merge brought, in a few words. */
export function transferText({ records, links, hosts, merged }: TransferSummary): string {
  const both = merged === 0 ? '' : ` (${count(merged)} known already)`;
  return `${counted(records, 'record')}${both}, outlinks of ${counted(links, 'page')}, data of ${counted(hosts, 'host')}`;
}

import type { TransferSummary } from '../../../crawler.ts';
import { count } from '../quantities.ts';

/** Rows that an import or a merge brought, in a few words. */
export function transferText({ records, links, hosts, merged }: TransferSummary): string {
  const both = merged === 0 ? '' : ` (${count(merged)} known already)`;
  return `${count(records)} records${both}, outlinks of ${count(links)} pages, data of ${count(hosts)} hosts`;
}

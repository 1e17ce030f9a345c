import { groupOf } from '../../domain/crawl/hazard/page-group.ts';
import { isDueByHazard } from '../../domain/crawl/revisit/due.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { DueEntry, DueOfGroupQuery } from '../../ports/crawl-db.ts';

/** The entries of one group, in their order. */
export async function ofGroup(
  due: AsyncIterable<DueEntry>,
  { host, group, after, limit }: DueOfGroupQuery,
): Promise<DueEntry[]> {
  const entries: DueEntry[] = [];
  for await (const entry of due) {
    const isMeant = entry.dueAt > after && isDueByHazard(entry) && hostOf(entry.url) === host;
    if (isMeant && groupOf(entry.url) === group) entries.push(entry);
  }
  return entries.slice(0, limit);
}

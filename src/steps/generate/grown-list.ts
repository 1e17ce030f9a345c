import type { CrawlDb, HostFacts, SegmentRow } from '../../ports/crawl-db.ts';
import type { FetchItem, SegmentStore } from '../../ports/segment-store.ts';
import type { Candidate } from './fetch-list.ts';

export interface GrowDeps {
  readonly db: Pick<CrawlDb, 'segments'>;
  readonly segments: SegmentStore;
}

/** Candidates that the list of a segment has not: one that is due again is visited in another one. */
export async function notListed(
  { segments }: GrowDeps,
  id: string,
  chosen: readonly Candidate[],
): Promise<readonly Candidate[]> {
  if (chosen.length === 0) return chosen;
  const segment = await segments.open(id, 'write');
  try {
    const listed = new Set<string>();
    for await (const { url } of segment.fetchList()) listed.add(url);
    return chosen.filter(({ entry }) => !listed.has(entry.url));
  } finally {
    await segment.close();
  }
}

/**
 * Adds items, counted from 0, to the end of the list of a segment; they are on disk before this resolves with the row
 * of the segment as it is then to be written. Where a crash comes before that, they are visited without a lease.
 */
export async function growList(
  { db, segments }: GrowDeps,
  id: string,
  items: AsyncIterable<FetchItem>,
  hosts: Readonly<Record<string, HostFacts>>,
): Promise<SegmentRow> {
  const row = (await db.segments()).find((each) => each.id === id);
  if (row === undefined) throw new TypeError(`segment ${id} does not belong to this crawl db`);
  const segment = await segments.open(id, 'write');
  try {
    const { urls } = segment.info;
    const added: FetchItem[] = [];
    for await (const item of items) added.push({ ...item, index: urls + item.index });
    await segment.addItems(added, hosts);
    return { ...row, urls: segment.info.urls };
  } finally {
    await segment.close();
  }
}

import type { CrawlDb } from '../../ports/crawl-db.ts';
import type { SegmentStore } from '../../ports/segment-store.ts';

/** `YYYYMMDDhhmmss-nnnnn`, in UTC, with a suffix after compacting or merging. Other folders do not count. */
const NUMBERED = /^\d{14}-(\d{5,})/;

/** An id later than all others even when the clock stands still, or was set back. */
export async function newSegmentId(
  { db, segments }: { readonly db: Pick<CrawlDb, 'segments'>; readonly segments: Pick<SegmentStore, 'list'> },
  now: number,
): Promise<string> {
  const stamp = new Date(now).toISOString().replace(/[-:T]/g, '').slice(0, 14);
  const ids = [...(await db.segments()), ...(await segments.list())].map((segment) => segment.id);
  const last = ids
    .filter((id) => NUMBERED.test(id))
    .sort()
    .at(-1);
  return last === undefined || last < stamp ? `${stamp}-00001` : idAfter(last);
}

function idAfter(id: string): string {
  const number = Number(NUMBERED.exec(id)?.[1]);
  return `${id.slice(0, 14)}-${String(number + 1).padStart(5, '0')}`;
}

import { CrawlError } from '../../core/domain/errors.ts';
import type { CrawlDb, SegmentState } from '../../core/ports/crawl-db.ts';
import type { Segment, SegmentInfo, SegmentStore } from '../../core/ports/segment-store.ts';

/** States in which each step expects a segment. */
const EXPECTED: Readonly<Record<'fetch' | 'parse' | 'updatedb', readonly SegmentState[]>> = {
  fetch: ['generated'],
  parse: ['generated', 'fetched'],
  updatedb: ['fetched', 'parsed'],
};

const MADE_BY: Readonly<Record<'fetch' | 'parse' | 'updatedb', string>> = {
  fetch: 'run generate first',
  parse: 'fetch one first',
  updatedb: 'fetch and parse one first',
};

/**
 * The segment named, or the newest in a state that the step expects. Rejects with `segment-missing`; the message lists
 * the segments that exist.
 */
export async function segmentFor(
  store: SegmentStore,
  step: 'fetch' | 'parse' | 'updatedb',
  id: string | undefined,
): Promise<SegmentInfo> {
  const all = await store.list();
  const found =
    id === undefined
      ? all.findLast((segment) => EXPECTED[step].includes(segment.state))
      : all.find((segment) => segment.id === id);
  if (found !== undefined) return found;
  const known =
    all.length === 0 ? 'no segment exists' : `there are ${all.map((each) => `${each.id} (${each.state})`).join(', ')}`;
  throw new CrawlError(
    'segment-missing',
    id === undefined ? `no segment to ${step}: ${known}; ${MADE_BY[step]}` : `no segment ${id}: ${known}`,
  );
}

/** Whether every fetched page with a body has parse output. */
export async function isParsed(segment: Segment): Promise<boolean> {
  for await (const record of segment.fetched()) {
    if (record.outcome.kind === 'success' && !segment.hasParsed(record.index)) return false;
  }
  return true;
}

/** Ids of the segments that are not applied to the crawl db yet, oldest first. */
export async function unappliedSegments(db: Pick<CrawlDb, 'segments'>): Promise<string[]> {
  return (await db.segments()).filter(({ state }) => state === 'generated').map(({ id }) => id);
}

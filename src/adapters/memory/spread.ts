import { isNewUrl } from '../../domain/crawl/revisit/due.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { countedType, hourOf, intervalBucket } from '../../domain/crawl/states/histogram-buckets.ts';
import { MAX_COUNTED_DEPTH, MAX_COUNTED_FAILURES, type Spread } from '../../ports/record-indexes.ts';

/** Counts all records. */
export function spreadOf(records: Iterable<CrawlDatum>, isLeased: (url: string) => boolean): Spread {
  const [byDepth, byFailures, byInterval] = [new Map<number, number>(), new Map<number, number>(), new Map()];
  const [dueKnown, dueNew] = [new Map<number, number>(), new Map<number, number>()];
  const byType = new Map<string, number>();
  for (const datum of records) {
    add(byDepth, Math.min(MAX_COUNTED_DEPTH, datum.depth));
    const type = countedType(datum.contentType);
    if (type !== null) add(byType, type);
    if (datum.failures > 0) add(byFailures, Math.min(MAX_COUNTED_FAILURES, datum.failures));
    if (datum.nextFetchAt === null) continue;
    add(byInterval, intervalBucket(datum.fixedIntervalMs ?? datum.schedule.intervalMs));
    if (!isLeased(datum.url)) add(isNewUrl(datum) ? dueNew : dueKnown, hourOf(datum.nextFetchAt));
  }
  return { byDepth, byType, byFailures, byInterval, dueKnown, dueNew };
}

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

import { dueFacts, expectedInterval, isNewUrl } from '../../src/core/domain/crawl/revisit/next-visit.ts';
import type { CrawlDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { countedType, hourOf, intervalBucket, scoreStep } from '../../src/core/domain/crawl/states/host-traffic.ts';
import { DAY_MS } from '../../src/core/domain/time.ts';
import { MAX_COUNTED_DEPTH, MAX_COUNTED_FAILURES, type Spread } from '../../src/core/ports/crawl-db.ts';

/** Counts all records. */
export function spreadOf(records: Iterable<CrawlDatum>, isLeased: (url: string) => boolean): Spread {
  const [byDepth, byFailures, byInterval] = [new Map<number, number>(), new Map<number, number>(), new Map()];
  const [dueKnown, dueNew] = [new Map<number, number>(), new Map<number, number>()];
  const byType = new Map<string, number>();
  const byScore = new Map<number, number>();
  let visits = 0;
  for (const datum of records) {
    add(byDepth, Math.min(MAX_COUNTED_DEPTH, datum.depth));
    const type = countedType(datum.contentType);
    if (type !== null) add(byType, type);
    add(byScore, scoreStep(datum.score));
    if (datum.failures > 0) add(byFailures, Math.min(MAX_COUNTED_FAILURES, datum.failures));
    if (datum.nextFetchAt === null) continue;
    add(byInterval, intervalBucket(datum.fixedIntervalMs ?? datum.schedule.intervalMs));
    if (isLeased(datum.url)) continue;
    add(isNewUrl(datum) ? dueNew : dueKnown, hourOf(datum.nextFetchAt));
    if (!isNewUrl(datum)) visits += Math.round((1e6 * DAY_MS) / expectedInterval(dueFacts(datum)));
  }
  return { byDepth, byType, byFailures, byInterval, byScore, dueKnown, dueNew, visitsPerDay: visits / 1e6 };
}

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

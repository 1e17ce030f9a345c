import type { CrawlDatum } from '../states/datum.ts';
import { weightOf } from './next-visit.ts';

/** Never asked for, and due since it was found: such URLs have their own share of a budget, and their own order. */
export const isNewUrl = (datum: Pick<CrawlDatum, 'state' | 'visits' | 'discoveredAt' | 'nextFetchAt'>): boolean =>
  datum.state === 'unfetched' &&
  datum.visits.length === 0 &&
  datum.nextFetchAt !== null &&
  datum.nextFetchAt <= datum.discoveredAt;

/** What selection needs to know of a due URL beside its time. */
export function dueFacts(datum: CrawlDatum) {
  const { url, state, score, depth, schedule, lastFetchAt, failures } = datum;
  const last = datum.visits.at(-1);
  return {
    url,
    state,
    score,
    depth,
    intervalMs: datum.fixedIntervalMs ?? schedule.intervalMs,
    lastFetchAt,
    failures,
    isNew: isNewUrl(datum),
    isFixed: datum.fixedIntervalMs !== null,
    belief: schedule.belief,
    weight: weightOf(datum.metadata),
    unansweredAt: last?.outcome === 'failed' || last?.outcome === 'denied' ? last.at : null,
  };
}

import { type CrawlDatum, isAnswered } from '../states/datum.ts';
import { weightOf } from './next-visit.ts';

/**
 * Whether a URL was never requested and is due since its discovery. New URLs have a share of the budget and an order of
 * their own.
 */
export const isNewUrl = (datum: Pick<CrawlDatum, 'state' | 'visits' | 'discoveredAt' | 'nextFetchAt'>): boolean =>
  datum.state === 'unfetched' &&
  datum.visits.length === 0 &&
  datum.nextFetchAt !== null &&
  datum.nextFetchAt <= datum.discoveredAt;

/** Fields of a due URL that selection reads, beside its time. */
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
    unansweredAt: last === undefined || isAnswered(last) ? null : last.at,
  };
}

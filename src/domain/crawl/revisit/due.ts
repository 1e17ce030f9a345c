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

/** Whether the last good visit found a page. */
export const isLive = ({ state }: Pick<CrawlDatum, 'state'>): boolean =>
  state === 'fetched' || state === 'notmodified' || state === 'duplicate';

/** Whether a page is due by its belief and the clock of its group, where the schedule goes by these. */
export const isDueByHazard = (page: ReturnType<typeof dueFacts>): boolean =>
  isLive(page) && page.failures === 0 && !page.isFixed && page.unansweredAt === null && page.lastFetchAt !== null;

/** Shorter intervals count as this, ms. */
const LEAST_INTERVAL_MS = 1_000;

/**
 * Time between the visits of a page to come, ms; infinite for one that fails or is gone, and counts once: its next
 * interval depends on the answer.
 */
export const expectedInterval = ({ state, failures, intervalMs }: DueRate): number =>
  failures === 0 && state !== 'gone' ? Math.max(intervalMs, LEAST_INTERVAL_MS) : Number.POSITIVE_INFINITY;

export type DueRate = Pick<ReturnType<typeof dueFacts>, 'state' | 'failures' | 'intervalMs'>;

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

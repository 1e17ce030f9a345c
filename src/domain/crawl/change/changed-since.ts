import { type CrawlDatum, isAnswered, VISIT_RING_SIZE, type Visit } from '../states/datum.ts';

/** Visits that found no readable page. */
const isAway = ({ outcome }: Visit): boolean =>
  outcome === 'gone' || outcome === 'redirect' || outcome === 'parse-failed';

/**
 * Whether a page differs from what it was at a time (ms since the epoch): its content changed, it went away, or it came
 * back unchanged. Counts as changed where its stored visits do not reach back so far.
 */
export function isChangedSince(datum: CrawlDatum, since: number): boolean {
  if (datum.changedAt === null || datum.changedAt >= since) return true;
  const answered = datum.visits.filter(isAnswered);
  const later = answered.findIndex(({ at }) => at >= since);
  if (later < 0) return false;
  if (later === 0) return datum.visits.length === VISIT_RING_SIZE;
  for (let i = later; i < answered.length; i++) {
    if (isAway(answered[i] as Visit) !== isAway(answered[i - 1] as Visit)) return true;
  }
  return false;
}

import { type CrawlDatum, type CrawlState, isAnswered } from './datum.ts';

const PERMANENT = new Set<number | null>([300, 301, 308]);

/**
 * State of an orphan before it lost its last link, which is the state last reported to consumers. Derived from its
 * visits; the record does not keep it.
 */
export function stateWhenOrphaned({ visits, httpStatus, digest, target }: CrawlDatum): CrawlState {
  const last = visits.findLast(isAnswered)?.outcome;
  if (last === 'redirect') return PERMANENT.has(httpStatus) ? 'redir_perm' : 'redir_temp';
  if (digest === null) return 'unfetched';
  if (last === 'parse-failed') return 'parse_failed';
  return target === null ? 'fetched' : 'duplicate';
}

/**
 * An orphan with a link or as a seed again. A former duplicate counts as an own page until it is compared: its
 * representative may be gone.
 */
export function revived(orphan: CrawlDatum, dueAt: number, dueBy: 'seed' | null): CrawlDatum {
  const was = stateWhenOrphaned(orphan);
  const state = was === 'duplicate' ? 'fetched' : was;
  const isRedirect = state === 'redir_perm' || state === 'redir_temp';
  return { ...orphan, state, target: isRedirect ? orphan.target : null, nextFetchAt: dueAt, dueBy };
}

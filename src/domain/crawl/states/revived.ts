import type { CrawlDatum, CrawlState, Visit } from './datum.ts';

const isAnswered = ({ outcome }: Visit): boolean => outcome !== 'failed' && outcome !== 'denied';
const PERMANENT = new Set<number | null>([300, 301, 308]);

/**
 * What an orphan was when it lost its last link: what the world was last told of it. The record does not keep it, its
 * visits tell.
 */
export function stateWhenOrphaned({ visits, httpStatus, digest, target }: CrawlDatum): CrawlState {
  const last = visits.findLast(isAnswered)?.outcome;
  if (last === 'redirect') return PERMANENT.has(httpStatus) ? 'redir_perm' : 'redir_temp';
  if (digest === null) return 'unfetched';
  if (last === 'parse-failed') return 'parse_failed';
  return target === null ? 'fetched' : 'duplicate';
}

/**
 * An orphan that is wanted again. One that was a duplicate stands for itself until it is compared: what it repeated may
 * not be there any more.
 */
export function revived(orphan: CrawlDatum, dueAt: number): CrawlDatum {
  const was = stateWhenOrphaned(orphan);
  const state = was === 'duplicate' ? 'fetched' : was;
  const isRedirect = state === 'redir_perm' || state === 'redir_temp';
  return { ...orphan, state, target: isRedirect ? orphan.target : null, nextFetchAt: dueAt };
}

import { type CrawlDatum, isAnswered, type Visit } from '../states/datum.ts';

/** Whether a URL has never brought a page: missing since its first visit, or a redirect alone. */
export const isPageless = ({ digest }: Pick<CrawlDatum, 'digest'>): boolean => digest === null;

/** Whether a URL is known to be missing, and never was there: a dead link, not a page that has gone. */
export const wasNeverThere = ({ state, digest }: Pick<CrawlDatum, 'state' | 'digest'>): boolean =>
  state === 'gone' && digest === null;

/**
 * Statuses by which a server says that the request can never succeed. 403 is not among them: it is also how a host
 * keeps a crawler out for a while.
 */
const REFUSED_FOR_GOOD: ReadonlySet<number | null> = new Set([400, 401, 405, 406, 414, 451]);

/**
 * Whether a failure of a URL that has never brought a page is like a page that is missing. A seed is meant to be there.
 */
export const isRefusedForGood = (datum: CrawlDatum, status: number | null): boolean =>
  isPageless(datum) && !datum.seed && REFUSED_FOR_GOOD.has(status);

/**
 * "Gone" visits at the end of the ring, with those that were left out since others of the host had found nothing;
 * failures between them are skipped.
 */
export const absentInARow = ({ visits }: Pick<CrawlDatum, 'visits'>): number =>
  inARow(visits, ({ outcome }) => outcome === 'gone' || outcome === 'denied');

/** Redirects at the end of the ring; failures between them are skipped. */
export const redirectsInARow = ({ visits }: Pick<CrawlDatum, 'visits'>): number =>
  inARow(visits, ({ outcome }) => outcome === 'redirect');

function inARow(visits: readonly Visit[], isCounted: (visit: Visit) => boolean): number {
  let count = 0;
  for (let i = visits.length - 1; i >= 0; i--) {
    const visit = visits[i] as Visit;
    if (isCounted(visit)) count++;
    else if (isAnswered(visit)) break;
  }
  return count;
}

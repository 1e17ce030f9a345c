import type { CrawlDatum } from './datum.ts';

/** An orphan that is wanted again. What it redirected to or repeated before it was an orphan is not known any more. */
export function revived(orphan: CrawlDatum, dueAt: number): CrawlDatum {
  return { ...orphan, state: orphan.digest === null ? 'unfetched' : 'fetched', target: null, nextFetchAt: dueAt };
}

import type { Settled } from '../../domain/crawl/states/settle.ts';
import type { LinkTally } from './found-links.ts';

/** What one chunk adds to the counts; kept apart until the chunk is written. */
export interface Tally extends LinkTally {
  applied: number;
  new: number;
  modified: number;
  distances: number;
  distanceSum: number;
  unchanged: number;
  gone: number;
  redirected: number;
  failed: number;
  newUrls: number;
  purged: number;
  duplicates: number;
  restored: number;
  /** Visits to known pages, and what they were worth to the schedule. */
  visits: number;
  worth: number;
}

export const isCounted = (verdict: Settled['verdict']): verdict is 'new' | 'modified' | 'unchanged' | 'gone' =>
  verdict === 'new' || verdict === 'modified' || verdict === 'unchanged' || verdict === 'gone';

/** Whether a visit told what the page is like now. */
export const isAnswer = ({ verdict }: Settled): boolean =>
  verdict === 'new' || verdict === 'modified' || verdict === 'unchanged';

export function count(tally: Tally, settled: Settled): void {
  if (settled.worth !== undefined) {
    tally.visits++;
    tally.worth += settled.worth;
  }
  switch (settled.verdict) {
    case 'new':
      tally.new++;
      break;
    case 'modified':
      tally.modified++;
      if (settled.distance !== null) {
        tally.distances++;
        tally.distanceSum += settled.distance;
      }
      break;
    case 'unchanged':
      tally.unchanged++;
      break;
    case 'gone':
      tally.gone++;
      break;
    case 'redirected':
      tally.redirected++;
      break;
    case 'failed':
    case 'denied':
    case 'parse-failed':
      tally.failed++;
      break;
    case 'kept':
      break;
  }
}

export const emptyTally = (): Tally => ({
  applied: 0,
  new: 0,
  modified: 0,
  distances: 0,
  distanceSum: 0,
  unchanged: 0,
  gone: 0,
  redirected: 0,
  failed: 0,
  outlinks: 0,
  newUrls: 0,
  filteredUrls: 0,
  purged: 0,
  duplicates: 0,
  restored: 0,
  visits: 0,
  worth: 0,
});

export function addTally(total: Tally, part: Tally): void {
  for (const key of Object.keys(part) as (keyof Tally)[]) total[key] += part[key];
}

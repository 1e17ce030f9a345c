import type { Transition } from '../../domain/crawl/states/settle.ts';

/** Counters of `updatedb` that are plain numbers, in the order of `--json`, and sums that it needs beside them. */
export const emptyTally = () => ({
  applied: 0,
  new: 0,
  modified: 0,
  /** Modified pages whose distance is known, and the sum of their distances, bits. */
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
  /** Visits that looked for changes, substantive ones that they saw, and the time since the visits before, ms. */
  looks: 0,
  changes: 0,
  watchedMs: 0,
});

/** What one chunk adds to the counters; kept apart until the chunk is written. */
export type Tally = ReturnType<typeof emptyTally>;

type Verdict = Transition['verdict'];

/** The counter of each verdict; `null`: none. */
const COUNTER_OF = {
  new: 'new',
  modified: 'modified',
  unchanged: 'unchanged',
  gone: 'gone',
  redirected: 'redirected',
  failed: 'failed',
  denied: 'failed',
  'parse-failed': 'failed',
  kept: null,
} as const satisfies Record<Verdict, keyof Tally | null>;

/** Counts a visit by its verdict. */
export function countVisit(tally: Tally, { verdict, distance, seen }: Transition): void {
  if (seen !== undefined) {
    tally.looks++;
    tally.changes += seen.changes;
    tally.watchedMs += seen.elapsedMs;
  }
  const counter = COUNTER_OF[verdict];
  if (counter !== null) tally[counter]++;
  if (verdict === 'modified' && distance !== null) {
    tally.distances++;
    tally.distanceSum += distance;
  }
}

export function addTally(total: Tally, part: Tally): void {
  for (const key of Object.keys(part) as (keyof Tally)[]) total[key] += part[key];
}

/** Whether a layer has a counter of its own for the verdict. */
export const isLayerCounter = (verdict: Verdict): verdict is 'new' | 'modified' | 'unchanged' | 'gone' =>
  verdict === 'new' || verdict === 'modified' || verdict === 'unchanged' || verdict === 'gone';

/** Whether a visit has shown what the page is like now. */
export const isAnswer = ({ verdict }: Transition): boolean =>
  verdict === 'new' || verdict === 'modified' || verdict === 'unchanged';

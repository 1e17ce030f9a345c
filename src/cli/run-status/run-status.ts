import type { CrawlProgress, RoundCounts, RoundSummary } from '../../crawler.ts';
import { unchangedVisits } from '../../domain/crawl/change/unchanged-visits.ts';

/** What a process that crawls says of itself, one line of JSON each time. Times in ISO 8601. */
export interface RunStatus {
  readonly version: 1;
  readonly pid: number;
  readonly command: 'crawl' | 'schedule';
  readonly startedAt: string;
  readonly at: string;
  /** `null` until the first round has begun. */
  readonly progress: CrawlProgress | null;
  /** Rounds done so far. */
  readonly roundsDone: number;
  /** The last of them, oldest first, at most {@link ROUNDS_TOLD}. */
  readonly rounds: readonly RoundCounts[];
  /** Sums over all rounds of the run that are done. */
  readonly totals: RunTotals;
}

export interface RunTotals {
  readonly requests: number;
  readonly new: number;
  readonly modified: number;
  readonly unchanged: number;
  readonly gone: number;
  readonly failed: number;
  readonly bytesReceived: number;
}

export const ROUNDS_SHOWN = 20;

export const NO_TOTALS: RunTotals = Object.freeze({
  requests: 0,
  new: 0,
  modified: 0,
  unchanged: 0,
  gone: 0,
  failed: 0,
  bytesReceived: 0,
});

export function addRound(totals: RunTotals, round: RoundSummary): RunTotals {
  return {
    requests: totals.requests + round.requests,
    new: totals.new + round.new,
    modified: totals.modified + round.modified,
    unchanged: totals.unchanged + unchangedVisits(round),
    gone: totals.gone + round.gone,
    failed: totals.failed + round.failed,
    bytesReceived: totals.bytesReceived + round.bytesReceived,
  };
}

export function roundCounts({ filteredBy, demotedBy, failures, layers, ...counts }: RoundSummary): RoundCounts {
  return counts;
}

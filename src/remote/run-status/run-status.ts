import { type Addends, addTo, zeroSums } from '../../core/domain/counting.ts';
import { unchangedVisits } from '../../core/domain/crawl/change/change-belief.ts';
import type { CrawlProgress, RoundSummary } from '../../crawler/index.ts';
import type { RoundCounts, Steering } from '../../crawler/views.ts';
import { counted } from '../../render/quantities.ts';

/** State of a process that crawls, sent as a line of JSON. Times in ISO 8601. */
export interface RunStatus {
  readonly version: 1;
  readonly pid: number;
  readonly command: 'crawl' | 'schedule' | 'work';
  readonly startedAt: string;
  readonly at: string;
  /** `null` until the first round has begun. */
  readonly progress: CrawlProgress | null;
  /** The operator's commands so far; absent: it takes no commands. */
  readonly steering?: Steering;
  /** Rounds done so far. */
  readonly roundsDone: number;
  /** The last rounds, oldest first, at most {@link ROUNDS_SHOWN}. */
  readonly rounds: readonly RoundCounts[];
  /** Sums over all finished rounds of the run. */
  readonly totals: RunTotals;
}

const ADDENDS = {
  requests: (round) => round.requests,
  new: (round) => round.new,
  modified: (round) => round.modified,
  unchanged: unchangedVisits,
  gone: (round) => round.gone,
  failed: (round) => round.failed,
  bytesReceived: (round) => round.bytesReceived,
} satisfies Addends<RoundCounts, string>;

export type RunTotals = Readonly<Record<keyof typeof ADDENDS, number>>;

export const ROUNDS_SHOWN = 20;

export const NO_TOTALS: RunTotals = Object.freeze(zeroSums(ADDENDS));

export const addRound = (totals: RunTotals, round: RoundCounts): RunTotals => addTo(totals, round, ADDENDS);

export function roundCounts({ filteredBy, demotedBy, failures, layers, hosts, ...counts }: RoundSummary): RoundCounts {
  return counts;
}

/** Text beside the activity of a run that an operator has paused or is ending; otherwise empty. */
export function steeringText({ steering }: RunStatus): string {
  if (steering === undefined) return '';
  const { paused, stopping, inFlight } = steering;
  return [
    ...(paused ? [inFlight === 0 ? 'paused' : `pausing, ${counted(inFlight, 'request')} in flight`] : []),
    ...(stopping ? ['stops after this round'] : []),
  ].join(', ');
}

import type { ScheduleMemory } from '../states/datum.ts';

/** What a fetch schedule is told of a visit. */
export interface ScheduleVisit {
  /** Time of the visit, ms since the epoch. */
  readonly now: number;
  /** Time since the visit before, ms; `null` on the first. */
  readonly elapsedMs: number | null;
  readonly outcome: 'new' | 'modified' | 'unchanged';
  /**
   * What told: the rung of the ladder of change; `distance` when signatures were compared; `resigned` when another body
   * came and the old signature was made by other rules, so that nothing says how much changed.
   */
  readonly evidence: 'first' | 'conditional' | 'headers' | 'digest' | 'distance' | 'resigned';
  /** Hamming distance, bits; `null` when there was nothing to compare. */
  readonly distance: number | null;
  /** Last time the page was found changed, ms since the epoch, this visit included. */
  readonly changedAt: number | null;
  /** `Last-Modified` of the answer, ms since the epoch. */
  readonly lastModifiedAt: number | null;
  /** Whether the host's headers have not lied. Default: they have not. */
  readonly isHostTrusted?: boolean;
  /** How much the page matters, 1 for an ordinary one. Default 1. */
  readonly weight?: number;
  /**
   * What a visit must be worth at present, page-days ({@link FetchSchedule.worth}); absent or `null` without a budget.
   */
  readonly price?: number | null;
  /** About 1, by the URL: pages that were first met together do not come back together. Default 1. */
  readonly spread?: number;
  /**
   * On the first visit: the interval that the seed names until the second, ms; absent or `null` where it names none.
   */
  readonly startIntervalMs?: number | null;
  /** The memory knows this visit already; its arithmetic is only told again. Default false. */
  readonly isRepeated?: boolean;
}

/** One line of the arithmetic that `explain` prints, e.g. `{label: 'factor', value: 1.2, unit: ''}`. */
export interface ScheduleTerm {
  readonly label: string;
  readonly value: number | string;
  readonly unit?: 'ms' | 'bits' | '';
}

export interface ScheduleDecision {
  readonly memory: ScheduleMemory;
  /** Earliest time of the next visit, ms since the epoch; never before `visit.now`. */
  readonly nextFetchAt: number;
  readonly terms: readonly ScheduleTerm[];
}

/**
 * Decides when a page is visited again. Pure: no clock, no randomness.
 * Bounds, the operator's fixed interval, failures and vanished pages are not its business: `settle` sees to them.
 */
export interface FetchSchedule {
  readonly name: string;
  /** Interval of a page that was never visited, ms. */
  readonly initialIntervalMs: number;
  onVisit(memory: ScheduleMemory, visit: ScheduleVisit): ScheduleDecision;
  /**
   * What visiting a page is worth `elapsedMs` after its last visit, page-days of freshness; the order in which a budget
   * is spent. `belief` is `null` before anything was learnt. A schedule without it leaves the order to scoring.
   */
  worth?(belief: ScheduleMemory['belief'], elapsedMs: number, weight: number): number;
}

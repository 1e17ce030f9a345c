import type { ScheduleMemory } from './datum.ts';

/** What a fetch schedule is told of a visit. */
export interface ScheduleVisit {
  /** Time of the visit, ms since the epoch. */
  readonly now: number;
  /** Time since the visit before, ms; `null` on the first. */
  readonly elapsedMs: number | null;
  readonly outcome: 'new' | 'modified' | 'unchanged';
  /** What told: the rung of the ladder of change; `distance` when signatures were compared. */
  readonly evidence: 'first' | 'conditional' | 'headers' | 'digest' | 'distance';
  /** Hamming distance, bits; `null` when there was nothing to compare. */
  readonly distance: number | null;
  /** Last time the page was found changed, ms since the epoch, this visit included. */
  readonly changedAt: number | null;
  /** `Last-Modified` of the answer, ms since the epoch. */
  readonly lastModifiedAt: number | null;
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
}

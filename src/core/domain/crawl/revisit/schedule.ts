import type { LearntChange } from '../change/change-belief.ts';
import type { ScheduleMemory } from '../states/datum.ts';

export type { ScheduleMemory } from '../states/datum.ts';

/** A visit, as a fetch schedule sees it. */
export interface ScheduleVisit {
  /** Time of the visit, ms since the epoch. */
  readonly now: number;
  /** Time since the previous visit, ms; `null` on the first. */
  readonly elapsedMs: number | null;
  readonly outcome: 'new' | 'modified' | 'unchanged';
  /**
   * Source of the outcome: the rung of the ladder of change; `distance` when signatures were compared; `resigned` when
   * the body changed and the old signature is of another algorithm, so that the size of the change is unknown;
   * `partial` when one of the two bodies was cut off in transfer, so that they say nothing about a change.
   */
  readonly evidence: 'first' | 'conditional' | 'headers' | 'digest' | 'distance' | 'resigned' | 'partial';
  /** Hamming distance, bits; `null` without signatures to compare. */
  readonly distance: number | null;
  /** Whether a part of the main content is another that does not always change. Default false. */
  readonly isContentOther?: boolean;
  /** Time of the last visit that found the page changed, ms since the epoch, this visit included. */
  readonly changedAt: number | null;
  /** `Last-Modified` of the answer, ms since the epoch. */
  readonly lastModifiedAt: number | null;
  /** Whether the headers of the host are trusted. Default true. */
  readonly isHostTrusted?: boolean;
  /** Importance of the page, 1 for an ordinary one. Default 1. */
  readonly weight?: number;
  /** Current price of a visit, stale days that it is to end; absent or `null` without a budget. */
  readonly price?: number | null;
  /** Substantive changes expected of pages like it, per ms. Default: by the initial interval. */
  readonly rate?: number;
  /** Factor about 1, by the URL: pages first fetched together do not come back together. Default 1. */
  readonly spread?: number;
  /** On the first visit: the interval until the second, as named by the seed, ms; absent or `null` without one. */
  readonly startIntervalMs?: number | null;
  /** The memory contains this visit already: only its arithmetic is wanted. Default false. */
  readonly isRepeated?: boolean;
}

/** Whether a visit shows if, and how much, the page has changed since the visit before. */
export function isTelling({ outcome, evidence }: Pick<ScheduleVisit, 'outcome' | 'evidence'>): boolean {
  return outcome !== 'new' && evidence !== 'resigned' && evidence !== 'partial';
}

/** One line of the arithmetic that `explain` prints, e.g. `{label: 'factor', value: 1.2, unit: ''}`. */
export interface ScheduleTerm {
  readonly label: string;
  readonly value: number | string;
  readonly unit?: 'ms' | 'bits' | '';
}

/** Answer to a visit. */
export interface ScheduleDecision {
  /** Kept with the page, for the next visit. */
  readonly memory: ScheduleMemory;
  /** Earliest time of the next visit, ms since the epoch; never before `visit.now`. */
  readonly nextFetchAt: number;
  /** The arithmetic, for `explain`. */
  readonly terms: readonly ScheduleTerm[];
  /** What the visit has shown of changes; absent where nothing was learnt from it. */
  readonly seen?: Omit<LearntChange, 'belief'>;
}

/**
 * Decides when a page is visited again. Pure: no clock, no randomness; arguments are frozen, answers synchronous.
 * Bounds, fixed intervals, failures and gone pages are handled by `settle`. An error ends the command with
 * `plugin-failed`.
 */
export interface FetchSchedule {
  /** Value of `schedule.name`, shown by `explain`. */
  readonly name: string;
  /** Interval of a page that was never visited, ms. */
  readonly initialIntervalMs: number;
  /** Called by updatedb for each visit that found the page, and by `explain`, `forecast`. */
  onVisit(memory: ScheduleMemory, visit: ScheduleVisit): ScheduleDecision;
  /**
   * Whether pages are due by the clock of their group, which what was seen of others moves: `memory.belief` is then
   * kept by `learnChange`, and `nextFetchAt` says when a page is looked at. Default false: a page is due at
   * `nextFetchAt`.
   */
  readonly goesByHazard?: boolean;
}

/** Time in a process whose parent decides how it goes on: `year-child.ts` and `year.ts` tell each other these. */

/** The process is about to sleep. */
export interface Sleep {
  readonly now: number;
  readonly ms: number;
}

/** It may wake: its clock was set by this much meanwhile, ms. */
export interface Wake {
  readonly setBy: number;
}

/** Shorter pauses are real ones, as between two requests to a host. */
export const STEPPED_MS = 1_000;

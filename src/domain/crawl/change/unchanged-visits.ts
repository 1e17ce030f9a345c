/** Visits that found a page unchanged, by the rung of the ladder of change. */
export interface UnchangedByRung {
  /** 304 answers. */
  readonly notModified: number;
  readonly skippedByHeaders: number;
  /** Equal bodies. */
  readonly unchanged: number;
}

export const unchangedVisits = ({ notModified, skippedByHeaders, unchanged }: UnchangedByRung): number =>
  notModified + skippedByHeaders + unchanged;

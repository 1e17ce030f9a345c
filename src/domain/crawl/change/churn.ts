/** Most visits that count for a part. */
export const MAX_CHURN = 15;
/** A part is volatile when it changed alone so many times more often than it stayed. */
export const VOLATILE_CHURN = 3;

/** What a visit found, as far as all parts go by it. */
export interface Finding {
  /** Whether a part that changed did so alone. */
  readonly isRestStill: boolean;
  /** `false`: the same body was parsed anew, so that a part that stayed says nothing. */
  readonly isVisit: boolean;
}

/** Churn of a part after a visit: how many visits found it changed alone, less those that found it unchanged. */
export function churnAfter(churn: number, isChanged: boolean, { isRestStill, isVisit }: Finding): number {
  if (isChanged) return isRestStill ? Math.min(MAX_CHURN, churn + 1) : churn;
  return isVisit ? Math.max(0, churn - 1) : churn;
}

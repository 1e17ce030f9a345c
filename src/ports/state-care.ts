import type { Finding } from '../domain/findings.ts';

export type Report = (finding: Finding) => void;

/** How much was looked at. */
export interface RowCounts {
  readonly records: number;
  readonly due: number;
  readonly leases: number;
  readonly links: number;
  readonly hosts: number;
  readonly segments: number;
  /** Entries of the change feed. */
  readonly changes: number;
}

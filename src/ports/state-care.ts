import type { Finding } from '../domain/findings.ts';

export type Report = (finding: Finding) => void;

/** Rows checked, by kind. */
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

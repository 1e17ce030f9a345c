import type { Config } from '../../core/config/schema.ts';
import type { Finding, FindingKind } from '../../core/domain/findings.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { RowCounts } from '../../core/ports/crawl-db.ts';
import type { Log } from '../../core/ports/log.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';

export interface StateCareOptions {
  readonly config: Config;
  /** State directory; it must exist. */
  readonly dir: string;
  readonly log: Log;
  readonly clock?: Clock;
  /** Also check every stored response against its digest. */
  readonly deep?: boolean;
  readonly onWork?: OnWork;
}

export interface VerifySummary {
  readonly sound: boolean;
  /** `null` when the crawl db cannot be read. */
  readonly rows: RowCounts | null;
  readonly segments: number;
  readonly byKind: Readonly<Partial<Record<FindingKind, number>>>;
  /** The first of each kind. */
  readonly findings: readonly Finding[];
}

export interface RepairSummary {
  readonly found: Readonly<Partial<Record<FindingKind, number>>>;
  /** Records in the crawl db; `null` when there is no crawl db. */
  readonly records: number | null;
  readonly quarantinedRows: number;
  readonly leasesEnded: number;
  /** Whether LevelDB had to rebuild its own files. */
  readonly rebuilt: boolean;
  readonly segments: readonly { readonly id: string; readonly pagesLost: number | null }[];
  /** Pages whose stored response was lost, and that are due, to be fetched whole. */
  readonly pagesDue: number;
  /** Folder with copies of all that was taken out; exists only when something was. */
  readonly quarantine: string;
  /** Result of a verification afterwards. */
  readonly left: VerifySummary;
}

import type { CrawlDatum, CrawlState } from '../domain/crawl/states/datum.ts';
import type { SettlePolicy } from '../domain/crawl/states/settle.ts';
import { reasonOfCode, type SkipReason } from '../domain/crawl/states/skip-reasons.ts';
import type { CrawlDb } from '../ports/crawl-db.ts';
import type { ReadMeter } from '../ports/record-indexes.ts';
import type { OnWork } from '../ports/work-progress.ts';
import { bringForward } from './bring-forward.ts';
import { READING_RECORDS, workMeter } from './work-meter.ts';

/** Conditions narrow each other down. */
export interface RetryQuery {
  /** Without it: those whose last visit failed or was refused, and those that are gone. */
  readonly state?: CrawlState;
  readonly reasons?: readonly SkipReason[];
  readonly host?: string;
  readonly limit?: number;
  readonly dryRun?: boolean;
}

export interface RetrySummary {
  readonly matched: number;
  /** URLs that are due now, and were not before. */
  readonly broughtForward: number;
  /** URLs that were due already, or are in a segment at this moment. */
  readonly unmoved: number;
  /** URLs that match, by the reason of their last failure; `none`: the last visit did not fail. */
  readonly byReason: Readonly<Record<string, number>>;
  readonly dryRun: boolean;
  /** As in {@link TouchSummary}. */
  readonly partitions?: number;
}

export interface RetryDeps {
  readonly db: CrawlDb;
  readonly policy: SettlePolicy;
  /** Ms since the epoch. */
  readonly now: number;
  readonly onWork?: OnWork;
}

/**
 * Makes URLs due now that failed, were refused or are gone. Failures so far still count: a URL that fails again waits
 * longer than before. URLs in a segment are left to their visit.
 */
export async function retry(
  { db, policy, now, onWork }: RetryDeps,
  query: RetryQuery,
  onUrl: (url: string, reason: SkipReason | null) => void = () => {},
): Promise<RetrySummary> {
  const { dryRun = false, limit = Number.POSITIVE_INFINITY } = query;
  const byReason: Record<string, number> = {};
  let matched = 0;
  const chosen = async function* (): AsyncGenerator<CrawlDatum> {
    for await (const datum of candidates(db, query, workMeter(onWork, READING_RECORDS))) {
      const reason = reasonFor(datum);
      if (query.reasons !== undefined && (reason === null || !query.reasons.includes(reason))) continue;
      if (matched >= limit) return;
      matched++;
      byReason[reason ?? 'none'] = (byReason[reason ?? 'none'] ?? 0) + 1;
      onUrl(datum.url, reason);
      yield datum;
    }
  };
  const { moved, unmoved } = await bringForward({ db, policy }, chosen(), { at: now, by: 'retry', dryRun });
  return { matched, broughtForward: moved, unmoved, byReason, dryRun };
}

/** Why the last visit brought no page; `null` when it did, or when there was none. */
export function reasonFor({ lastError, state }: CrawlDatum): SkipReason | null {
  if (lastError !== null) return reasonOfCode(lastError.code);
  return state === 'gone' ? 'gone' : null;
}

/** Records that may match, by an index where there is one: refusals have none, so they take a pass over all records. */
async function* candidates(
  db: CrawlDb,
  { state, host, reasons }: RetryQuery,
  meter: ReadMeter,
): AsyncGenerator<CrawlDatum> {
  const where = { ...(host === undefined ? {} : { host }), meter };
  const only = state ?? stateOf(reasons);
  if (only !== undefined) {
    yield* db.scan({ ...where, state: only });
    return;
  }
  for await (const datum of db.scan(where)) {
    if (reasonFor(datum) !== null && datum.state !== 'orphan') yield datum;
  }
}

/** The state in which all records with these reasons are. */
function stateOf(reasons: RetryQuery['reasons']): CrawlState | undefined {
  if (reasons === undefined || reasons.length === 0) return undefined;
  return reasons.every((reason) => reason === 'gone') ? 'gone' : undefined;
}

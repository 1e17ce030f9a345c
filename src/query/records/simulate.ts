import type { SettlePolicy } from '../../core/domain/crawl/revisit/next-visit.ts';
import { accountOfVisits, type ReplayAccount, replayVisits } from '../../core/domain/crawl/revisit/replay.ts';
import type { FetchSchedule } from '../../core/domain/crawl/revisit/schedule.ts';
import { DAY_MS } from '../../core/domain/time.ts';
import type { CrawlDb, ScanQuery } from '../../core/ports/crawl-db.ts';

/** Sums over all pages with at least two stored visits. Times in days. */
export interface ReplayTotals {
  readonly schedule: string;
  readonly fetches: number;
  readonly changesFound: number;
  readonly changes: number;
  readonly staleDays: number;
  /** Share of page-days on which the stored copy lacked a change. */
  readonly staleShare: number;
  readonly bytes: number;
}

export interface SimulateSummary {
  readonly pages: number;
  /** Pages without enough visits to replay. */
  readonly skipped: number;
  readonly pageDays: number;
  readonly stored: ReplayTotals;
  readonly replayed: readonly ReplayTotals[];
}

interface Sum {
  fetches: number;
  found: number;
  changes: number;
  staleMs: number;
  spanMs: number;
  bytes: number;
}
const noSum = (): Sum => ({ fetches: 0, found: 0, changes: 0, staleMs: 0, spanMs: 0, bytes: 0 });

/** Replays the stored visits of the records with other schedules, beside the visits as they happened. */
export async function simulateSchedules(
  db: CrawlDb,
  schedules: readonly FetchSchedule[],
  policy: SettlePolicy,
  query: ScanQuery = {},
): Promise<SimulateSummary> {
  const stored = noSum();
  const replayed = schedules.map(noSum);
  let pages = 0;
  let skipped = 0;
  for await (const datum of db.scan(query)) {
    const real = accountOfVisits(datum);
    if (real === null) {
      skipped++;
      continue;
    }
    pages++;
    add(stored, real);
    for (const [i, schedule] of schedules.entries())
      add(replayed[i] as Sum, replayVisits(datum, { ...policy, schedule }) ?? real);
  }
  return {
    pages,
    skipped,
    pageDays: round(stored.spanMs / DAY_MS),
    stored: totals('stored', stored),
    replayed: schedules.map((schedule, i) => totals(schedule.name, replayed[i] as Sum)),
  };
}

function add(sum: Sum, account: ReplayAccount): void {
  for (const key of Object.keys(sum) as (keyof Sum)[]) sum[key] += account[key];
}

function totals(schedule: string, sum: Sum): ReplayTotals {
  return {
    schedule,
    fetches: sum.fetches,
    changesFound: sum.found,
    changes: sum.changes,
    staleDays: round(sum.staleMs / DAY_MS),
    staleShare: sum.spanMs === 0 ? 0 : round(sum.staleMs / sum.spanMs, 4),
    bytes: sum.bytes,
  };
}

const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

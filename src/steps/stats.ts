import { type ChangeBelief, chanceFresh, expectedPeriodMs } from '../domain/crawl/change-belief.ts';
import { hostOf } from '../domain/url/url-key.ts';
import type { CrawlDb, StateCounts } from '../ports/crawl-db.ts';
import { seconds } from './views.ts';

export interface DbStats {
  readonly urls: number;
  readonly byStatus: StateCounts;
  /** URLs that generate would look at now. */
  readonly due: number;
  /** Of those, the ones that have been waiting for more than a day. */
  readonly overdue: number;
  /** URLs in a segment that is not applied yet. */
  readonly leased: number;
  readonly hosts: number;
  /** Revisit intervals in seconds, of all URLs that have a next visit; `null` without any. */
  readonly interval: { readonly min: number; readonly p50: number; readonly p95: number; readonly max: number } | null;
  /** Of the pages of whose change something was learnt; `null` without any. */
  readonly freshness: {
    readonly pages: number;
    /** Expected share of copies that lack no major change now. */
    readonly fresh: number;
    /** Major changes expected a day, over all of them. */
    readonly changesPerDay: number;
    /** Pages by the believed time between two major changes. */
    readonly periods: readonly { readonly upToDays: number | null; readonly pages: number }[];
  } | null;
  /** How long due pages have been waiting, seconds; `null` when none is due. */
  readonly waiting: { readonly p50: number; readonly p95: number; readonly max: number } | null;
  /** Pages to come back to that fall due on each of the next 14 days, what is due already on the first. */
  readonly dueByDay: readonly number[];
}

const DAY = 86_400_000;

const PERIOD_DAYS = [1, 7, 30, 90, 365];
const DAYS_AHEAD = 14;

/** Counts come from counters; the rest from one pass over the due index, which holds no records. */
export async function statsOf(db: CrawlDb, now: number): Promise<DbStats> {
  const counters = await db.counters();
  const intervals = new Growing();
  const waits = new Growing();
  const dueByDay = new Array<number>(DAYS_AHEAD).fill(0);
  const periods = new Array<number>(PERIOD_DAYS.length + 1).fill(0);
  let [due, overdue, believed, fresh, rate] = [0, 0, 0, 0, 0];
  for await (const entry of db.due({ until: Number.MAX_SAFE_INTEGER })) {
    intervals.add(entry.intervalMs);
    const waitMs = now - entry.dueAt;
    if (waitMs >= 0) due++;
    if (waitMs >= DAY) overdue++;
    if (entry.isNew) continue;
    if (waitMs >= 0) waits.add(waitMs);
    const day = Math.max(0, Math.floor(-waitMs / DAY));
    if (day < DAYS_AHEAD) dueByDay[day] = (dueByDay[day] ?? 0) + 1;
    if (entry.belief === null || entry.lastFetchAt === null || entry.state === 'gone') continue;
    believed++;
    fresh += chanceFresh(entry.belief, now - entry.lastFetchAt);
    rate += DAY / expectedPeriodMs(entry.belief);
    const bucket = PERIOD_DAYS.findIndex((days) => expectedPeriodMs(entry.belief as ChangeBelief) <= days * DAY);
    periods[bucket < 0 ? PERIOD_DAYS.length : bucket]!++;
  }
  const spread = intervals.sorted();
  const waiting = waits.sorted();
  return {
    urls: counters.urls,
    byStatus: counters.byState,
    due,
    overdue,
    leased: counters.leased,
    hosts: counters.hosts,
    interval:
      spread.length === 0
        ? null
        : { min: at(spread, 0), p50: at(spread, 0.5), p95: at(spread, 0.95), max: at(spread, 1) },
    freshness:
      believed === 0
        ? null
        : {
            pages: believed,
            fresh: Number((fresh / believed).toFixed(4)),
            changesPerDay: Number(rate.toFixed(1)),
            periods: periods.map((pages, i) => ({ upToDays: PERIOD_DAYS[i] ?? null, pages })),
          },
    waiting: waiting.length === 0 ? null : { p50: at(waiting, 0.5), p95: at(waiting, 0.95), max: at(waiting, 1) },
    dueByDay,
  };
}

const at = (sorted: Float64Array, share: number): number =>
  seconds(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);

/** Numbers whose count is not known before, eight bytes each. */
class Growing {
  private values = new Float64Array(1_024);
  private count = 0;

  add(value: number): void {
    if (this.count === this.values.length) {
      const larger = new Float64Array(2 * this.count);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.count++] = value;
  }

  sorted(): Float64Array {
    return this.values.subarray(0, this.count).sort();
  }
}

/** Major changes a day that are expected of each host's pages, by what is believed of them; hosts of which nothing is known are absent. */
export async function changesPerDay(db: CrawlDb): Promise<ReadonlyMap<string, number>> {
  const rates = new Map<string, number>();
  for await (const { url, belief, state } of db.due({ until: Number.MAX_SAFE_INTEGER, only: 'known' })) {
    if (belief === null || state === 'gone') continue;
    const host = hostOf(url);
    rates.set(host, (rates.get(host) ?? 0) + DAY / expectedPeriodMs(belief));
  }
  return rates;
}

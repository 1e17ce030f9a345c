import { DAY_MS } from '../../domain/time.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import type { OnWork } from '../../ports/work-progress.ts';
import { READING_DUE, workMeter } from '../work-meter.ts';

export interface PlanDay {
  /** From 0: the next 24 hours. */
  readonly day: number;
  readonly from: string;
  /** Visits to known pages that fall due on the day. */
  readonly due: number;
  readonly newUrls: number;
  /** Fetches that the budget allows; all without one. */
  readonly fetches: number;
  /** Visits left over for the next day. */
  readonly waiting: number;
}

export interface PlanSummary {
  readonly days: readonly PlanDay[];
  /** Mean visits a day that the intervals of the pages require, without new URLs. */
  readonly needPerDay: number;
  /** `null`: no budget. */
  readonly budgetPerDay: number | null;
  /** Hosts with the most visits ahead, and how many. */
  readonly hosts: readonly { readonly host: string; readonly visits: number }[];
}

const MAX_HOSTS = 50;

/**
 * Forecast of the next days: each page when it is due and then at its interval, new URLs at once. Reads the due index
 * once. Visits beyond the budget of a day wait for the next. New links and changes of intervals are not foreseen.
 */
export async function planAhead(
  db: CrawlDb,
  options: {
    readonly now: number;
    readonly days: number;
    readonly budgetPerDay: number;
    readonly onWork?: OnWork | undefined;
  },
): Promise<PlanSummary> {
  const { now, days, budgetPerDay, onWork } = options;
  const meter = workMeter(onWork, READING_DUE);
  const end = now + days * DAY_MS;
  const due = new Float64Array(days);
  const perHost = new Map<string, number>();
  let newUrls = 0;
  let rate = 0;
  const expect = (url: string, visits: number): void => {
    const host = hostOf(url);
    perHost.set(host, (perHost.get(host) ?? 0) + visits);
  };
  for await (const entry of db.due({ until: end, only: 'new', meter })) {
    newUrls++;
    expect(entry.url, 1);
  }
  // All of them, for the mean need; one pass.
  for await (const entry of db.due({ until: Number.MAX_SAFE_INTEGER, only: 'known', meter })) {
    // A page that fails or is gone counts once: its next interval depends on the answer.
    const again =
      entry.failures === 0 && entry.state !== 'gone' ? Math.max(entry.intervalMs, 1_000) : Number.POSITIVE_INFINITY;
    rate += DAY_MS / again;
    let visits = 0;
    for (let at = Math.max(entry.dueAt, now); at < end; at += again) {
      const day = Math.min(days - 1, Math.floor((at - now) / DAY_MS));
      due[day] = (due[day] ?? 0) + 1;
      visits++;
    }
    if (visits > 0) expect(entry.url, visits);
  }
  let waiting = 0;
  const plan = [...due].map((visits, day): PlanDay => {
    const fresh = day === 0 ? newUrls : 0;
    const wanted = waiting + visits + fresh;
    const fetches = budgetPerDay > 0 ? Math.min(budgetPerDay, wanted) : wanted;
    waiting = wanted - fetches;
    return { day, from: new Date(now + day * DAY_MS).toISOString(), due: visits, newUrls: fresh, fetches, waiting };
  });
  const hosts = [...perHost].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, MAX_HOSTS);
  return {
    days: plan,
    needPerDay: Math.round(rate * 10) / 10,
    budgetPerDay: budgetPerDay > 0 ? budgetPerDay : null,
    hosts: hosts.map(([host, visits]) => ({ host, visits })),
  };
}

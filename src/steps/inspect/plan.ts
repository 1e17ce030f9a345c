import { expectedInterval } from '../../domain/crawl/revisit/due.ts';
import { hourOf } from '../../domain/crawl/states/histogram-buckets.ts';
import { DAY_MS } from '../../domain/time.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import type { OnWork } from '../../ports/work-progress.ts';
import { READING_DUE, workMeter } from '../work-meter.ts';
import { entriesOf } from './spread-stats.ts';

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

type PlanDb = Pick<CrawlDb, 'due' | 'spread' | 'counters' | 'hosts' | 'scanLeases' | 'getMany'>;

/**
 * Forecast of the next days: each page when it is due and then at its interval, new URLs at once. Reads what is due in
 * these days; the rest comes from counters. Visits beyond the budget of a day wait for the next. New links and changes
 * of intervals, and what pages of a folder show of others, are not foreseen.
 */
export async function planAhead(
  db: PlanDb,
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
  const unfetched = new Map<string, number>();
  for await (const entry of db.due({ until: end, only: 'known', meter })) {
    const again = expectedInterval(entry);
    const host = hostOf(entry.url);
    if (entry.state === 'unfetched') add(unfetched, host, 1);
    let visits = 0;
    for (let at = Math.max(entry.dueAt, now); at < end; at += again) {
      const day = Math.min(days - 1, Math.floor((at - now) / DAY_MS));
      due[day] = (due[day] ?? 0) + 1;
      visits++;
    }
    if (visits > 0) add(perHost, host, visits);
  }
  const fresh = await newUrlsByHost(db, unfetched, end);
  let newUrls = 0;
  for (const [host, count] of fresh) {
    add(perHost, host, count);
    newUrls += count;
  }
  let waiting = 0;
  const plan = [...due].map((visits, day): PlanDay => {
    const atOnce = day === 0 ? newUrls : 0;
    const wanted = waiting + visits + atOnce;
    const fetches = budgetPerDay > 0 ? Math.min(budgetPerDay, wanted) : wanted;
    waiting = wanted - fetches;
    return { day, from: new Date(now + day * DAY_MS).toISOString(), due: visits, newUrls: atOnce, fetches, waiting };
  });
  const hosts = [...perHost].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, MAX_HOSTS);
  return {
    days: plan,
    needPerDay: Math.round((await db.spread()).visitsPerDay * 10) / 10,
    budgetPerDay: budgetPerDay > 0 ? budgetPerDay : null,
    hosts: hosts.map(([host, visits]) => ({ host, visits })),
  };
}

/**
 * New URLs by host. They are the unfetched URLs of the counts but for those with a failed visit, which are among the
 * known pages, and those in a segment. Where these do not explain the difference, the due index of new URLs is read.
 * @param failed unfetched URLs by host that are known pages, due until `end`
 */
async function newUrlsByHost(
  db: PlanDb,
  failed: ReadonlyMap<string, number>,
  end: number,
): Promise<Map<string, number>> {
  const { byState, leased } = await db.counters();
  const { dueNew } = await db.spread();
  const other = new Map(failed);
  if (leased > 0) await addLeased(db, other);
  const isAccountedFor = (byState.unfetched ?? 0) === entriesOf(dueNew) + entriesOf(other);
  const fresh = new Map<string, number>();
  if (isAccountedFor && Math.max(...dueNew.keys()) <= hourOf(end)) {
    for await (const { host, byState } of db.hosts()) {
      const count = (byState.unfetched ?? 0) - (other.get(host) ?? 0);
      if (count > 0) fresh.set(host, count);
    }
  } else {
    for await (const { url } of db.due({ until: end, only: 'new' })) add(fresh, hostOf(url), 1);
  }
  return fresh;
}

/** Leases whose records are looked up at a time. */
const WINDOW = 1_000;

async function addLeased(db: PlanDb, counts: Map<string, number>): Promise<void> {
  let urls: string[] = [];
  const look = async (): Promise<void> => {
    for (const datum of await db.getMany(urls)) if (datum?.state === 'unfetched') add(counts, hostOf(datum.url), 1);
    urls = [];
  };
  for await (const { url } of db.scanLeases()) {
    urls.push(url);
    if (urls.length >= WINDOW) await look();
  }
  await look();
}

function add(counts: Map<string, number>, host: string, count: number): void {
  counts.set(host, (counts.get(host) ?? 0) + count);
}

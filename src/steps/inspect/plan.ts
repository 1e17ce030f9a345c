import type { SettlePolicy } from '../../domain/crawl/revisit/next-visit.ts';
import { hourOf } from '../../domain/crawl/states/histogram-buckets.ts';
import { DAY_MS } from '../../domain/time.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import type { OnWork } from '../../ports/work-progress.ts';
import type { NewSettings } from '../generate/settings-in-force.ts';
import { READING_DUE, workMeter } from '../work-meter.ts';
import { dueBySettings } from './due-by-settings.ts';
import { entriesOf } from './spread-stats.ts';
import { visitsAhead } from './visits-ahead.ts';

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

type PlanDb = Pick<
  CrawlDb,
  'due' | 'dueOfGroup' | 'spread' | 'counters' | 'hosts' | 'scanLeases' | 'get' | 'getMany' | 'meta' | 'hostRows'
>;

/**
 * Forecast of the next days: each page when `generate` would select it ({@link visitsAhead}) and then at its interval,
 * new URLs at once. Reads what is due in these days, and all known pages where there are new settings; the rest comes
 * from counters. Visits beyond the budget of a day wait for the next. New links and changes, and what pages of a folder
 * will show of others, are not foreseen.
 */
export async function planAhead(
  db: PlanDb,
  options: {
    readonly now: number;
    readonly days: number;
    readonly budgetPerDay: number;
    readonly policy: SettlePolicy;
    /** As in {@link DueBySettings}. */
    readonly settings?: NewSettings | null;
    readonly onWork?: OnWork | undefined;
  },
): Promise<PlanSummary> {
  const { now, days, budgetPerDay, policy, settings = null, onWork } = options;
  const meter = workMeter(onWork, READING_DUE);
  const end = now + days * DAY_MS;
  const due = new Float64Array(days);
  const perHost = new Map<string, number>();
  const unfetched = new Map<string, number>();
  const entries =
    settings === null
      ? db.due({ until: end, only: 'known', meter })
      : dueBySettings(db, { now, settings, only: 'known', meter });
  // Under a budget the candidates compete, whenever they are due by their groups.
  const goesByHazard = policy.schedule.goesByHazard === true && budgetPerDay === 0;
  const schedule = { ...policy.schedule, goesByHazard };
  for await (const { url, state, at: first, again } of visitsAhead(
    db,
    { ...policy, schedule },
    { now, end, entries },
  )) {
    const host = hostOf(url);
    if (state === 'unfetched' && first <= end) add(unfetched, host, 1);
    let visits = 0;
    for (let at = Math.max(first, now); at < end; at += again) {
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

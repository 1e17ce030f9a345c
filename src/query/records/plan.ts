import { NO_BELIEF, needMs } from '../../core/domain/crawl/change/change-belief.ts';
import { dueDecision } from '../../core/domain/crawl/hazard/due-decision.ts';
import { groupOf, hotGroups } from '../../core/domain/crawl/hazard/expectation.ts';
import {
  clamp,
  expectedInterval,
  isDueByHazard,
  type SettlePolicy,
  spreadOf,
} from '../../core/domain/crawl/revisit/next-visit.ts';
import { hourOf } from '../../core/domain/crawl/states/host-traffic.ts';
import { DAY_MS } from '../../core/domain/time.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import type { CrawlDb, DueEntry } from '../../core/ports/crawl-db.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import { openExpectations } from '../../core/steps/facts/expected-changes.ts';
import { openWatchedHosts } from '../../core/steps/facts/host-observations.ts';
import { aheadOf, openRuns } from '../../core/steps/facts/touched-urls.ts';
import { isBroughtForward, KnownExpectations } from '../../core/steps/generate/hazard-due.ts';
import { boundsReader, type NewSettings } from '../../core/steps/generate/settings-in-force.ts';
import { dueBySettings, entriesOf } from '../../core/steps/records/stats.ts';
import { READING_DUE, workMeter } from '../../core/steps/work-meter.ts';

/** A known page with its next visit, ms since the epoch, and the time between its later visits, ms. */
interface VisitAhead {
  readonly url: string;
  readonly state: DueEntry['state'];
  readonly at: number;
  readonly again: number;
}

type AheadDb = Pick<CrawlDb, 'due' | 'dueOfGroup' | 'meta' | 'hostRows' | 'get'>;

/** Maximum number of pages of a group that are read ahead of the forecast. */
const MOST_OF_GROUP = 1_000;

interface AheadTerms {
  readonly now: number;
  readonly end: number;
  /** Known pages, in any order; those due after the end may be among them. */
  readonly entries: AsyncIterable<DueEntry>;
}

/**
 * The visits to known pages that `generate` would select if nothing were found from now on. A page of a quiet group
 * waits; a page of a group that has changed is visited early.
 */
async function* visitsAhead(
  db: AheadDb,
  policy: SettlePolicy,
  { now, end, entries }: AheadTerms,
): AsyncGenerator<VisitAhead> {
  const expectations = await openExpectations(db, policy.schedule, now);
  if (expectations === null) {
    for await (const entry of entries) yield asStored(entry);
    return;
  }
  const known = new KnownExpectations(db, expectations);
  const boundsOf = boundsReader(db, policy);
  const runs = await openRuns(db);
  const terms = { aheadMs: runs === null ? 0 : aheadOf(runs) };
  const hot = await hotOf(db, known, now, policy.maxIntervalMs);
  const isHot = ({ url }: DueEntry): boolean => hot.get(hostOf(url))?.has(groupOf(url)) ?? false;
  const ahead = async (entry: DueEntry): Promise<VisitAhead> => {
    if (!isDueByHazard(entry) || isBroughtForward(entry)) return asStored(entry);
    const { url, state, dueAt, belief, weight } = entry;
    const lastFetchAt = entry.lastFetchAt as number;
    const bounds = await boundsOf(url);
    // Before its due time, generate selects a page only if its group has changed.
    const lookAt = isHot(entry) ? now : Math.max(now, dueAt);
    const expected = known.ofPage(url, lastFetchAt, lookAt);
    const page = { belief, weight, lastFetchAt, spread: spreadOf(url) };
    const { due, waitUntil } = dueDecision(page, expected, { ...bounds, ...terms, now: lookAt });
    const interval = needMs(belief ?? NO_BELIEF, expected.rate, weight) * page.spread;
    const again = clamp(interval, bounds.minIntervalMs, bounds.maxIntervalMs);
    return { url, state, at: due === null ? waitUntil : lookAt, again };
  };
  for await (const window of known.windows(entries)) for (const entry of window) yield await ahead(entry);
  for (const [host, groups] of hot) {
    for (const [group, gainMs] of groups) {
      for (const entry of await db.dueOfGroup({ host, group, after: end, limit: MOST_OF_GROUP })) {
        if (entry.dueAt > end + gainMs) break;
        yield await ahead(entry);
      }
    }
  }
}

const asStored = (entry: DueEntry): VisitAhead => ({
  ...{ url: entry.url, state: entry.state, at: entry.dueAt, again: expectedInterval(entry) },
});

/** Groups whose clocks are ahead of the calendar, by host, with the largest lead, ms. */
async function hotOf(
  db: AheadDb,
  known: KnownExpectations,
  now: number,
  maxIntervalMs: number,
): Promise<ReadonlyMap<string, ReadonlyMap<number, number>>> {
  const hosts = [...(await openWatchedHosts(db))].flatMap(([host, { isHot }]) => (isHot ? [host] : []));
  await known.read(hosts);
  return new Map(hosts.map((host) => [host, hotGroups(known.of(host), now - maxIntervalMs)]));
}

interface PlanDay {
  /** From 0: the next 24 hours. */
  readonly day: number;
  readonly from: string;
  /** Visits to known pages that fall due on the day. */
  readonly due: number;
  readonly newUrls: number;
  /** Fetches that the budget allows; without a budget, all. */
  readonly fetches: number;
  /** Visits left over for the next day. */
  readonly waiting: number;
}

export interface PlanSummary {
  readonly days: readonly PlanDay[];
  /** Mean visits per day that the intervals of the pages require, without new URLs. */
  readonly needPerDay: number;
  /** `null`: no budget. */
  readonly budgetPerDay: number | null;
  /** Hosts with the most visits to come, and how many. */
  readonly hosts: readonly { readonly host: string; readonly visits: number }[];
}

const MAX_HOSTS = 50;

type PlanDb = Pick<
  CrawlDb,
  'due' | 'dueOfGroup' | 'spread' | 'counters' | 'hosts' | 'scanLeases' | 'get' | 'getMany' | 'meta' | 'hostRows'
>;

/**
 * Forecast of the next days: each page when `generate` would select it ({@link visitsAhead}) and then at its interval;
 * new URLs at once. Reads what is due in these days, and all known pages if there are new settings; the rest comes from
 * counters. Visits beyond the budget of a day wait for the next day. New links, changes, and what pages of a folder
 * will reveal about others are not foreseen.
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
  // Under a budget all candidates compete, whenever their groups make them due.
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
 * New URLs by host: the unfetched URLs of the counts, except those in a segment and those with a failed visit, which
 * are among the known pages. If these do not explain the difference, the due index of new URLs is read.
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

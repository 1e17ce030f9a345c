import {
  type ChangeGamma,
  chanceWithin,
  changeGamma,
  expectedPeriodMs,
  NO_BELIEF,
} from '../../domain/crawl/change/change-belief.ts';
import { groupOf, type HostExpectation, meanRateOfGroup } from '../../domain/crawl/hazard/expectation.ts';
import { hazardBetween } from '../../domain/crawl/hazard/host-clock.ts';
import { dueFacts, isLive } from '../../domain/crawl/revisit/next-visit.ts';
import { hourOf, intervalOfBucket, startOfHour } from '../../domain/crawl/states/host-traffic.ts';
import { DAY_MS, seconds } from '../../domain/time.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { CrawlDb, DueEntry, ReadMeter, Spread, StateCounts } from '../../ports/crawl-db.ts';
import type { OnWork } from '../../ports/work-progress.ts';
import { openExpectedSoFar } from '../facts/expected-changes.ts';
import { MOST_MOVED, type NewSettings } from '../generate/settings-in-force.ts';
import { READING_DUE, workMeter } from '../work-meter.ts';

/** What is estimated of one page. */
interface PageEstimate {
  /** Probability that its copy lacks no substantive change. */
  readonly fresh: number;
  /** Time between two substantive changes, ms. */
  readonly periodMs: number;
}

/**
 * Estimates by the mean rates of the pages around. Decisions go by rates weighted by time only; in a figure each page
 * counts for itself.
 */
interface PageEstimates {
  /** `null`: not a page that has been fetched. */
  of(entry: DueEntry): Promise<PageEstimate | null>;
}

/** `null`: no schedule with a belief has run. */
async function openPageEstimates(db: Pick<CrawlDb, 'meta' | 'hostRows'>, now: number): Promise<PageEstimates | null> {
  const expectations = await openExpectedSoFar(db, now);
  if (expectations === null) return null;
  const hosts = new Map<string, HostExpectation>();
  const hostExpected = async (host: string): Promise<HostExpectation> => {
    const known = hosts.get(host);
    if (known !== undefined) return known;
    if (hosts.size >= MAX_HOSTS) hosts.clear();
    const [row] = await db.hostRows([host]);
    const expected = expectations(row?.facts);
    hosts.set(host, expected);
    return expected;
  };
  return {
    async of(entry) {
      const { url, lastFetchAt, belief } = entry;
      if (!isLive(entry) || lastFetchAt === null) return null;
      const expected = await hostExpected(hostOf(url));
      const group = groupOf(url);
      const gamma = changeGamma(belief ?? NO_BELIEF, meanRateOfGroup(expected, group, now), now - lastFetchAt);
      return estimateOf(gamma, hazardBetween(expected.clock, group, lastFetchAt, now));
    },
  };
}

/** Hosts remembered: a clock has up to 6 KB. */
const MAX_HOSTS = 5_000;

const estimateOf = (gamma: ChangeGamma, hazardMs: number): PageEstimate => ({
  fresh: 1 - chanceWithin(gamma, hazardMs),
  periodMs: expectedPeriodMs(gamma),
});

export interface DbStats extends SpreadView {
  readonly urls: number;
  readonly byStatus: StateCounts;
  /** URLs that are due now. */
  readonly due: number;
  /** URLs that have been due for more than a day. */
  readonly overdue: number;
  /** URLs in a segment that is not applied yet. */
  readonly leased: number;
  readonly hosts: number;
  /** Revisit intervals in seconds, of all URLs that have a next visit; `null` without any. */
  readonly interval: { readonly min: number; readonly p50: number; readonly p95: number; readonly max: number } | null;
  /** Of the pages with an estimated rate of change; `null` without any. */
  readonly freshness: {
    readonly pages: number;
    /** Expected share of copies that lack no substantive change now. */
    readonly fresh: number;
    /** Substantive changes expected a day, over all of them. */
    readonly changesPerDay: number;
    /** Pages by the estimated time between two substantive changes. */
    readonly periods: readonly { readonly upToDays: number | null; readonly pages: number }[];
  } | null;
  /** How long due pages have been waiting, seconds; `null` when none is due. */
  readonly waiting: { readonly p50: number; readonly p95: number; readonly max: number } | null;
  /** URLs that fall due on each of the next 14 days; those that are due by now, also unfetched ones, on the first. */
  readonly dueByDay: readonly number[];
  /**
   * Whether times come from counters by the hour and by eighths of an octave (4.5 %), without freshness, so that the
   * answer needs no pass over the due index.
   */
  readonly estimated: boolean;
}

const PERIOD_DAYS = [1, 7, 30, 90, 365];
const DAYS_AHEAD = 14;

type StatsDb = Pick<CrawlDb, 'counters' | 'spread' | 'due' | 'meta' | 'hostRows'>;

interface StatsOptions {
  /** Reads the due index, however large it is. */
  readonly full?: boolean | undefined;
  /** As in {@link DueBySettings}: where the due index is read. */
  readonly settings?: NewSettings | null;
  readonly onWork?: OnWork | undefined;
}

/** Size up to which the due index is always read: that takes some milliseconds. */
const FEW_ENTRIES = 20_000;

/**
 * Counts come from counters. Exact quantiles and freshness depend on each page's own times and take one pass over the
 * due index, which holds no records; a large one is read only when `full`.
 */
export async function statsOf(
  db: StatsDb,
  now: number,
  { full = false, settings = null, onWork }: StatsOptions = {},
): Promise<DbStats> {
  const { urls, byState: byStatus, leased, hosts } = await db.counters();
  const spread = await db.spread();
  const isRead = full || isSmall(spread);
  const times = isRead ? await readTimes(db, now, settings, onWork) : estimatedTimes(spread, now);
  const { due, overdue, interval, freshness, waiting, dueByDay } = times;
  const counts = { urls, byStatus, due, overdue, leased, hosts };
  return { ...counts, interval, freshness, waiting, dueByDay, ...spreadView(spread), estimated: !isRead };
}

const isSmall = ({ dueKnown, dueNew }: Spread): boolean => entriesOf(dueKnown) + entriesOf(dueNew) <= FEW_ENTRIES;

/** Whether an answer reads the whole due index. */
export async function isDueIndexRead(db: CrawlDb, full: boolean): Promise<boolean> {
  return full || isSmall(await db.spread());
}

/** URLs that are due now: exact in a small crawl db, by counters of each hour in a large one. */
export async function dueNow(db: Pick<CrawlDb, 'spread' | 'countDue'>, now: number): Promise<number> {
  const spread = await db.spread();
  return isSmall(spread) ? db.countDue(now) : countedDue(spread, now);
}

/** New URLs are due from the moment they are found, so all of those of the current hour are due. */
const countedDue = ({ dueKnown, dueNew }: Spread, now: number): number =>
  dueBy(dueKnown, now) + dueBy(dueNew, startOfHour(hourOf(now) + 1));

type Times = Pick<DbStats, 'due' | 'overdue' | 'interval' | 'freshness' | 'waiting' | 'dueByDay'>;

function estimatedTimes(spread: Spread, now: number): Times {
  const { byInterval, dueKnown, dueNew } = spread;
  /** Due by the end of this day from now. */
  const dueUntil = (day: number): number => {
    const end = now + (day + 1) * DAY_MS;
    return dueBy(dueKnown, end) + dueBy(dueNew, end);
  };
  const dueByDay = Array.from({ length: DAYS_AHEAD }, (_, day) => {
    const before = day === 0 ? 0 : dueUntil(day - 1);
    return dueUntil(day) - before;
  });
  const intervalAt = (share: number): number => seconds(intervalOfBucket(quantileOf(byInterval, share) ?? 0));
  const late = new Map([...dueKnown].filter(([hour]) => startOfHour(hour) <= now));
  // The earliest hour has the longest wait.
  const waitAt = (share: number): number => seconds(Math.max(0, now - startOfHour(quantileOf(late, 1 - share) ?? 0)));
  return {
    due: countedDue(spread, now),
    overdue: dueBy(dueKnown, now - DAY_MS) + dueBy(dueNew, now - DAY_MS),
    interval:
      byInterval.size === 0
        ? null
        : { min: intervalAt(0), p50: intervalAt(0.5), p95: intervalAt(0.95), max: intervalAt(1) },
    freshness: null,
    waiting: late.size === 0 ? null : { p50: waitAt(0.5), p95: waitAt(0.95), max: waitAt(1) },
    dueByDay,
  };
}

async function readTimes(
  db: StatsDb,
  now: number,
  settings: NewSettings | null,
  onWork: OnWork | undefined,
): Promise<Times> {
  const intervals = new Growing();
  const waits = new Growing();
  const dueByDay = new Array<number>(DAYS_AHEAD).fill(0);
  const periods = new Array<number>(PERIOD_DAYS.length + 1).fill(0);
  let [due, overdue, believed, fresh, rate] = [0, 0, 0, 0, 0];
  const estimates = await openPageEstimates(db, now);
  for await (const entry of dueBySettings(db, { now, settings, meter: workMeter(onWork, READING_DUE) })) {
    intervals.add(entry.intervalMs);
    const waitMs = now - entry.dueAt;
    if (waitMs >= 0) due++;
    if (waitMs >= DAY_MS) overdue++;
    const day = Math.max(0, Math.floor(-waitMs / DAY_MS));
    if (day < DAYS_AHEAD) dueByDay[day] = (dueByDay[day] ?? 0) + 1;
    if (entry.isNew) continue;
    if (waitMs >= 0) waits.add(waitMs);
    const estimate = (await estimates?.of(entry)) ?? null;
    if (estimate === null) continue;
    believed++;
    fresh += estimate.fresh;
    const { periodMs } = estimate;
    rate += DAY_MS / periodMs;
    const bucket = PERIOD_DAYS.findIndex((days) => periodMs <= days * DAY_MS);
    periods[bucket < 0 ? PERIOD_DAYS.length : bucket]!++;
  }
  const spread = intervals.sorted();
  const waiting = waits.sorted();
  return {
    due,
    overdue,
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

/** A growing list of numbers, at eight bytes each. */
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

/**
 * Substantive changes a day expected of the pages of each host, by their estimated rates; hosts without any are
 * absent.
 */
export async function changesPerDay(db: CrawlDb, now: number, onWork?: OnWork): Promise<ReadonlyMap<string, number>> {
  const rates = new Map<string, number>();
  const estimates = await openPageEstimates(db, now);
  const meter = workMeter(onWork, READING_DUE);
  for await (const entry of db.due({ until: Number.MAX_SAFE_INTEGER, only: 'known', meter })) {
    const estimate = (await estimates?.of(entry)) ?? null;
    if (estimate === null) continue;
    const host = hostOf(entry.url);
    rates.set(host, (rates.get(host) ?? 0) + DAY_MS / estimate.periodMs);
  }
  return rates;
}

/** Entries whose records are read together. */
const WINDOW = 1_000;

interface DueBySettings {
  readonly now: number;
  /** `null`: the next visits are those of the settings of now. */
  readonly settings: NewSettings | null;
  readonly only?: 'known';
  readonly meter?: ReadMeter | undefined;
}

/**
 * All due entries as they are once the next `generate` has applied the settings of now, which it does for as many pages
 * as here; nothing is written. Where there are new settings the entries do not come in the order of their times.
 */
export async function* dueBySettings(
  db: Pick<CrawlDb, 'due'>,
  { now, settings, only, meter }: DueBySettings,
): AsyncGenerator<DueEntry> {
  const query = {
    until: Number.MAX_SAFE_INTEGER,
    ...(only !== undefined && { only }),
    ...(meter !== undefined && { meter }),
  };
  let moved = 0;
  let window: DueEntry[] = [];
  const judged = async (): Promise<DueEntry[]> => {
    const entries = window;
    window = [];
    const puts = (await settings?.moved(entries.map(({ url }) => url))) ?? [];
    return entries.map((entry, i) => {
      const datum = puts[i]?.datum;
      if (datum === undefined || datum.nextFetchAt === null) return entry;
      moved++;
      return { ...dueFacts(datum), dueAt: datum.nextFetchAt };
    });
  };
  for await (const entry of db.due(query)) {
    if (settings === null || entry.isNew || entry.dueAt <= now || moved >= MOST_MOVED) yield entry;
    else if (window.push(entry) === WINDOW) yield* await judged();
  }
  yield* await judged();
}

/** Distributions of records, from counters of the crawl db: no row is read. */
interface SpreadView {
  /** Links from a seed -> URLs. */
  readonly byDepth: Readonly<Record<string, number>>;
  /** MIME type -> URLs, most first; rare types with their family (`image/*`). */
  readonly byType: Readonly<Record<string, number>>;
  /** Failed visits in a row -> URLs. */
  readonly byFailures: Readonly<Record<string, number>>;
  /** URLs by revisit interval: up to this many seconds and above the limit before; `null`: all longer ones. */
  readonly intervals: readonly { readonly upTo: number | null; readonly urls: number }[];
}

const HOUR = 3_600;
const INTERVAL_LIMITS_S = [HOUR, 6 * HOUR, 24 * HOUR, 7 * 24 * HOUR, 30 * 24 * HOUR, 90 * 24 * HOUR, 365 * 24 * HOUR];
/** Rounding of counted intervals: one of exactly a limit stays under the limit. */
const ROUNDING = 1.05;

function spreadView(spread: Spread): SpreadView {
  const intervals = new Array<number>(INTERVAL_LIMITS_S.length + 1).fill(0);
  for (const [step, urls] of spread.byInterval) {
    const bucket = INTERVAL_LIMITS_S.findIndex((limit) => intervalOfBucket(step) <= limit * 1_000 * ROUNDING);
    intervals[bucket < 0 ? INTERVAL_LIMITS_S.length : bucket]! += urls;
  }
  return {
    byDepth: Object.fromEntries(spread.byDepth),
    byType: Object.fromEntries([...spread.byType].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))),
    byFailures: Object.fromEntries(spread.byFailures),
    intervals: intervals.map((urls, i) => ({ upTo: INTERVAL_LIMITS_S[i] ?? null, urls })),
  };
}

export const entriesOf = <Key>(counts: ReadonlyMap<Key, number>): number => {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
};

/** Entries due at `at`; of the current hour, the share that has passed. */
function dueBy(counts: ReadonlyMap<number, number>, at: number): number {
  const now = hourOf(at);
  const share = (at - startOfHour(now)) / (startOfHour(1) - startOfHour(0));
  let due = 0;
  for (const [hour, count] of counts) due += hour < now ? count : hour === now ? Math.round(share * count) : 0;
  return due;
}

/** A quantile of values counted by steps, which sort like the values. `null` without values. */
function quantileOf(counts: ReadonlyMap<number, number>, share: number): number | null {
  const sorted = [...counts].sort(([a], [b]) => a - b);
  let left = share * (entriesOf(counts) - 1);
  for (const [step, count] of sorted) {
    left -= count;
    if (left < 0) return step;
  }
  return sorted.at(-1)?.[0] ?? null;
}

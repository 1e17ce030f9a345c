// core/steps/: the steps of the loop; crawl.ts calls them by name.

import type { CrawlDatum, CrawlState } from '../domain/crawl/states/datum.ts';
import { type SettlePolicy, settle } from '../domain/crawl/states/settle.ts';
import { reasonOfCode, type SkipReason } from '../domain/crawl/states/skip-reasons.ts';
import type { CrawlDb, CrawlDbPut, ReadMeter } from '../ports/crawl-db.ts';
import type { OnWork } from '../ports/work-progress.ts';
import { rememberTouched } from './facts/touched-urls.ts';
import { type FindDeps, findRecords } from './records/find-records.ts';
import { READING_RECORDS, workMeter } from './work-meter.ts';

interface BringForwardDeps {
  readonly db: CrawlDb;
  readonly policy: SettlePolicy;
}

interface Requested {
  /** Due at this time, ms since the epoch. */
  readonly at: number;
  /** The command that asks for the visits. */
  readonly by: 'touch' | 'retry';
  readonly dryRun?: boolean;
  /** Facts to write with these records. */
  readonly facts?: (urls: readonly string[]) => Promise<Readonly<Record<string, string>>>;
}

interface BroughtForward {
  readonly moved: number;
  /** Due by that time already, or in a segment at this moment. */
  readonly unmoved: number;
}

/** Records written per batch. */

/** Brings the next visits of these records forward, never back. Records in a segment are left to their visit. */
async function bringForward(
  { db, policy }: BringForwardDeps,
  records: AsyncIterable<CrawlDatum>,
  { at, by, dryRun = false, facts }: Requested,
): Promise<BroughtForward> {
  const sum = { moved: 0, unmoved: 0 };
  let window: CrawlDatum[] = [];
  const flush = async (): Promise<void> => {
    const urls = window.map(({ url }) => url);
    const leases = await db.leases(urls);
    const puts: CrawlDbPut[] = [];
    for (const [i, previous] of window.entries()) {
      const { datum } = settle(previous, { kind: 'touched', at, by }, policy, at);
      if (leases[i] !== undefined || datum === previous) sum.unmoved++;
      else puts.push({ datum, previous });
    }
    sum.moved += puts.length;
    window = [];
    const meta = urls.length > 0 && facts !== undefined ? await facts(urls) : {};
    if (!dryRun && (puts.length > 0 || Object.keys(meta).length > 0)) await db.write({ puts, meta }, { durable: true });
  };
  for await (const record of records) if (window.push(record) >= WINDOW) await flush();
  await flush();
  return sum;
}

export interface TouchSummary {
  /** Known URLs whose next visit was brought forward. */
  readonly touched: number;
  /** Known URLs that were due by that time anyway, or are in a segment at this moment. */
  readonly unmoved: number;
  /** URLs that are not in the crawl db. */
  readonly unknown: readonly string[];
  /** Inputs that are no URL, or are refused, and why. */
  readonly invalid: readonly { readonly url: string; readonly error: string }[];
  /** Of a spread crawl: partitions that it was sent to. Counts are what their holders will find. */
  readonly partitions?: number;
}

/** Which known URLs are meant; conditions narrow each other down, and without any all are. */
export interface TouchQuery {
  /** `host[:port]` */
  readonly host?: string;
  /** An expression over the fields of a record, as `readdb --where` takes. */
  readonly where?: string;
}

interface TouchDeps extends BringForwardDeps {
  /** Ms since the epoch. */
  readonly now: number;
}

/** Records read at a time. */
const WINDOW = 1_000;

/**
 * Brings the next visit of known URLs forward to `at`; never postpones one. Where `at` is now, they go ahead of all
 * others in the next rounds, up to half of each round. `urls` are canonical.
 */
export async function touch(
  deps: TouchDeps,
  urls: readonly string[],
  at: number,
): Promise<Omit<TouchSummary, 'invalid'>> {
  const unknown: string[] = [];
  const distinct = [...new Set(urls)];
  const known = async function* (): AsyncGenerator<CrawlDatum> {
    for (let start = 0; start < distinct.length; start += WINDOW) {
      const window = distinct.slice(start, start + WINDOW);
      for (const [i, record] of (await deps.db.getMany(window)).entries()) {
        if (record === undefined) unknown.push(window[i] as string);
        else yield record;
      }
    }
  };
  const { moved, unmoved } = await bringForward(deps, known(), ahead(deps, at));
  return { touched: moved, unmoved, unknown };
}

/**
 * The same for all known URLs that match. Without an expression, URLs that are no longer visited stay so: orphans, and
 * pages that were gone too often. Where all URLs are touched, none goes ahead of another.
 */
export async function touchMatching(
  deps: TouchDeps & FindDeps,
  query: TouchQuery,
  at: number,
): Promise<Pick<TouchSummary, 'touched' | 'unmoved'>> {
  const matching = async function* (): AsyncGenerator<CrawlDatum> {
    for await (const record of findRecords(deps, query)) {
      if (query.where !== undefined || record.nextFetchAt !== null) yield record;
    }
  };
  const isAll = query.host === undefined && query.where === undefined;
  const { moved, unmoved } = await bringForward(deps, matching(), isAll ? { at, by: 'touch' } : ahead(deps, at));
  return { touched: moved, unmoved };
}

const ahead = ({ db, now }: TouchDeps, at: number): Requested => ({
  ...{ at, by: 'touch' },
  ...(at <= now && { facts: (urls: readonly string[]) => rememberTouched(db, urls) }),
});

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

interface RetryDeps {
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

import type { Config } from '../../../src/core/config/schema.ts';
import type { CrawlDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { hostOf } from '../../../src/core/domain/url/canonical/url-key.ts';
import { digestUrls } from '../../../src/core/domain/url/hash/url-digest.ts';
import type { HostRow, Lease } from '../../../src/core/ports/crawl-db.ts';
import { nearPlan } from '../../../src/operations/loop/step-settings.ts';
import { verifyRows } from '../../../src/store/rows/care/verify-rows.ts';
import { checkFeed } from './feed-invariants.ts';
import type { AppliedSegment, Ledger } from './ledger.ts';
import type { SimulatedNetwork } from './network.ts';
import type { PolitenessWatch } from './politeness.ts';
import type { SimulatedProcess } from './process.ts';
import type { SimulatedWorld } from './world.ts';

export interface Checked {
  readonly config: Config;
  readonly world: SimulatedWorld;
  readonly network: SimulatedNetwork;
  readonly politeness: PolitenessWatch;
  readonly ledger: Ledger;
}

/** Findings of a kind that are shown. */
const SHOWN = 3;
/** Later than any due time. */
const LATER_MS = 400 * 365 * 86_400_000;

type Report = (kind: string, detail: string) => void;

/** What is not as it must be, as lines of text; none where all is well. Nothing is written. */
export async function findFaults(process: SimulatedProcess, checked: Checked, now: number): Promise<string[]> {
  const faults: string[] = [];
  const counts = new Map<string, number>();
  const report: Report = (kind, detail) => {
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    if (count <= SHOWN) faults.push(`${kind}: ${detail}`);
  };
  for (const violation of checked.politeness.violations) report('impolite', violation);
  const near = nearPlan(checked.config);
  const reportRow = (found: { kind: string; subject: string; detail: string }): void =>
    report(`verify says ${found.kind}`, `${found.subject}: ${found.detail}`);
  await verifyRows(process.rows, reportRow, near ?? undefined);
  const records = new Map<string, CrawlDatum>();
  for await (const datum of process.db.scan()) records.set(datum.url, datum);
  const leases = new Map<string, Lease>();
  for await (const lease of process.db.scanLeases()) leases.set(lease.url, lease);
  await checkCounters(process, records, leases, report);
  await checkDue(process, records, leases, now, report);
  await checkLeases(process, leases, report);
  await checkKnown(process, checked, records, report);
  for (const lost of await checked.ledger.lostRounds(process)) report('round lost', lost);
  const applied = await checked.ledger.applied(process);
  checkBudgets(applied, checked.config, report);
  checkVisits(applied, records, report);
  await checkTraffic(process, applied, report);
  await checkFeed(process, checked, applied, report);
  return faults;
}

async function checkCounters(
  { db }: SimulatedProcess,
  records: ReadonlyMap<string, CrawlDatum>,
  leases: ReadonlyMap<string, Lease>,
  report: Report,
): Promise<void> {
  const byHost = new Map<string, Map<string, number>>();
  const byState = new Map<string, number>();
  for (const { url, state } of records.values()) {
    const host = hostOf(url);
    const counts = byHost.get(host) ?? new Map<string, number>();
    byHost.set(host, counts);
    for (const each of [counts, byState]) each.set(state, (each.get(state) ?? 0) + 1);
  }
  const counters = await db.counters();
  const expectSame = (what: string, kept: unknown, counted: unknown): void => {
    const [a, b] = [sorted(kept), sorted(counted)];
    if (a !== b) report('counter differs', `${what}: kept ${a}, counted ${b}`);
  };
  expectSame('urls', counters.urls, records.size);
  expectSame('leased', counters.leased, leases.size);
  expectSame('states', nonZero(counters.byState), Object.fromEntries(byState));
  const rows: HostRow[] = [];
  for await (const row of db.hosts()) rows.push(row);
  expectSame('hosts', rows.filter(({ urls }) => urls > 0).length, byHost.size);
  for (const { host, urls, byState: kept } of rows) {
    const counted = byHost.get(host) ?? new Map<string, number>();
    expectSame(
      `urls of ${host}`,
      urls,
      [...counted.values()].reduce((sum, each) => sum + each, 0),
    );
    expectSame(`states of ${host}`, nonZero(kept), Object.fromEntries(counted));
  }
}

const nonZero = (counts: object): object =>
  Object.fromEntries(Object.entries(counts as Record<string, number>).filter(([, count]) => count !== 0));
const sorted = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : String(value);

/** A record that is due stands in the due index, at its time, unless it is leased; nothing else does. */
async function checkDue(
  { db }: SimulatedProcess,
  records: ReadonlyMap<string, CrawlDatum>,
  leases: ReadonlyMap<string, Lease>,
  now: number,
  report: Report,
): Promise<void> {
  const due = new Map<string, number>();
  for await (const { url, dueAt } of db.due({ until: now + LATER_MS })) {
    if (due.has(url)) report('due twice', url);
    due.set(url, dueAt);
  }
  for (const { url, nextFetchAt } of records.values()) {
    const lease = leases.get(url);
    if (lease !== undefined) {
      if (due.has(url)) report('due and leased', url);
      if (lease.dueAt !== nextFetchAt) report('lease differs', `${url}: ${lease.dueAt}, its record ${nextFetchAt}`);
    } else if ((due.get(url) ?? null) !== nextFetchAt) {
      report('due index differs', `${url}: ${due.get(url)}, its record ${nextFetchAt}`);
    }
    due.delete(url);
  }
  for (const url of due.keys()) report('due without record', url);
}

/** Each lease is of a URL on the list of a segment that is yet to be applied. */
async function checkLeases({ db, segments }: SimulatedProcess, leases: ReadonlyMap<string, Lease>, report: Report) {
  const rows = new Map((await db.segments()).map((row) => [row.id, row.state]));
  const lists = new Map<string, Set<string>>();
  for (const { url, segment: id } of leases.values()) {
    if (rows.get(id) !== 'generated') {
      report('lease forgotten', `${url} is leased to ${id}, which is ${rows.get(id) ?? 'unknown'}`);
      continue;
    }
    let list = lists.get(id);
    if (list === undefined) {
      list = new Set();
      const segment = await segments.open(id, 'read');
      for await (const item of segment.fetchList()) list.add(item.url);
      await segment.close();
      lists.set(id, list);
    }
    if (!list.has(url)) report('lease forgotten', `${url} is leased to ${id}, and not on its list`);
  }
}

/** Nothing that was known is lost, and no link of a page that is stored. */
async function checkKnown(
  { db }: SimulatedProcess,
  { ledger, network, world, config }: Checked,
  records: ReadonlyMap<string, CrawlDatum>,
  report: Report,
): Promise<void> {
  for (const url of ledger.urls) if (!records.has(url)) report('record lost', url);
  // Then a page that was a duplicate for a time lacks its links.
  const isSkipping = config.dedup.mode === 'skip-outlinks';
  for (const { url, digest } of isSkipping ? [] : records.values()) {
    const sent = digest === null ? undefined : network.sent.get(digest);
    if (sent === undefined || world.hostOf(url)?.isTrap === true) continue;
    for (const link of sent.links) {
      // Other hosts are out of scope until their seeds are there.
      if (hostOf(link) === hostOf(url) && !records.has(link)) {
        report('link lost', `${link}, to which ${url} links`);
      }
    }
  }
  if (db.seenFilter === null) return;
  const urls = [...records.keys()];
  const seen = await db.seenFilter.probe(digestUrls(urls));
  for (const [i, url] of urls.entries()) if (seen[i] !== 1) report('not in the filter of seen URLs', url);
  if (config.seen.filter === 'off') report('filter kept', 'although it is off');
}

function checkBudgets(applied: readonly AppliedSegment[], { generate }: Config, report: Report): void {
  for (const { info, visits } of applied) {
    const pages = visits.filter(({ url }) => !isProbe(url));
    if (pages.length > generate.topN) report('over budget', `${info.id} has ${pages.length} pages`);
    const byHost = new Map<string, number>();
    for (const { host } of pages) byHost.set(host, (byHost.get(host) ?? 0) + 1);
    for (const [host, count] of byHost) {
      if (generate.maxPerHost > 0 && count > generate.maxPerHost) {
        report('over budget', `${info.id} has ${count} visits of ${host}`);
      }
    }
  }
}

/** Addresses that cannot exist are asked for once a host; they have no record. */
const isProbe = (url: string): boolean => url.includes('/incrawl-no-such-page');

/** The ring of visits of each record holds the last ones that were applied, each once, in their order. */
function checkVisits(
  applied: readonly AppliedSegment[],
  records: ReadonlyMap<string, CrawlDatum>,
  report: Report,
): void {
  const times = new Map<string, number[]>();
  for (const { visits } of applied) {
    for (const { url, outcome } of visits) {
      const list = times.get(url) ?? [];
      times.set(url, list);
      list.push(outcome.at);
    }
  }
  for (const { url, visits } of records.values()) {
    const kept = visits.map(({ at }) => at);
    const expected = (times.get(url) ?? []).slice(-Math.max(1, kept.length));
    if (JSON.stringify(kept) !== JSON.stringify(expected)) {
      report('visits differ', `${url}: the record has ${kept}, the segments ${expected}`);
    }
  }
  for (const url of times.keys()) if (!records.has(url) && !isProbe(url)) report('visited, but unknown', url);
}

/** Visits that are counted for each host are those that were applied. */
async function checkTraffic({ db }: SimulatedProcess, applied: readonly AppliedSegment[], report: Report) {
  const counted = new Map<string, { visits: number; bytes: number }>();
  for (const { visits } of applied) {
    for (const { host, outcome } of visits) {
      if (outcome.requests === 0) continue;
      const sum = counted.get(host) ?? { visits: 0, bytes: 0 };
      counted.set(host, sum);
      sum.visits++;
      sum.bytes += outcome.receivedBytes;
    }
  }
  for await (const { host, facts } of db.hosts()) {
    const kept = facts.traffic?.receivedBytes ?? 0;
    const bytes = counted.get(host)?.bytes ?? 0;
    if (kept !== bytes) report('host counters differ', `${host}: ${kept} bytes kept, ${bytes} applied`);
  }
}

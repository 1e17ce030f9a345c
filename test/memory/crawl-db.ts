// The reference adapters, for tests and the simulation.

import {
  type ChangeRow,
  extendFeed,
  type FeedEnds,
  NO_FEED,
  numberOf,
} from '../../src/core/domain/crawl/change/change-feed.ts';
import { changeRateOf } from '../../src/core/domain/crawl/change/change-rate.ts';
import { groupOf } from '../../src/core/domain/crawl/hazard/expectation.ts';
import { dueFacts, isDueByHazard, isNewUrl } from '../../src/core/domain/crawl/revisit/next-visit.ts';
import type { CrawlDatum, CrawlState } from '../../src/core/domain/crawl/states/datum.ts';
import { CrawlError } from '../../src/core/domain/errors.ts';
import {
  domainRange,
  hostOf,
  hostPrefix,
  hostRange,
  type KeyRange,
  urlKey,
  urlPrefixRange,
} from '../../src/core/domain/url/canonical/url-key.ts';
import type { DomainFamilies } from '../../src/core/domain/url/families/stored-families.ts';
import type { ChangeQuery } from '../../src/core/ports/change-feed.ts';
import {
  type ChangingQuery,
  type CrawlDb,
  type CrawlDbBatch,
  type CrawlDbCounters,
  type DueEntry,
  type DueOfGroupQuery,
  type DueQuery,
  type HostFacts,
  type HostRow,
  type Lease,
  NO_HOST_FACTS,
  type ReadMeter,
  type ScanQuery,
  type SegmentRow,
  type Spread,
  type StoredLinks,
} from '../../src/core/ports/crawl-db.ts';
import { MemoryForwarding } from './forwarding.ts';
import { MemoryHostShares } from './host-shares.ts';
import { spreadOf } from './spread.ts';

/**
 * The reference crawl db: plain maps without derived data. Due index and counters are computed on each call by a pass
 * over all records.
 */
export function createMemoryCrawlDb(): CrawlDb {
  return new MemoryCrawlDb();
}

class MemoryCrawlDb implements CrawlDb {
  readonly #records = new Map<string, CrawlDatum>();
  /** Segment that leases the URL. */
  readonly #leases = new Map<string, string>();
  readonly #links = new Map<string, readonly string[]>();
  readonly #families = new Map<string, DomainFamilies>();
  readonly #shares = new MemoryHostShares();
  readonly hostShares = async (hosts: readonly string[]) => this.#shares.getMany(hosts);
  readonly #facts = new Map<string, HostFacts>();
  readonly #segments = new Map<string, SegmentRow>();
  readonly #meta = new Map<string, string>();
  readonly forwarding = new MemoryForwarding();
  #changes: readonly ChangeRow[] = [];
  #feed: FeedEnds = NO_FEED;
  #isImporting = false;

  async get(url: string): Promise<CrawlDatum | undefined> {
    return this.#records.get(url);
  }

  async dueOfGroup({ host, group, after, limit }: DueOfGroupQuery): Promise<DueEntry[]> {
    const entries: DueEntry[] = [];
    for await (const entry of this.due({ until: Number.MAX_SAFE_INTEGER })) {
      const isMeant = entry.dueAt > after && isDueByHazard(entry) && hostOf(entry.url) === host;
      if (isMeant && groupOf(entry.url) === group) entries.push(entry);
    }
    return entries.slice(0, limit);
  }

  async getMany(urls: readonly string[]): Promise<(CrawlDatum | undefined)[]> {
    return urls.map((url) => this.#records.get(url));
  }

  async hasMany(urls: readonly string[]): Promise<boolean[]> {
    return urls.map((url) => this.#records.has(url));
  }

  async write(batch: CrawlDbBatch): Promise<void> {
    checkUrls(batch);
    if (this.#isImporting && batch.isImporting === undefined) {
      throw new CrawlError('usage-invalid', 'an import was cut short');
    }
    this.#isImporting = batch.isImporting ?? false;
    if (batch.feed !== undefined) {
      const { rows, ends } = extendFeed(this.#feed, batch.feed);
      this.#changes = [...this.#changes, ...rows].filter(({ seq }) => seq >= ends.first);
      this.#feed = ends;
    }
    for (const { datum, leasedBy } of batch.puts ?? []) {
      this.#records.set(datum.url, datum);
      if (leasedBy !== undefined && this.#leases.get(datum.url) === leasedBy) this.#leases.delete(datum.url);
    }
    for (const { url } of batch.deletes ?? []) {
      if (this.#records.delete(url)) this.#links.delete(url);
      this.#leases.delete(url);
      if (this.#hostRow(hostOf(url)).urls === 0) this.#shares.delete(hostOf(url));
    }
    for (const { url, targets } of batch.links ?? []) {
      if (targets.length === 0) this.#links.delete(url);
      else this.#links.set(url, [...targets]);
    }
    for (const shares of batch.hostShares ?? []) this.#shares.add(shares);
    for (const families of batch.linkFamilies ?? []) {
      if (families.families.length === 0) this.#families.delete(families.domain);
      else this.#families.set(families.domain, families);
    }
    for (const { host, facts } of batch.hostFacts ?? []) this.#facts.set(host, { ...facts });
    for (const entry of batch.lease?.entries ?? []) {
      const datum = this.#records.get(entry.url);
      if (datum === undefined || this.#leases.has(entry.url)) continue;
      if (isSamePlace(entry, datum)) this.#leases.set(entry.url, batch.lease!.segment);
    }
    for (const url of batch.release?.urls ?? []) {
      if (this.#leases.get(url) === batch.release!.segment) this.#leases.delete(url);
    }
    for (const row of batch.segments ?? []) this.#segments.set(row.id, { ...row });
    for (const id of batch.removeSegments ?? []) this.#segments.delete(id);
    for (const [name, value] of Object.entries(batch.meta ?? {})) this.#meta.set(name, value);
    if (batch.forwarding !== undefined) this.forwarding.apply(batch.forwarding);
  }

  async *due({ until, limit = Number.POSITIVE_INFINITY, only, belowScore, meter }: DueQuery): AsyncGenerator<DueEntry> {
    const due: { entry: DueEntry; key: string }[] = [];
    for (const datum of this.#records.values()) {
      if (datum.nextFetchAt === null || datum.nextFetchAt > until || this.#leases.has(datum.url)) continue;
      if (only !== undefined && isNewUrl(datum) !== (only === 'new')) continue;
      if (belowScore !== undefined && isNewUrl(datum) && datum.score >= belowScore) continue;
      due.push({ entry: { ...dueFacts(datum), dueAt: datum.nextFetchAt }, key: urlKey(datum.url) });
    }
    due.sort(
      (a, b) =>
        Number(a.entry.isNew) - Number(b.entry.isNew) ||
        (a.entry.isNew ? b.entry.score - a.entry.score : 0) ||
        a.entry.dueAt - b.entry.dueAt ||
        byText(a.key, b.key),
    );
    meter?.add('records', this.#records.size);
    for (const { entry } of due.slice(0, limit)) yield entry;
  }

  async countDue(until: number): Promise<number> {
    let count = 0;
    for await (const _ of this.due({ until })) count++;
    return count;
  }

  async *scan(query: ScanQuery = {}): AsyncGenerator<CrawlDatum> {
    const ranges = rangesOf(query);
    const matching = inKeyOrder([...this.#records.values()], ({ url }) => urlKey(url)).filter(({ key, value }) => {
      const isInState = query.state === undefined || value.state === query.state;
      if (query.failing && value.failures === 0) return false;
      return isInState && ranges.every(({ from, to }) => key >= from && key < to);
    });
    query.meter?.add('records', this.#records.size);
    for (const { value } of matching.slice(0, query.limit)) yield value;
  }

  async *changing({ limit, meter, ...hosts }: ChangingQuery): AsyncGenerator<CrawlDatum> {
    const rated: { datum: CrawlDatum; rate: number }[] = [];
    for await (const datum of this.scan(hosts)) {
      const rate = changeRateOf(datum);
      if (rate !== null) rated.push({ datum, rate });
    }
    meter?.add('records', this.#records.size);
    // Stable: equal rates stay in key order.
    for (const { datum } of rated.sort((a, b) => b.rate - a.rate).slice(0, limit)) yield datum;
  }

  async recordsAtPlaces(host: string, places: readonly number[], meter?: ReadMeter): Promise<CrawlDatum[]> {
    const records: CrawlDatum[] = [];
    for await (const datum of this.scan({ host, ...(meter !== undefined && { meter }) })) records.push(datum);
    return places.flatMap((place) => records[place] ?? []);
  }

  async spread(): Promise<Spread> {
    return spreadOf(this.#records.values(), (url) => this.#leases.has(url));
  }

  async counters(): Promise<CrawlDbCounters> {
    return {
      urls: this.#records.size,
      byState: countStates(this.#records.values()),
      hosts: new Set([...this.#records.keys()].map(hostOf)).size,
      leased: this.#leases.size,
    };
  }

  async *hosts({ prefix = '', limit }: { prefix?: string; limit?: number } = {}): AsyncGenerator<HostRow> {
    const known = [...new Set([...[...this.#records.keys()].map(hostOf), ...this.#facts.keys()])];
    const matching = inKeyOrder(known, hostPrefix).filter(({ value }) => value.startsWith(prefix));
    for (const { value } of matching.slice(0, limit)) yield this.#hostRow(value);
  }

  async hostRows(hosts: readonly string[]): Promise<(HostRow | undefined)[]> {
    return hosts.map((host) => {
      const row = this.#hostRow(host);
      return row.urls === 0 && !this.#facts.has(host) ? undefined : row;
    });
  }

  readonly linksOf = async (urls: readonly string[]) => urls.map((url) => this.#links.get(url) ?? []);

  async *scanLinks(): AsyncGenerator<StoredLinks> {
    for (const { value } of inKeyOrder([...this.#links], ([url]) => urlKey(url))) {
      yield { url: value[0], targets: value[1] };
    }
  }

  async linkFamilies(domains: readonly string[]): Promise<(DomainFamilies | undefined)[]> {
    return domains.map((domain) => this.#families.get(domain));
  }

  async *scanLinkFamilies(): AsyncGenerator<DomainFamilies> {
    for (const { value } of inKeyOrder([...this.#families.values()], ({ domain }) => hostPrefix(domain))) yield value;
  }

  async leases(urls: readonly string[]): Promise<(Lease | undefined)[]> {
    return urls.map((url) => this.#lease(url));
  }

  async *scanLeases(segment?: string): AsyncGenerator<Lease> {
    for (const { value } of inKeyOrder([...this.#leases.keys()], urlKey)) {
      const lease = this.#lease(value);
      if (lease !== undefined && (segment === undefined || lease.segment === segment)) yield lease;
    }
  }

  async segments(): Promise<SegmentRow[]> {
    return [...this.#segments.values()].sort((a, b) => a.createdAt - b.createdAt || byText(a.id, b.id));
  }

  async meta(name: string): Promise<string | undefined> {
    return this.#meta.get(name);
  }

  async metas(): Promise<Record<string, string>> {
    return Object.fromEntries([...this.#meta].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  async *changes({ after = 0, through, notedFrom = 0, limit, reverse }: ChangeQuery = {}): AsyncGenerator<ChangeRow> {
    const [from, last] = [numberOf(after), numberOf(through ?? this.#feed.last)];
    const isAsked = (row: ChangeRow): boolean => row.seq > from && row.seq <= last && row.notedAt >= notedFrom;
    const asked = this.#changes.filter(isAsked);
    yield* (reverse ? asked.reverse() : asked).slice(0, limit);
  }

  async feedEnds(): Promise<FeedEnds> {
    return this.#feed;
  }

  async close(): Promise<void> {}

  #lease(url: string): Lease | undefined {
    const segment = this.#leases.get(url);
    return segment === undefined ? undefined : { url, segment, dueAt: this.#records.get(url)?.nextFetchAt ?? null };
  }

  #hostRow(host: string): HostRow {
    const records = [...this.#records.values()].filter(({ url }) => hostOf(url) === host);
    return {
      host,
      urls: records.length,
      byState: countStates(records),
      facts: this.#facts.get(host) ?? NO_HOST_FACTS,
    };
  }
}

/** Whether the record is still due as in the entry. */
function isSamePlace(entry: DueEntry, datum: CrawlDatum): boolean {
  if (datum.nextFetchAt !== entry.dueAt || isNewUrl(datum) !== entry.isNew) return false;
  return !entry.isNew || datum.score === entry.score;
}

function countStates(records: Iterable<CrawlDatum>): Partial<Record<CrawlState, number>> {
  const counts: Partial<Record<CrawlState, number>> = {};
  for (const { state } of records) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

function rangesOf({ host, domain, prefix }: ScanQuery): KeyRange[] {
  const ranges: KeyRange[] = [];
  if (host !== undefined) ranges.push(hostRange(host));
  if (domain !== undefined) ranges.push(domainRange(domain));
  if (prefix !== undefined) ranges.push(urlPrefixRange(prefix));
  return ranges;
}

function inKeyOrder<T>(values: readonly T[], keyOf: (value: T) => string): { key: string; value: T }[] {
  return values.map((value) => ({ key: keyOf(value), value })).sort((a, b) => byText(a.key, b.key));
}

const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** A batch is refused as a whole, so URLs are checked before anything is written. */
function checkUrls(batch: CrawlDbBatch): void {
  for (const { datum } of batch.puts ?? []) urlKey(datum.url);
  for (const { url } of batch.deletes ?? []) urlKey(url);
  for (const { url } of batch.links ?? []) urlKey(url);
}

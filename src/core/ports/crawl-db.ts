import type { FeedBatch } from '../domain/crawl/change/change-feed.ts';
import type { HostClock } from '../domain/crawl/hazard/host-clock.ts';
import type { RenderTrials } from '../domain/crawl/rendering/render-trials.ts';
import type { FetchesOfDay } from '../domain/crawl/revisit/budget-shares.ts';
import type { MissingLinks } from '../domain/crawl/revisit/missing-links.ts';
import type { CrawlDatum, CrawlState, ScheduleMemory } from '../domain/crawl/states/datum.ts';
import type { HostTraffic } from '../domain/crawl/states/host-traffic.ts';
import type { MissingPage } from '../domain/crawl/states/soft-404.ts';
import type { Finding } from '../domain/findings.ts';
import type { HostShares } from '../domain/url/families/family-shares.ts';
import type { DomainFamilies } from '../domain/url/families/stored-families.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { Forwarding, ForwardingBatch } from './partitions/forwarding.ts';

/** Indexes kept with the records, in the same batches, so that queries need no scan. */
interface RecordIndexes {
  /**
   * Live pages with observed changes, by `changeRateOf`: the highest rate first, at equal rates by key. Membership in
   * the answer is right to a fifth of the rates; the order is exact. A consistent snapshot.
   */
  changing(query: ChangingQuery): AsyncIterable<CrawlDatum>;
  /**
   * The records at places of a host: numbers from 0 on, ascending, in key order. Places beyond the last record are
   * left out. Reads the keys up to the last place.
   */
  recordsAtPlaces(host: string, places: readonly number[], meter?: ReadMeter): Promise<CrawlDatum[]>;
  /** Histograms of the records, kept with every write. */
  spread(): Promise<Spread>;
}

export interface ChangingQuery {
  /** Only this host (`host[:port]`). */
  readonly host?: string;
  /** Only this domain and the hosts below it. */
  readonly domain?: string;
  readonly limit: number;
  readonly meter?: ReadMeter;
}

/** Histograms of the records; empty buckets are absent. */
export interface Spread {
  readonly byDepth: ReadonlyMap<number, number>;
  /** By `countedType`; records without a type are not counted. */
  readonly byType: ReadonlyMap<string, number>;
  /** By failed visits in a row, from 1 on; 100 stands for 100 and more. */
  readonly byFailures: ReadonlyMap<number, number>;
  /** By `intervalBucket`: records with a next visit. */
  readonly byInterval: ReadonlyMap<number, number>;
  /** By `scoreStep`. */
  readonly byScore: ReadonlyMap<number, number>;
  /** The due index (without leased URLs) by `hourOf`: known pages, and new URLs. */
  readonly dueKnown: ReadonlyMap<number, number>;
  readonly dueNew: ReadonlyMap<number, number>;
  /** Visits a day that the intervals of the known pages in the due index require, by `expectedInterval`. */
  readonly visitsPerDay: number;
}

/** Larger depths and failure counts are counted as these. */
export const MAX_COUNTED_DEPTH = 999;
export const MAX_COUNTED_FAILURES = 100;

/** Where a query finds its rows. `records`: a scan of the records; `hosts`: counts of the hosts, and keys. */
export type IndexName = 'records' | 'hosts' | 'due' | 'state' | 'failing' | 'changing';

/** Counts the rows that a query reads, while it reads. */
export interface ReadMeter {
  add(index: IndexName, rows: number): void;
}

export type Report = (finding: Finding) => void;

/** Rows checked, by kind. */
export interface RowCounts {
  readonly records: number;
  readonly due: number;
  readonly leases: number;
  readonly links: number;
  readonly hosts: number;
  readonly segments: number;
  /** Entries of the change feed. */
  readonly changes: number;
}

/**
 * The crawl db: one record per canonical URL, a due index, counters, host facts, stored outlinks, link families,
 * segment rows, the change feed, and links from and to other partitions.
 *
 * One process writes at a time. The methods may be called concurrently; writes take effect in the order of the calls. A
 * batch of one `write` becomes visible, and survives a crash, as a whole or not at all.
 */
export interface CrawlDb extends RecordIndexes, ChangeFeed {
  /** Empty in a crawl of one partition. */
  readonly forwarding: Forwarding;
  /** The record; `undefined` for an unknown URL. The URL must be canonical. */
  get(url: string): Promise<CrawlDatum | undefined>;
  /** Records in the order asked; `undefined` for unknown URLs. Reads sorted keys: far cheaper than many `get`. */
  getMany(urls: readonly string[]): Promise<(CrawlDatum | undefined)[]>;
  /** Whether a record exists, in the order asked. Decodes no record. */
  hasMany(urls: readonly string[]): Promise<boolean[]>;
  /**
   * Applies a batch atomically and keeps due index, leases and counters consistent with the records. `durable: true`
   * also waits for the disk (a commit point). Rejects with `CrawlError('disk-full')` when the disk is full: the state
   * of that batch is then undefined, and writing it again, with `previous` read again, is safe.
   */
  write(batch: CrawlDbBatch, options?: { durable?: boolean }): Promise<void>;
  /**
   * Due entries with `dueAt <= until`: known pages first, by due time, then new URLs, by falling score. Leased URLs are
   * left out. A consistent snapshot.
   */
  due(query: DueQuery): AsyncIterable<DueEntry>;
  /**
   * Entries of the due index of the pages of one group of a host (`groupOf`) that are live, were answered last, and
   * have no fixed interval: those with `dueAt` after a time, by due time. Leased URLs are left out. A consistent
   * snapshot.
   */
  dueOfGroup(query: DueOfGroupQuery): Promise<DueEntry[]>;
  /** Number of entries that `due` would yield. Decodes no entry. */
  countDue(until: number): Promise<number>;
  /** Records in key order (hosts of a domain lie together). A consistent snapshot. */
  scan(query?: ScanQuery): AsyncIterable<CrawlDatum>;
  /** Counts kept with every write: an index read, never a scan. */
  counters(): Promise<CrawlDbCounters>;
  /** Hosts in key order, with their counters and facts; `prefix` limits them to names that begin with it. */
  hosts(query?: { prefix?: string; limit?: number }): AsyncIterable<HostRow>;
  /** Host rows in the order asked; `undefined` for a host without URLs and facts. */
  hostRows(hosts: readonly string[]): Promise<(HostRow | undefined)[]>;
  /** Canonical outlinks stored at the last full parse of each page, in the order asked; empty without any. */
  linksOf(urls: readonly string[]): Promise<(readonly string[])[]>;
  /** Every page with stored outlinks, in key order. A consistent snapshot. */
  scanLinks(): AsyncIterable<StoredLinks>;
  /** Families of URLs per registrable domain, in the order asked; `undefined` for a domain without any. */
  linkFamilies(domains: readonly string[]): Promise<(DomainFamilies | undefined)[]>;
  /** All domains with families, in key order. A consistent snapshot. */
  scanLinkFamilies(): AsyncIterable<DomainFamilies>;
  /**
   * What is kept of the families of like URLs of hosts as a whole, `part` being that of the last change in it; in the
   * order asked. `undefined` where nothing is, or it cannot be read: it follows from the records.
   */
  hostShares(hosts: readonly string[]): Promise<(HostShares | undefined)[]>;
  /** The lease on a URL, if any, in the order asked. */
  leases(urls: readonly string[]): Promise<(Lease | undefined)[]>;
  /** All leases of one segment, or of all. */
  scanLeases(segment?: string): AsyncIterable<Lease>;
  /** Segment rows, oldest first. */
  segments(): Promise<SegmentRow[]>;
  /** A named fact about the whole db, such as the time of the last orphan sweep. */
  meta(key: string): Promise<string | undefined>;
  /** All named facts except those internal to the db. */
  metas(): Promise<Readonly<Record<string, string>>>;
  close(): Promise<void>;
}

/** A batch of writes, applied in the order of the fields. A URL named twice in a batch counts once. */
export interface CrawlDbBatch {
  readonly puts?: readonly CrawlDbPut[];
  /** Removes records with their due entries, leases and stored outlinks. Unknown URLs are ignored. */
  readonly deletes?: readonly CrawlDatum[];
  /** Replaces the stored outlinks of a page; an empty list removes them. */
  readonly links?: readonly StoredLinks[];
  /** Replaces the families of domains; an empty list removes them. */
  readonly linkFamilies?: readonly DomainFamilies[];
  readonly hostFacts?: readonly { readonly host: string; readonly facts: HostFacts }[];
  /**
   * Replaces what is kept of the families of like URLs of hosts (`part` 0), or adds to it (the part after the last
   * one). It leaves with the last record of its host.
   */
  readonly hostShares?: readonly HostShares[];
  /**
   * Leases due URLs to a segment: they leave the due index until a put with `leasedBy` or a release. An entry is
   * ignored when another segment holds the URL, or when the due index has it at another time (a new URL: or another
   * score).
   */
  readonly lease?: { readonly segment: string; readonly entries: readonly DueEntry[] };
  /**
   * Releases leased URLs: they return to the due index at their former time. URLs that the segment does not hold are
   * ignored.
   */
  readonly release?: { readonly segment: string; readonly urls: readonly string[] };
  readonly segments?: readonly SegmentRow[];
  readonly removeSegments?: readonly string[];
  readonly feed?: FeedBatch;
  readonly forwarding?: ForwardingBatch;
  readonly meta?: Readonly<Record<string, string>>;
  /**
   * `true`: part of an import, which takes effect with the batch that says `false`. When a db is opened again without
   * that batch, only its named facts remain. Batches without this field are refused during an import with
   * `usage-invalid`.
   */
  readonly isImporting?: boolean;
}

export interface CrawlDbPut {
  readonly datum: CrawlDatum;
  /** The record as it was read, `null` when there was none: index and counters are updated from the difference. */
  readonly previous: CrawlDatum | null;
  /**
   * Ends the lease of this segment. Without it a leased URL stays leased, and only its time after a release changes.
   */
  readonly leasedBy?: string;
}

/** Named fact, written with the links of a sitemap: from then on there are links of URLs without a record. */
export const SITEMAP_LINKS_KEY = 'hasSitemapLinks';
/** Fact in the crawl db of requisites: the newest segment of pages whose requisites are known. */
export const REQUISITES_READ_KEY = 'requisitesRead';

export interface StoredLinks {
  readonly url: string;
  readonly targets: readonly string[];
}

/** A due URL, with the fields that generate reads without loading its record. */
export interface DueEntry {
  readonly url: string;
  readonly dueAt: number;
  readonly state: CrawlState;
  readonly score: number;
  readonly depth: number;
  /** Revisit interval, ms; the fixed one where the operator set it. */
  readonly intervalMs: number;
  readonly lastFetchAt: number | null;
  readonly failures: number;
  /** Never requested so far. */
  readonly isNew: boolean;
  /** Under a fixed interval of the operator. */
  readonly isFixed: boolean;
  readonly belief: ScheduleMemory['belief'];
  /** Importance of the page; 1 for an ordinary one. */
  readonly weight: number;
  /** Time of the last visit where it failed or was refused; `null` where it was answered, or there was none. */
  readonly unansweredAt: number | null;
}

export interface DueQuery {
  readonly until: number;
  readonly limit?: number;
  /** Only new URLs, or only known pages; default: both. */
  readonly only?: 'new' | 'known';
  /** Of the new URLs only those with a lower score; to 11 digits, as far as the index orders scores. */
  readonly belowScore?: number;
  readonly meter?: ReadMeter;
}

export interface DueOfGroupQuery {
  readonly host: string;
  readonly group: number;
  readonly after: number;
  /** Entries read, leased ones included. */
  readonly limit: number;
  readonly meter?: ReadMeter;
}

export interface ScanQuery {
  /** Only this host (`host[:port]`). */
  readonly host?: string;
  /** Only this domain and the hosts below it. */
  readonly domain?: string;
  /** Only URLs with this prefix (canonical, host included). */
  readonly prefix?: string;
  readonly state?: CrawlState;
  /** Only records with a failed visit since the last good one. */
  readonly failing?: boolean;
  readonly limit?: number;
  readonly meter?: ReadMeter;
}

export type StateCounts = Readonly<Partial<Record<CrawlState, number>>>;

export interface CrawlDbCounters {
  readonly urls: number;
  readonly byState: StateCounts;
  readonly hosts: number;
  readonly leased: number;
}

export interface HostRow {
  /** Politeness key: `host[:port]`. */
  readonly host: string;
  readonly urls: number;
  readonly byState: StateCounts;
  readonly facts: HostFacts;
}

/** Statistics that fetching collects about a host. All counts are since the host was first met. */
export interface HostFacts {
  /** Audits (full fetches that check the headers), and those that found the headers wrong. */
  readonly audits: number;
  readonly lies: number;
  /** Headers of this host are ignored until this time; `null`: they are trusted. */
  readonly distrustedUntil: number | null;
  /** Conditional requests answered by 304, and those answered by 200 although nothing had changed. */
  readonly conditionalHits: number;
  readonly conditionalMisses: number;
  /** HEAD probes that answered as GET would have, and useless ones (refused, fields missing). */
  readonly headHits: number;
  readonly headMisses: number;
  /** Body bytes saved by rungs 2 and 3. */
  readonly bytesSaved: number;
  /** Visits announced by a newer `lastmod` of a sitemap: those that found the page changed, and those that did not. */
  readonly hintHits: number;
  readonly hintMisses: number;
  /** Its answer to a URL that cannot exist, to recognise soft 404s; `null`: never requested. */
  readonly nothing: MissingPage | null;
  /** No request before this time, as demanded by Retry-After; `null`: none was demanded. */
  readonly restUntil: number | null;
  /** Costs and failures of its visits; `null`: none since they are counted, and in the facts that segments hold. */
  readonly traffic: HostTraffic | null;
  /** What rendering has shown of its bare pages, by path pattern; `null`: none was rendered. */
  readonly rendering: readonly RenderTrials[] | null;
  /** How its pages were seen to change; `null`: not at all so far, and in the facts that segments hold. */
  readonly clock: HostClock | null;
  /** What its dead links have shown; `null`: it has none. In the facts that segments hold without folders. */
  readonly missing: MissingLinks | null;
  /**
   * Its visits on the last day with any, while it has a bound by the day; `null`: it had none, and in the facts that
   * segments hold.
   */
  readonly fetchesOfDay: FetchesOfDay | null;
}

export const NO_HOST_FACTS: HostFacts = Object.freeze({
  audits: 0,
  lies: 0,
  distrustedUntil: null,
  conditionalHits: 0,
  conditionalMisses: 0,
  headHits: 0,
  headMisses: 0,
  bytesSaved: 0,
  hintHits: 0,
  hintMisses: 0,
  nothing: null,
  restUntil: null,
  traffic: null,
  rendering: null,
  clock: null,
  missing: null,
  fetchesOfDay: null,
});

export interface Lease {
  readonly url: string;
  readonly segment: string;
  /** When the URL is due after a release; `null`: never. */
  readonly dueAt: number | null;
}

/** `generated`: the fetch list is complete; `updated`: applied to the crawl db, the segment is done. */
export type SegmentState = 'generated' | 'fetched' | 'parsed' | 'updated';

export interface SegmentRow {
  readonly id: string;
  readonly state: 'generated' | 'updated';
  readonly createdAt: number;
  /** URLs in the fetch list. */
  readonly urls: number;
  /** Fetched records that updatedb has applied: its progress, written in the same batch as those records. */
  readonly applied: number;
}

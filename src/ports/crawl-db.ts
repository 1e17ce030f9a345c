import type { FeedBatch } from '../domain/crawl/change/change-feed.ts';
import type { CrawlDatum, CrawlState, ScheduleMemory } from '../domain/crawl/states/datum.ts';
import type { AnswerToNothing } from '../domain/crawl/states/soft-404.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { ReadMeter, RecordIndexes } from './record-indexes.ts';

/**
 * The crawl db: one record per canonical URL, a due index, counters, host facts, stored outlinks, segment rows and the
 * change feed.
 *
 * One process writes at a time; the methods may be called concurrently, writes take effect in the order of the calls.
 * Whatever one `write` carries becomes visible, and survives a crash, as a whole or not at all.
 */
export interface CrawlDb extends RecordIndexes, ChangeFeed {
  /** The record, or `undefined` for a URL that is not known. The URL must be canonical. */
  get(url: string): Promise<CrawlDatum | undefined>;
  /** Records in the order asked; `undefined` where there is none. Sorted internally: far cheaper than many `get`. */
  getMany(urls: readonly string[]): Promise<(CrawlDatum | undefined)[]>;
  /** Whether a record exists, in the order asked, without decoding any. */
  hasMany(urls: readonly string[]): Promise<boolean[]>;
  /**
   * Applies a batch atomically and keeps due index, leases and counters in step with the records. `durable: true` also
   * waits for the disk (a commit point). Rejects with `CrawlError('disk-full')` when the disk is full: nothing of the
   * batch may then be relied on, and writing it again, with `previous` read again, is harmless.
   */
  write(batch: CrawlDbBatch, options?: { durable?: boolean }): Promise<void>;
  /**
   * Due entries with `dueAt <= until`: pages to come back to, oldest first, then new URLs, highest score first. Leased
   * URLs are not among them. A consistent snapshot.
   */
  due(query: DueQuery): AsyncIterable<DueEntry>;
  /** Number of entries that `due` would yield, without decoding any. */
  countDue(until: number): Promise<number>;
  /** Records in key order (hosts of a domain lie together). A consistent snapshot. */
  scan(query?: ScanQuery): AsyncIterable<CrawlDatum>;
  /** Counts kept with every write: an index read, never a scan. */
  counters(): Promise<CrawlDbCounters>;
  /** Hosts in key order, with their counters and facts; `prefix`: those whose name begins so. */
  hosts(query?: { prefix?: string; limit?: number }): AsyncIterable<HostRow>;
  /** In the order asked; `undefined` for a host without any URL or fact. */
  hostRows(hosts: readonly string[]): Promise<(HostRow | undefined)[]>;
  /** Stored outlinks of the last full parse, canonical; empty when none are stored. */
  links(url: string): Promise<readonly string[]>;
  /** Every page with stored outlinks, in key order. A consistent snapshot. */
  scanLinks(): AsyncIterable<StoredLinks>;
  /** The lease on a URL, if any, in the order asked. */
  leases(urls: readonly string[]): Promise<(Lease | undefined)[]>;
  /** All leases of one segment, or of all. */
  scanLeases(segment?: string): AsyncIterable<Lease>;
  /** Segment rows, oldest first. */
  segments(): Promise<SegmentRow[]>;
  /** Small facts about the whole db, such as the time of the last orphan sweep. */
  meta(key: string): Promise<string | undefined>;
  /** All of them but what the db keeps for itself, by name. */
  metas(): Promise<Readonly<Record<string, string>>>;
  close(): Promise<void>;
}

/** Applied in the order of the fields. A URL that one batch names twice counts once. */
export interface CrawlDbBatch {
  readonly puts?: readonly CrawlDbPut[];
  /** Removes records with their due entries, leases and stored outlinks. URLs without a record are passed over. */
  readonly deletes?: readonly CrawlDatum[];
  /** Replaces the stored outlinks of a page; an empty list removes them. */
  readonly links?: readonly StoredLinks[];
  readonly hostFacts?: readonly { readonly host: string; readonly facts: HostFacts }[];
  /**
   * Hands due URLs to a segment: they leave the due index until a put with `leasedBy` or a release. Entries that are no
   * longer in the due index at their time (new URLs: and score), because another segment holds them or they have moved,
   * are passed over.
   */
  readonly lease?: { readonly segment: string; readonly entries: readonly DueEntry[] };
  /**
   * Gives leased URLs back: they are due again when they were before. URLs that are not leased by the segment are
   * passed over.
   */
  readonly release?: { readonly segment: string; readonly urls: readonly string[] };
  readonly segments?: readonly SegmentRow[];
  readonly removeSegments?: readonly string[];
  readonly feed?: FeedBatch;
  readonly meta?: Readonly<Record<string, string>>;
  /**
   * `true`: part of an import, which counts for nothing before the batch that says `false`; a db that is opened again
   * without that one has nothing but its small facts. Batches that say neither are refused meanwhile with
   * `usage-invalid`.
   */
  readonly isImporting?: boolean;
}

export interface CrawlDbPut {
  readonly datum: CrawlDatum;
  /** The record as read before, `null` when there was none: index and counters are moved from it. */
  readonly previous: CrawlDatum | null;
  /**
   * Ends the lease that this segment holds. Without it a leased URL stays leased, and only the time it will be due
   * again moves.
   */
  readonly leasedBy?: string;
}

export interface StoredLinks {
  readonly url: string;
  readonly targets: readonly string[];
}

/** What generate needs to know of a due URL without reading its record. */
export interface DueEntry {
  readonly url: string;
  readonly dueAt: number;
  readonly state: CrawlState;
  readonly score: number;
  readonly depth: number;
  /** Revisit interval; that of the operator, where it is fixed. */
  readonly intervalMs: number;
  readonly lastFetchAt: number | null;
  readonly failures: number;
  /** Never asked for so far. */
  readonly isNew: boolean;
  /** Under an interval that the operator fixed. */
  readonly isFixed: boolean;
  readonly belief: ScheduleMemory['belief'];
  /** How much the page matters; 1 for an ordinary one. */
  readonly weight: number;
  /** Time of the last visit, where it failed or was refused; `null`: it was answered, or there was none. */
  readonly unansweredAt: number | null;
}

export interface DueQuery {
  readonly until: number;
  readonly limit?: number;
  /** Only new URLs, or only pages to come back to; by default both. */
  readonly only?: 'new' | 'known';
  readonly meter?: ReadMeter;
}

export interface ScanQuery {
  /** Only this host (`host[:port]`). */
  readonly host?: string;
  /** Only this domain and the hosts below it. */
  readonly domain?: string;
  /** Only URLs that begin so (canonical scheme and host required). */
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

/** What fetching taught about a host. All counts since the host was first met. */
export interface HostFacts {
  /** Full fetches made to check what headers had said, and how often they had lied. */
  readonly audits: number;
  readonly lies: number;
  /** Until then headers of this host are not believed; `null`: they are. */
  readonly distrustedUntil: number | null;
  /** Conditional requests answered by 304, and those answered by a 200 although nothing had changed. */
  readonly conditionalHits: number;
  readonly conditionalMisses: number;
  /** HEAD probes that answered as GET would have, and those of no use (refused, fields missing). */
  readonly headHits: number;
  readonly headMisses: number;
  /** Body bytes not transferred thanks to rungs 2 and 3. */
  readonly bytesSaved: number;
  /** Visits that a newer `lastmod` in a sitemap had announced, and that found the page changed, or the same. */
  readonly hintHits: number;
  readonly hintMisses: number;
  /** What it answers where there is nothing; `null`: never asked. */
  readonly nothing: AnswerToNothing | null;
  /** Until then it is asked for nothing, as it has demanded by Retry-After; `null`: it never has. */
  readonly restUntil: number | null;
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
});

export interface Lease {
  readonly url: string;
  readonly segment: string;
  /** When the URL is due again once it is given back; `null`: never. */
  readonly dueAt: number | null;
}

/** `generated`: the fetch list is whole; `updated`: applied to the crawl db, nothing is left to do. */
export type SegmentState = 'generated' | 'fetched' | 'parsed' | 'updated';

export interface SegmentRow {
  readonly id: string;
  readonly state: 'generated' | 'updated';
  readonly createdAt: number;
  /** URLs in the fetch list. */
  readonly urls: number;
  /**
   * Fetched records that updatedb has applied so far: the progress mark, written in the same batch as what it counts.
   */
  readonly applied: number;
}

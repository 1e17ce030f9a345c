import type { Config } from '../config/schema.ts';
import type { InjectMode } from '../domain/crawl/discovery/seed.ts';
import type { SkipReason } from '../domain/crawl/states/skip-reasons.ts';
import type { PruneOptions, PruneSummary } from '../operations/care/prune-segments.ts';
import type { ChangesQuery, ChangeView, FeedView } from '../operations/changes/changes.ts';
import type { DedupRequest } from '../operations/dedup/dedup-settings.ts';
import type { ExportOutlet, ExportQuery, ExportSummary } from '../operations/export/export-pages.ts';
import type { PageDiff, PageVersion, VersionChoice } from '../operations/inspect/page-diff.ts';
import type { StoredBody } from '../operations/inspect/stored-body.ts';
import type { SeenView } from '../operations/state/seen-urls.ts';
import type { TransferSummary } from '../operations/transfer/db-transfer.ts';
import type { MergeSummary } from '../operations/transfer/merge-states.ts';
import type { RepartitionOptions, RepartitionSummary } from '../operations/transfer/repartition.ts';
import type { Clock } from '../ports/clock.ts';
import type { SegmentState } from '../ports/crawl-db.ts';
import type { Log } from '../ports/log.ts';
import type { FetchedRecord, ParsedRecord } from '../ports/segment-store.ts';
import type { HostSitemaps } from '../steps/fetch/sitemaps.ts';
import type { GenerateOptions } from '../steps/generate/generate.ts';
import type { SeedSource } from '../steps/inject.ts';
import type { Explanation } from '../steps/inspect/explain.ts';
import type { QueryReport, RecordQuery } from '../steps/inspect/find-records.ts';
import type { Grouping, GroupView } from '../steps/inspect/host-groups.ts';
import type { NearOptions, NearPage } from '../steps/inspect/near-pages.ts';
import type { PlanSummary } from '../steps/inspect/plan.ts';
import type { RecordRow } from '../steps/inspect/record-columns.ts';
import type { SimulateSummary } from '../steps/inspect/simulate.ts';
import type { DbStats } from '../steps/inspect/stats.ts';
import type { DueView, HostView, RecordView } from '../steps/inspect/views.ts';
import type { RetryQuery, RetrySummary } from '../steps/retry.ts';
import type {
  CrawlProgress,
  CrawlSummary,
  FetchSummary,
  GenerateSummary,
  InjectSummary,
  ParseSummary,
  ReadmitSummary,
  RoundSummary,
  UpdateSummary,
} from '../steps/summaries.ts';
import type { TouchSummary } from '../steps/touch.ts';
import type { DedupSummary, DuplicateView } from '../steps/update/dedup.ts';

export interface CrawlerOptions {
  /** Validated and frozen, as `loadConfig` gives it. */
  readonly config: Config;
  /** State directory; made when it does not exist. */
  readonly dir: string;
  readonly log: Log;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Uniform in [0, 1); chooses audits. Default `Math.random`. */
  readonly random?: () => number;
  /** Folder against which paths in the configuration are meant; default: the current folder. */
  readonly baseDir?: string;
  /**
   * `read` opens the segments only, for what needs no crawl db: fetch, parse, readseg. `look` is for questions: a crawl
   * db in Redis is then read beside whoever writes it.
   */
  readonly access?: 'write' | 'look' | 'read';
  /**
   * Holds `db`, a copy of the crawl db as it was at one moment, while another process goes on with the original: what
   * only reads.
   */
  readonly snapshotDir?: string;
}

export interface FetchStepOptions {
  /** Default: the newest segment that still has something to fetch. */
  readonly segment?: string;
  readonly signal?: AbortSignal;
  /** Parse while fetching. */
  readonly parse?: boolean;
  readonly onProgress?: (progress: CrawlProgress) => void;
}

export interface ParseStepOptions {
  readonly segment?: string;
  /** Throw the parse output away and do it anew. */
  readonly force?: boolean;
  readonly signal?: AbortSignal;
}

export interface UpdateStepOptions {
  readonly segment?: string;
  readonly additions?: boolean;
  readonly purgeGone?: boolean;
  readonly orphans?: 'off' | 'mark' | 'purge';
  /** As in `CrawlOptions`. */
  readonly maxLayers?: number;
}

export interface CrawlOptions {
  /** Default: until nothing is due. */
  readonly rounds?: number;
  readonly topN?: number;
  /** Layers: seeds are the first, the pages they link to the second. Default: no limit. */
  readonly maxLayers?: number;
  /** Fetches of the whole run, spent where they win most freshness; without it `generate.budgetPerDay` decides. */
  readonly budget?: number;
  readonly seeds?: readonly SeedSource[];
  readonly signal?: AbortSignal;
  readonly onRound?: (round: RoundSummary) => void;
  readonly onProgress?: (progress: CrawlProgress) => void;
  readonly generate?: GenerateOptions;
}

export interface DueOptions {
  readonly limit?: number;
  /** Ms since the epoch. */
  readonly at?: number;
  readonly forMs?: number;
}

export interface SegmentView {
  readonly id: string;
  readonly state: SegmentState;
  readonly createdAt: string;
  readonly urls: number;
  readonly fetched: number;
  readonly parsed: number;
}

export interface SegmentRecordView {
  readonly segment: string;
  readonly fetched: FetchedRecord;
  readonly parsed: ParsedRecord | null;
  /** Only where one page was asked for. `body` is text where the type is textual, else base64. */
  readonly response?: {
    readonly status: number;
    readonly headers: readonly (readonly [string, string])[];
    readonly body: string | null;
    readonly bodyEncoding: 'text' | 'base64' | null;
  } | null;
}

export interface PluginView {
  readonly name: string;
  readonly kind: string;
  readonly bundled: boolean;
  readonly file: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** A bundled exporter that needs no line in the plugin list: it is loaded when its format is asked for. */
  readonly onDemand: boolean;
}

/** One crawl on one state directory. All methods reject with a `CrawlError` whose code is stable. */
export interface Crawler {
  inject(sources: readonly SeedSource[], options?: { readonly mode?: InjectMode }): Promise<InjectSummary>;
  generate(options?: GenerateOptions): Promise<GenerateSummary>;
  fetch(options?: FetchStepOptions): Promise<FetchSummary & { readonly parse?: ParseSummary }>;
  parse(options?: ParseStepOptions): Promise<ParseSummary>;
  updatedb(options?: UpdateStepOptions): Promise<UpdateSummary>;
  /**
   * Judges the links of all stored pages by the URL rules of today, without a request; new URLs enter. `crawl` and
   * `updatedb` do so by themselves where rules have changed since.
   */
  readmitLinks(options?: { readonly signal?: AbortSignal }): Promise<ReadmitSummary>;
  crawl(options?: CrawlOptions): Promise<CrawlSummary>;
  /**
   * Injects seeds and sees to it that `crawl` may begin; bad lines are logged. Rejects with `contact-missing` when it
   * may not.
   */
  prepare(seeds?: readonly SeedSource[]): Promise<void>;
  /**
   * Reads the sitemaps of origins (`https://example.org`), or of hosts, whose known pages tell the scheme (else https);
   * default: the hosts of the seeds. New URLs enter like outlinks, `lastmod` brings known pages forward as far as it
   * has proven right on the host.
   */
  sitemaps(origins?: readonly string[], options?: { readonly signal?: AbortSignal }): Promise<HostSitemaps[]>;
  /** Brings the next visit of known URLs forward to `at` (default: now). */
  touch(urls: readonly string[], options?: { readonly at?: number }): Promise<TouchSummary>;
  /** Makes URLs due at once that failed, were refused or are gone; told one by one. */
  retry(query: RetryQuery, onUrl?: (url: string, reason: SkipReason | null) => void): Promise<RetrySummary>;
  /** What the next days will ask for. */
  plan(options?: { readonly days?: number; readonly budgetPerDay?: number }): Promise<PlanSummary>;
  /** The stored visits replayed through schedules, by name. */
  simulate(options: { readonly schedules: readonly string[]; readonly host?: string }): Promise<SimulateSummary>;
  /** `full`: read the due index for what is not counted, however large it is. */
  stats(options?: { readonly full?: boolean }): Promise<DbStats>;
  /** URLs by host, registrable domain or top-level domain, most first. */
  groups(by: Grouping): Promise<GroupView[]>;
  /** How the crawl knows which URLs are new: cache, filter, reads. */
  seen(): Promise<SeenView>;
  record(url: string): Promise<RecordView | null>;
  /** Records by any conditions; says at the end where they were found and what was read. */
  records(query?: RecordQuery): AsyncGenerator<RecordView, QueryReport, undefined>;
  /** The same, cut down to fields of a record; see `QUERY_FIELDS`. */
  select(query: RecordQuery, fields: readonly string[]): AsyncGenerator<RecordRow, QueryReport, undefined>;
  /** By score, highest first. */
  topN(count: number): Promise<RecordView[]>;
  /** What is due at a time (default: now), or has been due for so long then. */
  due(options?: DueOptions): AsyncGenerator<DueView, QueryReport, undefined>;
  /** Change rates of hosts need the due index: a large one is read only when that is asked for (`full`). */
  hosts(options?: { readonly limit?: number; readonly full?: boolean }): AsyncIterable<HostView>;
  segments(): Promise<SegmentView[]>;
  segmentRecord(url: string, segment?: string): Promise<SegmentRecordView | null>;
  segmentRecords(segment?: string): AsyncIterable<SegmentRecordView>;
  /** What became of pages, oldest first; with `newest`, the last ones, in the same order. */
  changes(query?: ChangesQuery): AsyncIterable<ChangeView>;
  /** How far the change feed goes. */
  changeFeed(): Promise<FeedView>;
  explain(url: string): Promise<Explanation>;
  /** The contents of a page that the segments hold, oldest first. */
  versions(url: string): Promise<readonly PageVersion[]>;
  /** The newest content of a page that the segments hold. */
  storedBody(url: string): Promise<StoredBody | null>;
  /** Two of them compared; see `diffPage`. */
  diff(url: string, choice?: { readonly from?: VersionChoice; readonly to?: VersionChoice }): Promise<PageDiff>;
  /** Pages with their contents, in the format of an exporter plugin. */
  export(query: ExportQuery, outlet: ExportOutlet): Promise<ExportSummary>;
  plugins(): Promise<readonly PluginView[]>;
  /** Marks pages that repeat others. `incoming`: a segment whose pages represent; see `dedup`. */
  dedup(request: DedupRequest, onDuplicate?: (duplicate: DuplicateView) => void): Promise<DedupSummary>;
  undoDedup(dryRun: boolean): Promise<number>;
  /** Pages with signatures near that of a page; `null` when it is not known or has none. */
  near(
    url: string,
    options: Omit<NearOptions, 'scope'> & { readonly scope?: NearOptions['scope'] },
  ): Promise<NearPage[] | null>;
  /**
   * Families of the URLs that pages link to, per domain, as the reducer of the map/reduce job `linkclusters` tells
   * them.
   */
  linkClusters(): AsyncIterable<string>;
  /** The crawl db as lines of JSON, without line ends. */
  exportDb(): AsyncIterable<string>;
  /** Reads such lines back: into an empty crawl db, or (`merge`) beside what it has. */
  importDb(lines: AsyncIterable<string>, mode: 'whole' | 'merge'): Promise<TransferSummary>;
  /** Adds the crawl of another state directory to this one. */
  merge(dir: string): Promise<MergeSummary>;
  /** Cuts the crawl db into one for each node. */
  repartition(options: RepartitionOptions): Promise<RepartitionSummary>;
  /** Removes segments of which nothing is needed any more. */
  pruneSegments(options: Omit<PruneOptions, 'now'>): Promise<PruneSummary>;
  close(): Promise<void>;
}

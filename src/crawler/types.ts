import type { ReparseOperations } from '../care/reparse/reparse-operations.ts';
import type { CareOperations } from '../care/state/care-operations.ts';
import type { TransferOperations } from '../care/transfer/transfer-operations.ts';
import type { Config } from '../core/config/schema.ts';
import type { Clock } from '../core/ports/clock.ts';
import type { Log } from '../core/ports/log.ts';
import type { OnWork } from '../core/ports/work-progress.ts';
import type { ExportOperations } from '../delivery/export/export-operations.ts';
import type { MirrorOperations } from '../delivery/mirror/mirror-operations.ts';
import type { CookieOperations } from '../operations/cookies/cookie-operations.ts';
import type { CrawlOperations } from '../operations/loop/crawl-operations.ts';
import type { RevisitOperations } from '../operations/loop/revisit-operations.ts';
import type { DiscoveryOperations } from '../operations/loop/sitemaps.ts';
import type { StepOperations } from '../operations/loop/step-operations.ts';
import type { PluginOperations } from '../operations/plugins/plugin-views.ts';
import type { SteerOperations } from '../operations/steer/steering.ts';
import type { DedupOperations } from '../published/dedup/dedup-operations.ts';
import type { BatchOperations } from '../published/map-reduce/batch-operations.ts';
import type { LinkOperations } from '../published/map-reduce/link-operations.ts';
import type { SegmentOperations } from '../query/pages/segment-operations.ts';
import type { StoredCopyOperations } from '../query/pages/stored-copy.ts';
import type { CrawlReader } from '../query/questions.ts';
import type { Environment } from './proxies.ts';

export interface CrawlerOptions {
  /** Validated and frozen, as `loadConfig` gives it. */
  readonly config: Config;
  /** State directory; created if it does not exist, unless `mustExist`. */
  readonly dir: string;
  readonly log: Log;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Uniform in [0, 1); chooses audits. Default `Math.random`. */
  readonly random?: () => number;
  /** The environment of the process, for a warning about its proxies; default: none is given. */
  readonly env?: Environment;
  /** Observes the progress of long work, such as an import or a pass over the records. */
  readonly onWork?: OnWork;
  /** Folder that paths in the configuration are resolved against; default: the current folder. */
  readonly baseDir?: string;
  /**
   * `segments` opens no crawl db: fetch, parse and readseg need none. `look` does not write: a shared crawl db is
   * then read beside the process that writes it. Default: `write`.
   */
  readonly access?: 'write' | 'look' | 'segments';
  /** Rejects with `crawl-missing` if `dir` holds no crawl db, instead of beginning a crawl. Default: false. */
  readonly mustExist?: boolean;
  /** Folder with `db`, a copy of the crawl db at one moment, to be read while another process holds the crawl db. */
  readonly snapshotDir?: string;
}

/** One crawl on one state directory. All methods reject with a `CrawlError` whose code is stable. */
export interface Crawler
  extends CrawlReader,
    StepOperations,
    CrawlOperations,
    SteerOperations,
    DiscoveryOperations,
    ReparseOperations,
    RevisitOperations,
    SegmentOperations,
    StoredCopyOperations,
    DedupOperations,
    ExportOperations,
    MirrorOperations,
    LinkOperations,
    BatchOperations,
    TransferOperations,
    CareOperations,
    CookieOperations,
    PluginOperations {
  close(): Promise<void>;
}

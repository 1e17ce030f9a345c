// operations/: what can be done with a crawl: one folder a capability, each with its own interface.

import type { Config } from '../core/config/schema.ts';
import type { SettlePolicy } from '../core/domain/crawl/revisit/next-visit.ts';
import type { Exporter } from '../core/plugin-host/api/exporter-api.ts';
import type { LoadedPlugins } from '../core/plugin-host/loading/load-plugins.ts';
import type { PageConversion } from '../core/plugin-host/markdown/page-conversion.ts';
import type { parseLive } from '../core/plugin-host/parsing/parse-page.ts';
import type { Clock } from '../core/ports/clock.ts';
import type { CrawlDb } from '../core/ports/crawl-db.ts';
import type { FetchProtocol } from '../core/ports/fetch-protocol.ts';
import type { HostLanes } from '../core/ports/host-lanes.ts';
import type { Log } from '../core/ports/log.ts';
import type { FingerprintTables } from '../core/ports/near.ts';
import type { PageParser, PageToParse } from '../core/ports/page-parser.ts';
import type { RobotsStore, SharedRobots } from '../core/ports/robots.ts';
import type { SeenFilter, SeenUrls } from '../core/ports/seen-filter.ts';
import type { SegmentStore } from '../core/ports/segment-store.ts';
import type { OnWork } from '../core/ports/work-progress.ts';
import type { Rendering } from '../core/steps/render/rendering.ts';
import type { UrlAdmission } from '../core/steps/update/admission.ts';
import type { LinkFamilies, QueryVariants } from '../core/steps/update/link-treatment.ts';
import type { InlinkLevels } from '../core/steps/update/links/inlink-levels.ts';
import type { UrlChain } from '../core/steps/url-chain.ts';
import type { RowsCrawlDb } from '../store/rows/rows-crawl-db.ts';

/** Dependencies of the operations of a crawl, made by `src/crawler`. Each operation names the fields it takes. */
export interface CrawlDeps {
  /** State directory, absolute. */
  readonly dir: string;
  readonly config: Config;
  readonly runtime: Runtime;
  readonly plugins: CrawlPlugins;
  readonly web: WebAccess;
  readonly pages: PageAccess;
  readonly segments: SegmentStore;
  /** The open crawl db. Throws `TypeError` if the crawl was opened only for its segments. */
  store(): Store;
}

export interface Runtime {
  readonly clock: Clock;
  readonly log: Log;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly onWork: OnWork;
}

/** The plugins of the plugin list, with the URL chain and the policy made from them. */
export interface CrawlPlugins {
  readonly loaded: LoadedPlugins;
  readonly urls: UrlChain;
  readonly policy: SettlePolicy;
  /** The exporter of a format; rejects with `usage-invalid` for an unknown format. */
  exporter(format: string): Promise<Exporter>;
}

/** Only URL plugins and schedules, with the stored copies of robots.txt: answering a question sends no request. */
export interface QuestionPlugins {
  readonly loaded: LoadedPlugins;
  readonly policy: SettlePolicy;
  readonly robotsStore: RobotsStore;
}

/** Protocols and the limits of politeness: lanes and robots.txt. */
export interface WebAccess {
  /** By URL scheme, without the colon. */
  readonly protocols: ReadonlyMap<string, FetchProtocol>;
  readonly lanes: HostLanes;
  readonly robots: SharedRobots;
  readonly robotsStore: RobotsStore;
  /** `null`: no page is rendered. */
  readonly rendering: Rendering | null;
  /** Whether the host has a private address or is allowed by name: such hosts need no contact. */
  isOwnHost(host: string): boolean;
  /**
   * Called with hosts before the first request to them. Warns of proxies of the environment, which are not used, and of
   * too few descriptors. Throws `system-limit` if there are too few for any request, and `config-invalid` if a secret
   * of `hosts:` cannot be read, or there is no browser to render with.
   */
  noteHosts(hosts: Iterable<string>): void;
}

/** Parsing and decoding of stored bodies. */
export interface PageAccess {
  /** Parses on worker threads, which start on first use because they cost memory. */
  parser(): PageParser;
  /** Undoes the Content-Encoding of a stored body. If the body was cut, returns as much as can be decoded. */
  undoContentCoding(body: Uint8Array, codings: string | undefined): Promise<Uint8Array>;
  /** Converts on a worker thread, which starts on first use. */
  readonly convert: PageConversion;
  /** Parses a stored body in this thread, and returns the whole result. The plugins are loaded on the first call. */
  parseLive(page: PageToParse): ReturnType<typeof parseLive>;
}

/** An open crawl db with the state kept in memory beside it. */
export interface Store {
  readonly db: RowsCrawlDb;
  readonly seen: SeenUrls;
  readonly seedHosts: Set<string>;
  /** Counts of query strings by path, kept between runs of updatedb. */
  readonly variants: QueryVariants;
  readonly admission: UrlAdmission;
  readonly families: LinkFamilies;
  /** `undefined`: the scoring does not depend on the links to a page. */
  readonly inlinks: InlinkLevels | undefined;
  /** Adds the look-ups of new URLs since the last call to the counts that `readdb --seen` shows. */
  saveSeenStats(): Promise<void>;
}

/** A crawl for questions: one crawl db that answers for all of its parts. */
export type QueryDb = CrawlDb & {
  /** The parts in which something was written: one, or the partitions of a spread crawl. */
  readonly parts: readonly PartOfCrawl[];
  /** The crawl db, with the facts of the part that has the host. */
  partOf(host: string): PartOfCrawl;
  /** One crawl db that contains all parts, for an export. Warns of what it lacks. */
  asOne(log: Log): Promise<CrawlDb>;
  readonly fingerprints: FingerprintTables | null;
  readonly seenFilter: SeenFilter | null;
};

/** A crawl db, and the state directory with its segments and reports. */
export interface PartOfCrawl {
  readonly db: CrawlDb;
  readonly dir: string;
  /** From 0; the number of the partition. */
  readonly number: number;
}

/** A crawl that consists of one crawl db. */
export function ofOnePart<Db extends Omit<QueryDb, 'parts' | 'partOf' | 'asOne'>>(db: Db, dir: string): Db & QueryDb {
  const part = { db, dir, number: 0 };
  return Object.assign(db, { parts: [part], partOf: () => part, asOne: async () => db });
}

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../core/config/schema.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import type { LoadedPlugins } from '../../core/plugin-host/loading/load-plugins.ts';
import { normalizedUrl } from '../../core/plugin-host/url-chain.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import { noteRest, restsOf } from '../../core/steps/facts/host-rest.ts';
import type { PageAnswer } from '../../core/steps/render/rendering.ts';
import type { CrawlSummary, RequisitesSummary } from '../../core/steps/round-summary.ts';
import type { UrlChain } from '../../core/steps/url-chain.ts';
import type { CrawlDeps, Store } from '../deps.ts';
import { type CrawlOptions, crawlOperations } from '../loop/crawl-operations.ts';
import { openSegments } from '../state/open-segments.ts';
import { openStore } from '../state/open-store.ts';
import { REQUISITES_FOLDER } from '../state/state-folder.ts';
import type { RunSteering } from '../steer/steering.ts';
import { AnswerKeeper } from './answer-keeper.ts';
import { noteRequisites } from './note-requisites.ts';
import { requisiteParser } from './requisite-parser.ts';

/** Longest requisite; a longer one is cut off, as pages are by `http.maxBodyBytes` where that is more. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** What pages need, what style sheets import, and what those import. */
const MAX_LAYERS = 5;

/** Ends of a crawl after which nothing keeps requisites from being fetched. */
const GOES_ON: ReadonlySet<CrawlSummary['stoppedBy']> = new Set(['nothing-due', 'rounds', 'hosts-waiting']);

/**
 * Crawls pages, and then what they need to be shown. Where pages are rendered, the second crawl is open from the
 * beginning, and takes what browsers are answered.
 */
export async function crawlWithRequisites(
  deps: CrawlDeps,
  steering: RunSteering,
  options: CrawlOptions,
): Promise<CrawlSummary> {
  const { rendering } = deps.web;
  let requisites = rendering === null ? null : await openCrawl(deps, steering);
  try {
    const { keeper } = requisites ?? {};
    const keeping = keeper && { rendering: { ...rendering!, keep: (answer: PageAnswer) => keeper.keep(answer) } };
    const pages = { ...deps, web: { ...deps.web, ...keeping } };
    const summary = await crawlOperations(pages, steering)
      .crawl(options)
      .finally(() => keeper?.close());
    if (!GOES_ON.has(summary.stoppedBy) || options.signal?.aborted) return summary;
    requisites ??= await openCrawl(deps, steering);
    return { ...summary, requisites: await requisites.crawl(options) };
  } finally {
    await requisites?.close();
  }
}

/** The crawl of requisites, open. */
interface RequisiteCrawl {
  readonly keeper: AnswerKeeper;
  crawl(options: Pick<CrawlOptions, 'signal' | 'touchAll' | 'onProgress'>): Promise<RequisitesSummary>;
  close(): Promise<void>;
}

/**
 * The crawl of what pages need to be shown. It is a crawl beside that of the pages, in a folder of its state directory:
 * so requisites have records, intervals and beliefs of their own, and are never parsed, counted, compared or exported
 * as pages. Lanes, robots.txt, protocols and pauses of hosts are those of the pages, so a host sees one crawler.
 */
async function openCrawl(deps: CrawlDeps, steering: RunSteering): Promise<RequisiteCrawl> {
  const { runtime, pages, config } = deps;
  const own = requisiteDeps(deps);
  mkdirSync(own.dir, { recursive: true, mode: 0o700 });
  const store = await openStore(own, { access: 'write' });
  const before = (await store.db.counters()).urls;
  const limit = config.fetch.maxRequisites;
  const keeper = new AnswerKeeper({ ...own, store: () => store }, limit);
  return {
    keeper,
    async crawl(options) {
      const noted = await noteRequisites({
        pages: { ...deps, undoContentCoding: pages.undoContentCoding },
        own: store,
        urls: own.plugins.urls,
        initialIntervalMs: own.plugins.policy.schedule.initialIntervalMs,
        limit,
        now: runtime.clock.now(),
        log: runtime.log,
        signal: options.signal,
      });
      if (noted.refused > 0)
        runtime.log.warn('requisites were left out: fetch.maxRequisites is reached', { refused: noted.refused });
      const pagesDb = deps.store().db;
      await copyRests(pagesDb, store.db, runtime.clock.now());
      const loop = crawlOperations({ ...own, store: () => store }, steering);
      const { totals, stoppedBy } = await loop.crawl({ maxLayers: MAX_LAYERS, ...only(options) });
      await copyRests(store.db, pagesDb, runtime.clock.now());
      const { urls } = await store.db.counters();
      return summaryOf(totals, { urls, added: Math.max(0, urls - before), fromBrowser: keeper.count, stoppedBy });
    },
    close: () => store.db.close(),
  };
}

function summaryOf(
  totals: CrawlSummary['totals'],
  counted: Pick<RequisitesSummary, 'urls' | 'added' | 'fromBrowser' | 'stoppedBy'>,
): RequisitesSummary {
  const { fetched, notModified, skippedByHeaders, unchanged, modified, gone, failed } = totals;
  const { robotsDenied, requests, bodyBytes } = totals;
  const { urls, added, fromBrowser, stoppedBy } = counted;
  const counts = { fetched, unchanged: notModified + skippedByHeaders + unchanged, changed: modified };
  return { urls, added, fromBrowser, ...counts, gone, failed, robotsDenied, requests, bodyBytes, stoppedBy };
}

/** Seeds, rounds and budgets are those of the pages. */
const only = ({ signal, touchAll, onProgress }: CrawlOptions): CrawlOptions => ({
  ...(signal !== undefined && { signal }),
  ...(touchAll !== undefined && { touchAll }),
  ...(onProgress !== undefined && { onProgress }),
});

/** The dependencies of the crawl of requisites, without its crawl db. */
export function requisiteDeps(deps: Omit<CrawlDeps, 'store'>): Omit<CrawlDeps, 'store'> {
  const { log } = deps.runtime;
  const config = requisiteConfig(deps.config);
  const dir = join(deps.dir, REQUISITES_FOLDER);
  const loaded = { ...deps.plugins.loaded, filters: [], exemptions: [], parseFilters: [], scoring: null };
  return {
    ...deps,
    dir,
    config,
    plugins: { ...deps.plugins, loaded, urls: requisiteUrls(loaded, deps.config.fetch.requisites) },
    web: { ...deps.web, rendering: null },
    pages: { ...deps.pages, parser: () => requisiteParser },
    segments: openSegments({ config, dir, log }),
  };
}

/** Opens the crawl db of requisites beside that of the pages. */
export const openRequisites = (deps: Omit<CrawlDeps, 'store'>): Promise<Store> =>
  openStore(requisiteDeps(deps), { access: 'write' });

/** What holds for pages alone is off. */
export function requisiteConfig(config: Config): Config {
  const { fetch, http, outlinks, generate, updatedb, dedup, sitemaps, linkclusters, segments, seen, changes } = config;
  return {
    ...config,
    fetch: { ...fetch, requisites: 'none', soft404: false },
    http: { ...http, maxBodyBytes: Math.max(http.maxBodyBytes, MAX_BODY_BYTES) },
    outlinks: { ...outlinks, noise: 'follow', beyondVariants: 'follow' },
    generate: { ...generate, where: '', minScore: 0, minIntervalMs: 0, budgetPerDay: 0 },
    updatedb: { ...updatedb, additions: true, purgeGone: false, orphans: 'purge', readmitLinks: 'off' },
    dedup: { ...dedup, mode: 'off' },
    sitemaps: { ...sitemaps, mode: 'off' },
    linkclusters: { ...linkclusters, everyMs: 0 },
    segments: { ...segments, store: '' },
    seen: { ...seen, filter: seen.filter === 'redis' ? 'memory' : seen.filter },
    changes: { ...changes, max: 0 },
    hosts: config.hosts.map(({ depth, fetchesPerDay, ...entry }) => entry),
  };
}

/** Normalizers make one URL of several spellings; filters are for pages, and mostly refuse pictures. */
function requisiteUrls(loaded: LoadedPlugins, mode: Config['fetch']['requisites']): UrlChain {
  return {
    apply(url, { from }) {
      const result = normalizedUrl(loaded, url);
      if (result.url === null || mode === 'all' || from === null || hostOf(result.url) === hostOf(from)) return result;
      return { url: null, reason: 'on another host (fetch.requisites)', by: 'url' };
    },
  };
}

const HOSTS = 500;

/** What a host has asked of one crawl holds for the other. */
async function copyRests(from: CrawlDb, to: CrawlDb, now: number): Promise<void> {
  let hosts: string[] = [];
  const copy = async (): Promise<void> => {
    for (const [host, until] of await restsOf(from, hosts, now)) await noteRest(to, host, until);
    hosts = [];
  };
  for await (const { host } of to.hosts()) {
    hosts.push(host);
    if (hosts.length >= HOSTS) await copy();
  }
  await copy();
}

import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openLevelCrawlDb } from '../adapters/leveldb/crawl-db.ts';
import type { LevelCrawlDb } from '../adapters/leveldb/level-crawl-db.ts';
import { parseHttpDate } from '../domain/crawl/http-date.ts';
import { partitionOf } from '../domain/url/partition.ts';
import { hostOf } from '../domain/url/url-key.ts';
import { unknownName } from '../plugin-host/load-parsing.ts';
import { admissionGates, normalizedUrl } from '../plugin-host/url-chain.ts';
import { NO_SEEN_STATS, type SeenUrls } from '../ports/seen-urls.ts';
import type { Segment } from '../ports/segment-store.ts';
import { UrlAdmission } from '../steps/admission.ts';
import { trimFeed } from '../steps/change-feed.ts';
import { crawlLoop } from '../steps/crawl.ts';
import { undoDedup } from '../steps/dedup.ts';
import { type GenerateOptions, generate } from '../steps/generate.ts';
import { inject, SEED_HOSTS_KEY, type SeedSource } from '../steps/inject.ts';
import { sweepOrphans } from '../steps/orphans.ts';
import { planAhead } from '../steps/plan.ts';
import { QueryVariants } from '../steps/query-variants.ts';
import { retry } from '../steps/retry.ts';
import { simulateSchedules } from '../steps/simulate.ts';
import type { HostSitemaps } from '../steps/sitemaps.ts';
import { SkipNotes } from '../steps/skip-notes.ts';
import type { CrawlSummary, GenerateSummary, InjectSummary, UpdateSummary } from '../steps/summaries.ts';
import { NO_REJECTIONS } from '../steps/summaries.ts';
import { touch } from '../steps/touch.ts';
import { updateFromSegment } from '../steps/updatedb.ts';
import { isoTime } from '../steps/views.ts';
import { dbQuestions } from './db-questions.ts';
import { dumpLines, importLines, readDump } from './db-transfer.ts';
import { domainOf } from './domain-of.ts';
import { explainUrl } from './explain-url.ts';
import { exportPages } from './export/export-pages.ts';
import { createContentReader } from './export/page-content.ts';
import { segmentRecord, segmentRecords } from './inspection.ts';
import { crawlLinks } from './map-reduce/crawl-links.ts';
import { localJob } from './map-reduce/local-job.ts';
import { mergeState } from './merge-states.ts';
import { dedupAll, nearPlan, nearUrl, repeatRoom } from './near.ts';
import { requireContact } from './own-hosts.ts';
import { diffPage, pageVersions } from './page-diff.ts';
import { pluginViews } from './plugin-views.ts';
import { pruneSegments } from './prune-segments.ts';
import type { DbQuestions } from './questions.ts';
import { recover } from './recover.ts';
import { repartition } from './repartition.ts';
import { roundKeeper } from './round-log.ts';
import { runFetch, runParse } from './run-segment.ts';
import { configuredFilter, openSeenUrls, rememberSeen, seenView } from './seen.ts';
import { discoverSitemaps, sitemapsOf } from './sitemaps.ts';
import { reportSkips } from './skip-report.ts';
import { storedBody } from './stored-body.ts';
import { systemClock } from './system-clock.ts';
import type { Crawler, CrawlerOptions, CrawlOptions, UpdateStepOptions } from './types.ts';
import { segmentFor } from './unfinished.ts';
import { type Wiring, wire } from './wiring.ts';

/**
 * Opens a crawl on its state directory. Rejects with `CrawlError`: `db-locked` when another process holds it, `config-invalid` or
 * `plugin-broken` when it cannot be started as configured.
 */
export async function openCrawler(options: CrawlerOptions): Promise<Crawler> {
  const clock = options.clock ?? systemClock;
  const dir = resolve(options.dir);
  const baseDir = options.baseDir ?? process.cwd();
  await mkdir(dir, { recursive: true });
  const wiring = await wire({ config: options.config, dir, baseDir, log: options.log, clock });
  if (options.access === 'read') return new OpenCrawler(dir, wiring, null, options.random ?? Math.random);
  try {
    const { cacheBytes, writeBufferBytes } = options.config.db;
    const filter = await configuredFilter(options.config);
    const near = nearPlan(options.config);
    const db = await openLevelCrawlDb({
      dir: join(dir, 'db'),
      log: options.log,
      clock,
      cacheBytes,
      writeBufferBytes,
      ...(filter === undefined ? {} : { seenFilter: filter }),
      ...(near === null ? {} : { near }),
    });
    const seen = openSeenUrls(options.config, db, options.log);
    await recover(db, wiring.segments, options.log);
    const seedHosts = new Set<string>(JSON.parse((await db.meta(SEED_HOSTS_KEY)) ?? '[]') as string[]);
    const variants = new QueryVariants(db, options.config.outlinks.maxVariantsPerPath);
    const admission = new UrlAdmission(db, admissionGates(wiring.plugins, options.log));
    const store = { db, seen, seedHosts, variants, admission };
    return new OpenCrawler(dir, wiring, store, options.random ?? Math.random);
  } catch (error) {
    await wiring.close();
    throw error;
  }
}

interface Store {
  readonly db: LevelCrawlDb;
  readonly seen: SeenUrls;
  readonly seedHosts: Set<string>;
  /** Remembers what it has counted from one updatedb to the next. */
  readonly variants: QueryVariants;
  readonly admission: UrlAdmission;
}

const ORPHAN_SWEEP_KEY = 'orphanSweptAt';

class OpenCrawler implements Crawler {
  private readonly dir: string;
  private readonly wiring: Wiring;
  private readonly opened: Store | null;
  private readonly random: () => number;
  /** Counts of seen URLs that are in the crawl db already. */
  private seenKept = NO_SEEN_STATS;

  constructor(dir: string, wiring: Wiring, opened: Store | null, random: () => number) {
    this.dir = dir;
    this.wiring = wiring;
    this.opened = opened;
    this.random = random;
  }

  private get store(): Store {
    if (this.opened === null) throw new TypeError('this crawl is open for its segments only');
    return this.opened;
  }

  async inject(
    sources: readonly SeedSource[],
    options: { mode?: 'keep' | 'update' | 'overwrite' } = {},
  ): Promise<InjectSummary> {
    const { clock, urls, policy, plugins } = this.wiring;
    const room = {
      ...this.store,
      clock,
      urls,
      hostOf,
      seedScore: (url: string) => plugins.scoring?.seedScore(url) ?? 1,
      initialIntervalMs: policy.schedule.initialIntervalMs,
    };
    return inject(room, sources, options.mode ?? 'keep');
  }

  async generate(options: GenerateOptions = {}): Promise<GenerateSummary> {
    const { clock, urls, segments, plugins, config, policy } = this.wiring;
    const { worth } = policy.schedule;
    const { topN, maxPerHost, maxPerDomain, minScore, minIntervalMs, budgetPerDay, newShare } = config.generate;
    const skips = new SkipNotes(config.reports.skippedPerReason);
    const room = {
      ...this.store,
      segments,
      clock,
      urls,
      rank: (entry: Parameters<NonNullable<typeof plugins.scoring>['rank']>[0], now: number) =>
        plugins.scoring?.rank(entry, now) ?? entry.score,
      hostOf,
      domainOf,
      partitionOf: (host: string) => partitionOf(config.partition.by === 'domain' ? domainOf(host) : host),
      random: this.random,
      auditShare: config.fetch.auditShare,
      asksForNothing: config.fetch.soft404,
      skips,
      ...(worth === undefined ? {} : { worth }),
      minIntervalMs: policy.minIntervalMs,
    };
    const caps = { topN, maxPerHost, maxPerDomain, minScore, minIntervalMs };
    const defaults = {
      ...caps,
      maxLayers: Number.POSITIVE_INFINITY,
      addDaysMs: 0,
      dryRun: false,
      budget: 0,
      budgetPerDay,
      newShare,
    };
    const summary = await generate(room, { ...defaults, ...options });
    if (!options.dryRun) await this.reportSkips(skips, 'generate', summary.segment);
    return summary;
  }

  async fetch(options: Parameters<Crawler['fetch']>[0] = {}): ReturnType<Crawler['fetch']> {
    const info = await segmentFor(this.wiring.segments, 'fetch', options.segment);
    return this.withSegment(info.id, async (segment) => {
      const { onProgress } = options;
      const { fetch, parse } = await runFetch(this.wiring, segment, {
        parse: options.parse ?? false,
        signal: options.signal,
        onProgress:
          onProgress === undefined ? undefined : (progress) => onProgress({ round: 1, stage: 'fetch', ...progress }),
      });
      return parse === null ? fetch : { ...fetch, parse };
    });
  }

  async parse(options: Parameters<Crawler['parse']>[0] = {}): ReturnType<Crawler['parse']> {
    const info = await segmentFor(this.wiring.segments, 'parse', options.segment);
    return this.withSegment(info.id, async (segment) => {
      if (options.force) await segment.resetParsed();
      const summary = await runParse(this.wiring, segment, options.signal);
      if (!options.signal?.aborted && segment.info.state === 'fetched') await segment.setState('parsed');
      return summary;
    });
  }

  async updatedb(options: UpdateStepOptions = {}): Promise<UpdateSummary> {
    const info = await segmentFor(this.wiring.segments, 'updatedb', options.segment);
    if (info.state === 'fetched' || info.state === 'generated') {
      await this.withSegment(info.id, (segment) => runParse(this.wiring, segment));
    }
    const skips = new SkipNotes(this.wiring.config.reports.skippedPerReason);
    const summary = await this.withSegment(info.id, (segment) => this.update(segment, options, skips));
    await this.reportSkips(skips, 'updatedb', info.id);
    await this.rememberSeen();
    await trimFeed(this.store.db, this.wiring.config.changes, this.wiring.clock.now());
    return { ...summary, ...(await this.sweep(options.orphans)) };
  }

  private reportSkips(skips: SkipNotes, step: 'generate' | 'updatedb', segment: string | null): Promise<void> {
    const { clock, log } = this.wiring;
    return reportSkips(this.dir, skips, { step, segment, at: clock.now() }, log);
  }

  private update(
    segment: Segment,
    options: UpdateStepOptions,
    skips: SkipNotes,
  ): Promise<Omit<UpdateSummary, 'orphans'>> {
    const { config, urls, policy, plugins, clock } = this.wiring;
    return updateFromSegment(
      {
        ...this.store,
        urls,
        policy,
        parseHttpDate,
        now: () => clock.now(),
        outlinkScore: (parent, outlink, depth) => plugins.scoring?.outlinkScore(parent, outlink, depth) ?? 1,
        near: repeatRoom(config, this.store.db),
        skips,
      },
      segment,
      {
        additions: options.additions ?? config.updatedb.additions,
        purgeGone: options.purgeGone ?? config.updatedb.purgeGone,
        chunk: config.updatedb.chunk,
        maxOutlinksPerPage: config.outlinks.maxPerPage,
        followNofollow: config.outlinks.followNofollow,
        beyondVariants: config.outlinks.beyondVariants,
        noise: config.outlinks.noise,
        maxLayers: options.maxLayers ?? Number.POSITIVE_INFINITY,
        distrustMs: config.fetch.distrustMs,
        soft404: config.fetch.soft404,
        repeats: {
          distance: config.dedup.maxDistance,
          keep: config.dedup.keep,
          skipOutlinks: config.dedup.mode === 'skip-outlinks',
        },
      },
    );
  }

  /** Orphans are looked for by the calendar; asked for by name, at once. */
  private async sweep(asked: UpdateStepOptions['orphans']): Promise<{ orphans: number }> {
    const { config, clock, policy } = this.wiring;
    const mode = asked ?? config.updatedb.orphans;
    if (mode === 'off') return { orphans: 0 };
    const { db, seen } = this.store;
    const now = clock.now();
    const last = Number((await db.meta(ORPHAN_SWEEP_KEY)) ?? Number.NaN);
    if (Number.isNaN(last)) {
      await db.write({ meta: { [ORPHAN_SWEEP_KEY]: String(now) } });
      if (asked === undefined) return { orphans: 0 };
    } else if (asked === undefined && now - last < config.updatedb.orphanSweepEveryMs) {
      return { orphans: 0 };
    }
    const options = { mode, partitionOf: (url: string) => partitionOf(hostOf(url)), now };
    const { orphaned, purged } = await sweepOrphans({ db, seen, policy }, options);
    await db.write({ meta: { [ORPHAN_SWEEP_KEY]: String(now) } });
    return { orphans: orphaned + purged };
  }

  async prepare(seeds: readonly SeedSource[] = []): Promise<void> {
    const { log, config, isOwnHost } = this.wiring;
    if (seeds.length > 0) {
      const { errors } = await this.inject(seeds);
      for (const { source, line, message, text } of errors) log.warn(`${source}:${line}: ${message}`, { text });
    }
    requireContact(config.agent.contact, this.store.seedHosts, isOwnHost);
  }

  async crawl(options: CrawlOptions = {}): Promise<CrawlSummary> {
    await this.prepare(options.seeds);
    await discoverSitemaps(this.wiring, this.store, options.signal);
    const { topN, maxLayers } = options;
    const layered = maxLayers === undefined ? {} : { maxLayers };
    const generateOptions = { ...options.generate, ...layered, ...(topN === undefined ? {} : { topN }) };
    const purse = { left: options.budget ?? null };
    const kept = roundKeeper(this.dir, this.store.db, this.wiring.clock, this.wiring.log);
    const summary = crawlLoop(
      {
        unfinished: async () =>
          (await this.store.db.segments()).filter((row) => row.state === 'generated').map((row) => row.id),
        generate: () => this.generateWithin(generateOptions, purse),
        fetchAndParse: (id, signal, onProgress) =>
          this.withSegment(id, async (segment) => {
            const { fetch, parse } = await runFetch(this.wiring, segment, { parse: true, signal, onProgress });
            return { fetch, parse: parse ?? { segment: id, parsed: 0, failed: 0, outlinks: 0 } };
          }),
        updatedb: (segment) => this.updatedb({ segment, ...layered }),
      },
      {
        rounds: options.rounds ?? Number.POSITIVE_INFINITY,
        signal: options.signal,
        onRound: (round) => {
          kept.keep(round);
          options.onRound?.(round);
        },
        onProgress: options.onProgress,
        stopwatch: () => {
          const { user, system } = process.cpuUsage();
          return { ms: performance.now(), cpuMs: (user + system) / 1_000 };
        },
      },
    );
    return summary.finally(kept.done);
  }

  /** A round of a run that may make so many fetches in all. */
  private async generateWithin(options: GenerateOptions, purse: { left: number | null }): Promise<GenerateSummary> {
    if (purse.left === null) return this.generate(options);
    if (purse.left === 0) return { segment: null, due: 0, selected: 0, hosts: 0, rejected: NO_REJECTIONS, budget: 0 };
    const summary = await this.generate({ ...options, budget: purse.left });
    purse.left -= summary.selected;
    return summary;
  }

  async sitemaps(origins?: readonly string[], options: { signal?: AbortSignal } = {}): Promise<HostSitemaps[]> {
    const read = await sitemapsOf(this.wiring, this.store, origins, options.signal);
    await this.rememberSeen();
    return read;
  }

  async touch(urls: readonly string[], options: { at?: number } = {}): ReturnType<Crawler['touch']> {
    const { clock, policy, plugins } = this.wiring;
    const known: string[] = [];
    const invalid: { url: string; error: string }[] = [];
    for (const input of urls) {
      const { url, reason } = normalizedUrl(plugins, input);
      if (url === null) invalid.push({ url: input, error: reason ?? 'refused' });
      else known.push(url);
    }
    const now = clock.now();
    return { ...(await touch({ db: this.store.db, policy, now }, known, options.at ?? now)), invalid };
  }

  retry(...[query, onUrl]: Parameters<Crawler['retry']>): ReturnType<Crawler['retry']> {
    const { policy, clock } = this.wiring;
    return retry({ db: this.store.db, policy, now: clock.now() }, query, onUrl);
  }

  plan(options: { days?: number; budgetPerDay?: number } = {}): ReturnType<Crawler['plan']> {
    const { clock, config } = this.wiring;
    const { days = 7, budgetPerDay = config.generate.budgetPerDay } = options;
    return planAhead(this.store.db, { now: clock.now(), days, budgetPerDay, hostOf });
  }

  async simulate(options: { schedules: readonly string[]; host?: string }): ReturnType<Crawler['simulate']> {
    const { plugins, policy } = this.wiring;
    const schedules = options.schedules.map((name) => {
      const schedule = plugins.schedules.get(name);
      if (schedule === undefined) throw unknownName('--schedule', name, plugins.schedules.keys());
      return schedule;
    });
    return simulateSchedules(
      this.store.db,
      schedules,
      policy,
      options.host === undefined ? {} : { host: options.host },
    );
  }

  private get questions(): DbQuestions {
    return dbQuestions({ db: this.store.db, clock: this.wiring.clock, random: this.random });
  }

  stats(...asked: Parameters<Crawler['stats']>): ReturnType<Crawler['stats']> {
    return this.questions.stats(...asked);
  }

  groups(...asked: Parameters<Crawler['groups']>): ReturnType<Crawler['groups']> {
    return this.questions.groups(...asked);
  }

  seen(): ReturnType<Crawler['seen']> {
    const { db } = this.store;
    return seenView(this.wiring.config, db, db.seenFilter);
  }

  private async rememberSeen(): Promise<void> {
    const { db, seen } = this.store;
    this.seenKept = await rememberSeen(db, seen, this.seenKept);
  }

  record(...asked: Parameters<Crawler['record']>): ReturnType<Crawler['record']> {
    return this.questions.record(...asked);
  }

  records(...asked: Parameters<Crawler['records']>): ReturnType<Crawler['records']> {
    return this.questions.records(...asked);
  }

  select(...asked: Parameters<Crawler['select']>): ReturnType<Crawler['select']> {
    return this.questions.select(...asked);
  }

  topN(...asked: Parameters<Crawler['topN']>): ReturnType<Crawler['topN']> {
    return this.questions.topN(...asked);
  }

  due(...asked: Parameters<Crawler['due']>): ReturnType<Crawler['due']> {
    return this.questions.due(...asked);
  }

  hosts(...asked: Parameters<Crawler['hosts']>): ReturnType<Crawler['hosts']> {
    return this.questions.hosts(...asked);
  }

  async segments(): ReturnType<Crawler['segments']> {
    const views: Awaited<ReturnType<Crawler['segments']>> = [];
    for (const { id, state, createdAt, urls } of await this.wiring.segments.list()) {
      const segment = await this.wiring.segments.open(id, 'read');
      const { fetchedCount: fetched, parsedCount: parsed } = segment;
      views.push({ id, state, createdAt: isoTime(createdAt), urls, fetched, parsed });
      await segment.close();
    }
    return views;
  }

  segmentRecord(url: string, segment?: string): ReturnType<Crawler['segmentRecord']> {
    return segmentRecord(this.wiring, url, segment);
  }

  segmentRecords(segment?: string): ReturnType<Crawler['segmentRecords']> {
    return segmentRecords(this.wiring, segment);
  }

  changes(...asked: Parameters<Crawler['changes']>): ReturnType<Crawler['changes']> {
    return this.questions.changes(...asked);
  }

  changeFeed(): ReturnType<Crawler['changeFeed']> {
    return this.questions.changeFeed();
  }

  explain(url: string): ReturnType<Crawler['explain']> {
    return explainUrl(this.wiring, { ...this.store, dir: this.dir }, url);
  }

  versions(url: string): ReturnType<Crawler['versions']> {
    return pageVersions(this.wiring.segments, url);
  }

  storedBody(url: string): ReturnType<Crawler['storedBody']> {
    return storedBody(this.wiring, url);
  }

  diff(...[url, choice]: Parameters<Crawler['diff']>): ReturnType<Crawler['diff']> {
    return diffPage(this.wiring.segments, url, choice);
  }

  export(...[query, outlet]: Parameters<Crawler['export']>): ReturnType<Crawler['export']> {
    const { wiring, dir } = this;
    const room = { db: this.store.db, wiring, contents: createContentReader(wiring), tempDir: dir };
    return exportPages(room, query, outlet);
  }

  plugins(): ReturnType<Crawler['plugins']> {
    return pluginViews(this.wiring.plugins);
  }

  dedup(...[request, onDuplicate]: Parameters<Crawler['dedup']>): ReturnType<Crawler['dedup']> {
    const { config, segments, clock } = this.wiring;
    return dedupAll(config, { db: this.store.db, segments, now: clock.now() }, request, onDuplicate);
  }

  undoDedup(dryRun: boolean): Promise<number> {
    return undoDedup({ db: this.store.db, now: this.wiring.clock.now() }, dryRun);
  }

  near(url: string, options: Parameters<Crawler['near']>[1]): ReturnType<Crawler['near']> {
    return nearUrl(this.wiring.config, this.store.db, url, options);
  }

  linkClusters(): AsyncIterable<string> {
    return localJob('linkclusters', crawlLinks(this.wiring.segments), { dir: join(this.dir, 'tmp') });
  }

  async *exportDb(): AsyncGenerator<string> {
    for await (const line of dumpLines(this.store.db, this.wiring.clock.now())) yield JSON.stringify(line);
  }

  async importDb(lines: AsyncIterable<string>, mode: 'whole' | 'merge'): ReturnType<Crawler['importDb']> {
    const { segments, log } = this.wiring;
    const summary = await importLines(this.store.db, readDump(lines), mode);
    // Segments may have come along on disk, or not.
    await recover(this.store.db, segments, log);
    return summary;
  }

  merge(dir: string): ReturnType<Crawler['merge']> {
    return mergeState(this.store.db, this.dir, dir, this.wiring);
  }

  repartition(options: Parameters<Crawler['repartition']>[0]): ReturnType<Crawler['repartition']> {
    return repartition(this.store.db, { by: this.wiring.config.partition.by, ...options }, this.wiring);
  }

  pruneSegments(options: Parameters<Crawler['pruneSegments']>[0]): ReturnType<Crawler['pruneSegments']> {
    const { segments, clock } = this.wiring;
    return pruneSegments({ db: this.store.db, segments }, { ...options, now: clock.now() });
  }

  async close(): Promise<void> {
    await this.wiring.close();
    await this.opened?.db.close();
  }

  private async withSegment<Result>(id: string, use: (segment: Segment) => Promise<Result>): Promise<Result> {
    const { segments, config, isOwnHost } = this.wiring;
    const segment = await segments.open(id, 'write');
    try {
      requireContact(config.agent.contact, Object.keys(segment.info.hosts), isOwnHost);
      return await use(segment);
    } finally {
      await segment.close();
    }
  }
}

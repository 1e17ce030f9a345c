import { cpuMs } from '../../adapters/system/clock.ts';
import { domainOf } from '../../adapters/system/domain-of.ts';
import type { Crawler, CrawlOptions, UpdateStepOptions } from '../../crawler/types.ts';
import { normalizedUrl } from '../../plugin-host/url-chain.ts';
import type { DueEntry } from '../../ports/crawl-db.ts';
import { NO_SEEN_STATS } from '../../ports/seen-urls.ts';
import type { Segment } from '../../ports/segment-store.ts';
import { crawlLoop } from '../../steps/crawl.ts';
import type { HostSitemaps } from '../../steps/fetch/sitemaps.ts';
import { type GenerateOptions, generate } from '../../steps/generate/generate.ts';
import { inject, type SeedSource } from '../../steps/inject.ts';
import { retry } from '../../steps/retry.ts';
import { SkipNotes } from '../../steps/skip-notes.ts';
import type { CrawlSummary, GenerateSummary, InjectSummary, UpdateSummary } from '../../steps/summaries.ts';
import { NO_REJECTIONS } from '../../steps/summaries.ts';
import { touch } from '../../steps/touch.ts';
import { trimFeed } from '../../steps/update/change-feed.ts';
import { updateFromSegment } from '../../steps/update/updatedb.ts';
import { repeatDeps, repeatOptions } from '../dedup/dedup-settings.ts';
import type { CrawlDeps } from '../deps.ts';
import { rememberSeen } from '../state/seen-urls.ts';
import { requireContact } from './contact-requirement.ts';
import { sweepWhenDue } from './orphan-sweep.ts';
import { linkDeps, linkOptions, readmitByName, readmitWhenWider } from './readmitting.ts';
import { roundKeeper } from './round-log.ts';
import { runFetch, runParse } from './run-segment.ts';
import { discoverSitemaps, sitemapsOf } from './sitemaps.ts';
import { reportSkips } from './skip-report.ts';
import { segmentFor, unappliedSegments } from './unfinished.ts';

/** What moves a crawl on. */
export type CrawlSteps = Pick<
  Crawler,
  | 'inject'
  | 'generate'
  | 'fetch'
  | 'parse'
  | 'updatedb'
  | 'readmitLinks'
  | 'prepare'
  | 'crawl'
  | 'sitemaps'
  | 'touch'
  | 'retry'
>;

/** The steps of the loop, alone and together, on an open crawl. */
export function crawlSteps(deps: CrawlDeps): CrawlSteps {
  /** Counts of seen URLs that are in the crawl db already. */
  let seenKept = NO_SEEN_STATS;

  const steps: CrawlSteps = {
    async inject(
      sources: readonly SeedSource[],
      options: { mode?: 'keep' | 'update' | 'overwrite' } = {},
    ): Promise<InjectSummary> {
      const { clock, urls, policy, plugins } = deps.wiring;
      const injectDeps = {
        ...deps.store(),
        clock,
        urls,
        seedScore: (url: string) => plugins.scoring?.seedScore(url) ?? 1,
      };
      const { initialIntervalMs } = policy.schedule;
      return inject(injectDeps, sources, { mode: options.mode ?? 'keep', initialIntervalMs });
    },

    async generate(options: GenerateOptions = {}): Promise<GenerateSummary> {
      const { clock, urls, segments, plugins, config, policy } = deps.wiring;
      const { db, seedHosts } = deps.store();
      const { topN, maxPerHost, maxPerDomain, minScore, minIntervalMs, budgetPerDay, newShare } = config.generate;
      const skips = new SkipNotes(config.reports.skippedPerReason);
      const rank = (entry: DueEntry, now: number): number => plugins.scoring?.rank(entry, now) ?? entry.score;
      const select = { urls, seedHosts, rank, policy, domainOf, skips };
      const settings = {
        auditShare: config.fetch.auditShare,
        soft404: config.fetch.soft404,
        partitionBy: config.partition.by,
        ...(deps.parts === undefined ? {} : { parts: deps.parts }),
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
      const summary = await generate(
        { db, segments, clock, random: deps.random, select },
        { ...settings, ...defaults, ...options },
      );
      if (!options.dryRun) await tellSkips(skips, 'generate', summary.segment);
      return summary;
    },

    async fetch(options: Parameters<Crawler['fetch']>[0] = {}): ReturnType<Crawler['fetch']> {
      const info = await segmentFor(deps.wiring.segments, 'fetch', options.segment);
      return withSegment(info.id, async (segment) => {
        const { onProgress } = options;
        const { fetch, parse } = await runFetch(deps.wiring, segment, {
          parse: options.parse ?? false,
          signal: options.signal,
          onProgress:
            onProgress === undefined ? undefined : (progress) => onProgress({ round: 1, stage: 'fetch', ...progress }),
        });
        return parse === null ? fetch : { ...fetch, parse };
      });
    },

    async parse(options: Parameters<Crawler['parse']>[0] = {}): ReturnType<Crawler['parse']> {
      const info = await segmentFor(deps.wiring.segments, 'parse', options.segment);
      return withSegment(info.id, async (segment) => {
        if (options.force) await segment.resetParsed();
        const summary = await runParse(deps.wiring, segment, options.signal);
        if (!options.signal?.aborted && segment.info.state === 'fetched') await segment.setState('parsed');
        return summary;
      });
    },

    async updatedb(options: UpdateStepOptions = {}): Promise<UpdateSummary> {
      const readmitted = await readmitWhenWider(deps, options);
      return { ...(await update(options)), ...(readmitted !== null && { readmitted }) };
    },

    readmitLinks: (options = {}) => readmitByName(deps, options),

    async prepare(seeds: readonly SeedSource[] = []): Promise<void> {
      const { log, config, isOwnHost } = deps.wiring;
      if (seeds.length > 0) {
        const { errors } = await steps.inject(seeds);
        for (const { source, line, message, text } of errors) log.warn(`${source}:${line}: ${message}`, { text });
      }
      requireContact(config.agent.contact, deps.store().seedHosts, isOwnHost);
    },

    async crawl(options: CrawlOptions = {}): Promise<CrawlSummary> {
      await steps.prepare(options.seeds);
      const { topN, maxLayers, signal } = options;
      const readmitted = await readmitWhenWider(deps, { maxLayers, signal });
      await discoverSitemaps(deps.wiring, deps.store(), signal);
      const layered = maxLayers === undefined ? {} : { maxLayers };
      const generateOptions = { ...options.generate, ...layered, ...(topN === undefined ? {} : { topN }) };
      const fetchBudget = { left: options.budget ?? null };
      const kept = roundKeeper(deps.dir, deps.store().db, deps.wiring.clock, deps.wiring.log);
      const summary = crawlLoop(
        {
          unfinished: () => unappliedSegments(deps.store().db),
          generate: () => generateWithin(generateOptions, fetchBudget),
          fetchAndParse: (id, signal, onProgress) =>
            withSegment(id, async (segment) => {
              const { fetch, parse } = await runFetch(deps.wiring, segment, { parse: true, signal, onProgress });
              return { fetch, parse: parse ?? { segment: id, parsed: 0, failed: 0, outlinks: 0 } };
            }),
          updatedb: (segment) => update({ segment, ...layered }),
        },
        {
          rounds: options.rounds ?? Number.POSITIVE_INFINITY,
          signal: options.signal,
          onRound: (round) => {
            kept.keep(round);
            options.onRound?.(round);
          },
          onProgress: options.onProgress,
          stopwatch: () => ({ ms: performance.now(), cpuMs: cpuMs() }),
        },
      );
      return { ...(await summary.finally(kept.done)), ...(readmitted !== null && { readmitted }) };
    },

    async sitemaps(origins?: readonly string[], options: { signal?: AbortSignal } = {}): Promise<HostSitemaps[]> {
      const read = await sitemapsOf(deps.wiring, deps.store(), origins, options.signal);
      await keepSeenCounts();
      return read;
    },

    async touch(urls: readonly string[], options: { at?: number } = {}): ReturnType<Crawler['touch']> {
      const { clock, policy, plugins } = deps.wiring;
      const known: string[] = [];
      const invalid: { url: string; error: string }[] = [];
      for (const input of urls) {
        const { url, reason } = normalizedUrl(plugins, input);
        if (url === null) invalid.push({ url: input, error: reason ?? 'refused' });
        else known.push(url);
      }
      const now = clock.now();
      return { ...(await touch({ db: deps.store().db, policy, now }, known, options.at ?? now)), invalid };
    },

    retry(...[query, onUrl]: Parameters<Crawler['retry']>): ReturnType<Crawler['retry']> {
      const { policy, clock } = deps.wiring;
      return retry({ db: deps.store().db, policy, now: clock.now() }, query, onUrl);
    },
  };
  return steps;

  async function update(options: UpdateStepOptions): Promise<UpdateSummary> {
    const info = await segmentFor(deps.wiring.segments, 'updatedb', options.segment);
    if (info.state === 'fetched' || info.state === 'generated') {
      await withSegment(info.id, (segment) => runParse(deps.wiring, segment));
    }
    const skips = new SkipNotes(deps.wiring.config.reports.skippedPerReason);
    const summary = await withSegment(info.id, (segment) => applySegment(segment, options, skips));
    await tellSkips(skips, 'updatedb', info.id);
    await keepSeenCounts();
    await trimFeed(deps.store().db, deps.wiring.config.changes, deps.wiring.clock.now());
    return { ...summary, ...(await sweepWhenDue(deps, options.orphans)) };
  }

  function tellSkips(skips: SkipNotes, step: 'generate' | 'updatedb', segment: string | null): Promise<void> {
    const { clock, log } = deps.wiring;
    return reportSkips(deps.dir, skips, { step, segment, at: clock.now() }, log);
  }

  function applySegment(
    segment: Segment,
    options: UpdateStepOptions,
    skips: SkipNotes,
  ): Promise<Omit<UpdateSummary, 'orphans'>> {
    const { config, policy, clock } = deps.wiring;
    const { db } = deps.store();
    return updateFromSegment(
      {
        db,
        clock,
        policy,
        links: linkDeps(deps, skips),
        near: repeatDeps(config, db),
      },
      segment,
      {
        additions: options.additions ?? config.updatedb.additions,
        purgeGone: options.purgeGone ?? config.updatedb.purgeGone,
        chunk: config.updatedb.chunk,
        ...linkOptions(config, options.maxLayers),
        distrustMs: config.fetch.distrustMs,
        soft404: config.fetch.soft404,
        repeats: { ...repeatOptions(config), skipOutlinks: config.dedup.mode === 'skip-outlinks' },
      },
    );
  }

  /** A round of a run that may make so many fetches in all. */
  async function generateWithin(
    options: GenerateOptions,
    fetchBudget: { left: number | null },
  ): Promise<GenerateSummary> {
    if (fetchBudget.left === null) return steps.generate(options);
    if (fetchBudget.left === 0)
      return { segment: null, due: 0, selected: 0, hosts: 0, rejected: NO_REJECTIONS, budget: 0 };
    const summary = await steps.generate({ ...options, budget: fetchBudget.left });
    fetchBudget.left -= summary.selected;
    return summary;
  }

  async function keepSeenCounts(): Promise<void> {
    const { db, seen } = deps.store();
    seenKept = await rememberSeen(db, seen, seenKept);
  }

  async function withSegment<Result>(id: string, use: (segment: Segment) => Promise<Result>): Promise<Result> {
    const { segments, config, isOwnHost } = deps.wiring;
    const segment = await segments.open(id, 'write');
    try {
      requireContact(config.agent.contact, Object.keys(segment.info.hosts), isOwnHost);
      return await use(segment);
    } finally {
      await segment.close();
    }
  }
}

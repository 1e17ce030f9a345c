import { dayBoundsByHost, layersByHost } from '../../core/config/hosts/host-bounds.ts';
import { hostEntriesBy } from '../../core/config/hosts/host-entries.ts';
import type { Config } from '../../core/config/schema.ts';
import type { InjectMode } from '../../core/domain/crawl/discovery/seed.ts';
import { partitionOf } from '../../core/domain/url/hash/partition.ts';
import { applyUrlChain } from '../../core/plugin-host/url-chain.ts';
import type { DueEntry } from '../../core/ports/crawl-db.ts';
import type { Log } from '../../core/ports/log.ts';
import { SkipNotes } from '../../core/steps/counters/outcome-counts.ts';
import { type GenerateOptions, generate } from '../../core/steps/generate/generate.ts';
import { generateFromList } from '../../core/steps/generate/generate-from-list.ts';
import { applySettings } from '../../core/steps/generate/settings-in-force.ts';
import { type InjectOptions, inject, type SeedSource } from '../../core/steps/inject.ts';
import type {
  CrawlProgress,
  FetchSummary,
  GenerateSummary,
  InjectSummary,
  ParseSummary,
  UpdateSummary,
  WaitingHosts,
} from '../../core/steps/summaries.ts';
import type { CrawlDeps } from '../deps.ts';
import { reportSkips } from '../reports/skip-report.ts';
import { domainOf } from '../system/domain-of.ts';
import { readmitWhenWider } from './readmitting.ts';
import { runFetch, runFetchAndParse, runParse, segmentFor } from './segment-steps.ts';
import { scheduleSettings } from './step-settings.ts';
import { type UpdateStepOptions, updateRound } from './update-round.ts';

interface ListStepOptions {
  /** Whether the URL filters judge the list. Default: false, because the list names what is wanted. */
  readonly filter?: boolean;
  /** Whether the URL normalisers run on the list; URLs become canonical in any case. Default: false. */
  readonly normalize?: boolean;
  readonly dryRun?: boolean;
}

/** Makes a segment from a list of URLs. */
function listRound(
  deps: Pick<CrawlDeps, 'config' | 'runtime' | 'plugins' | 'segments' | 'store'>,
  sources: readonly SeedSource[],
  { filter = false, normalize = false, dryRun = false }: ListStepOptions = {},
): Promise<GenerateSummary> {
  const { config, segments } = deps;
  const { clock, random } = deps.runtime;
  const { loaded } = deps.plugins;
  const { db, seedHosts } = deps.store();
  const { normalizers, scopes, filters, exemptions } = loaded;
  const chain = {
    ...(normalize ? { normalizers, scopes } : { normalizers: [] }),
    ...(filter ? { filters, exemptions } : { filters: [] }),
  };
  const list = {
    db,
    segments,
    clock,
    random,
    seedHosts,
    urls: { apply: (url: string, context: Parameters<typeof applyUrlChain>[2]) => applyUrlChain(chain, url, context) },
    seedScore: (url: string) => loaded.scoring?.seedScore(url) ?? 1,
    partition: (host: string) => partitionOf(config.partition.by === 'domain' ? domainOf(host) : host),
  };
  return generateFromList(list, sources, {
    ...{ auditShare: config.fetch.auditShare, dryRun, dayBoundOf: dayBoundsByHost(config) },
  });
}

type GenerateRoundDeps = Pick<CrawlDeps, 'dir' | 'config' | 'runtime' | 'plugins' | 'segments' | 'store'>;

/** Makes the fetch list of a round and reports the URLs it left out. Options override the configuration. */
export async function generateRound(deps: GenerateRoundDeps, options: GenerateOptions = {}): Promise<GenerateSummary> {
  const { dir, config, segments } = deps;
  const { clock, log, random, onWork } = deps.runtime;
  const { loaded, urls, policy } = deps.plugins;
  const { db, seedHosts } = deps.store();
  const skips = new SkipNotes(config.reports.skippedPerReason);
  const ranked = (entry: DueEntry, now: number): number => loaded.scoring?.rank(entry, now) ?? entry.score;
  const rank = byPriority(config, ranked);
  // Without a scoring plugin, the score is the rank.
  const isByScore = loaded.scoring === null || loaded.scoring.ranksNewByScoreAndTime === true;
  const ranksNewByScoreAndTime = isByScore && rank === ranked;
  const select = { urls, seedHosts, rank, ranksNewByScoreAndTime, policy, domainOf, skips, onWork };
  const { topN, maxPerHost, maxPerDomain, minScore, minIntervalMs, budgetPerDay, newShare, where } = config.generate;
  const defaults = {
    ...{ topN, maxPerHost, maxPerDomain, minScore, minIntervalMs, budgetPerDay, newShare, where },
    maxLayers: Number.POSITIVE_INFINITY,
    addDaysMs: 0,
    dryRun: false,
    budget: 0,
    auditShare: config.fetch.auditShare,
    soft404: config.fetch.soft404,
    hostWaitMs: config.fetch.hostWaitMs,
    partitionBy: config.partition.by,
    layersOf: layersByHost(config),
    dayBoundOf: dayBoundsByHost(config),
  };
  if (!options.dryRun) {
    const moved = await applySettings(db, policy, scheduleSettings(config), clock.now());
    if (moved > 0) log.info('next visits moved, since the schedule has other settings', { pages: moved });
  }
  const summary = await generate({ db, segments, clock, random, select }, { ...defaults, ...options });
  if (!options.dryRun) {
    if (summary.waiting !== undefined && summary.segment === null) reportWaiting(log, summary.waiting);
    await reportSkips(dir, skips, { step: 'generate', segment: summary.segment, at: clock.now() }, log);
  }
  return summary;
}

type Rank = (entry: DueEntry, now: number) => number;

/** Multiplies the rank by the factors of `hosts:`; returns the given function if there are none. */
function byPriority({ hosts }: Config, rank: Rank): Rank {
  if (hosts.every(({ priority }) => priority === undefined)) return rank;
  const entries = hostEntriesBy(hosts);
  return (entry, now) => {
    const plain = rank(entry, now);
    const factor = entries.forUrl(entry.url)?.entry.priority ?? 1;
    // A plugin may give a negative rank, and a factor above 1 has to raise that as well.
    return plain < 0 ? plain / factor : plain * factor;
  };
}

function reportWaiting(log: Log, { hosts, urls, next }: WaitingHosts): void {
  const first = next.map(({ host, notBefore }) => `${host} ${notBefore}`).join(', ');
  log.info('all due URLs are of hosts that must not be contacted yet', { hosts, urls, next: first });
}

/** The steps of a round, one at a time. */
export interface StepOperations {
  inject(sources: readonly SeedSource[], options?: { readonly mode?: InjectMode }): Promise<InjectSummary>;
  generate(options?: GenerateOptions): Promise<GenerateSummary>;
  /** Makes a segment from the URLs of a list, without injecting them. */
  generateFromList(sources: readonly SeedSource[], options?: ListStepOptions): Promise<GenerateSummary>;
  fetch(options?: FetchStepOptions): Promise<FetchSummary & { readonly parse?: ParseSummary }>;
  parse(options?: ParseStepOptions): Promise<ParseSummary>;
  updatedb(options?: UpdateStepOptions): Promise<UpdateSummary>;
}

export interface FetchStepOptions {
  /** Default: the newest segment with URLs to fetch. */
  readonly segment?: string;
  readonly signal?: AbortSignal;
  /** Parse while fetching. */
  readonly parse?: boolean;
  readonly onProgress?: (progress: CrawlProgress) => void;
}

export interface ParseStepOptions {
  /** Default: the newest segment that is not parsed. */
  readonly segment?: string;
  /** Also parse pages again that have parse output. */
  readonly force?: boolean;
  readonly signal?: AbortSignal;
}

export function stepOperations(deps: CrawlDeps): StepOperations {
  const { segments } = deps;
  return {
    inject: (sources, { mode = 'keep' } = {}) => injectSeeds(deps, sources, mode),
    generate: (options) => generateRound(deps, options),
    generateFromList: (sources, options) => listRound(deps, sources, options),
    async fetch({ segment, signal, parse, onProgress } = {}) {
      const { id } = await segmentFor(segments, 'fetch', segment);
      const report =
        onProgress &&
        ((progress: Omit<CrawlProgress, 'round' | 'stage'>) => onProgress({ round: 1, stage: 'fetch', ...progress }));
      if (parse !== true) return runFetch(deps, id, { signal, onProgress: report });
      const summaries = await runFetchAndParse(deps, id, { signal, onProgress: report });
      return { ...summaries.fetch, parse: summaries.parse };
    },
    async parse({ segment, force, signal } = {}) {
      const { id } = await segmentFor(segments, 'parse', segment);
      return runParse(deps, id, { force, signal });
    },
    async updatedb(options = {}) {
      const readmitted = await readmitWhenWider(deps, options);
      return { ...(await updateRound(deps, options)), ...(readmitted !== null && { readmitted }) };
    },
  };
}

/** Adds seeds to the crawl db with the score that the scoring plugin gives them; default: 1. */
export function injectSeeds(
  { runtime, plugins, store }: Pick<CrawlDeps, 'runtime' | 'plugins' | 'store'>,
  sources: readonly SeedSource[],
  mode: InjectMode,
  onSeed?: InjectOptions['onSeed'],
): Promise<InjectSummary> {
  const { loaded, urls, policy } = plugins;
  const seedScore = (url: string): number => loaded.scoring?.seedScore(url) ?? 1;
  const { initialIntervalMs } = policy.schedule;
  const { db, seen, seedHosts } = store();
  const { clock, onWork } = runtime;
  const deps = { db, seen, seedHosts, clock, urls, seedScore, onWork };
  return inject(deps, sources, { mode, initialIntervalMs, onSeed });
}

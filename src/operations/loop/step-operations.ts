import type { InjectMode } from '../../domain/crawl/discovery/seed.ts';
import type { GenerateOptions } from '../../steps/generate/generate.ts';
import { type InjectOptions, inject, type SeedSource } from '../../steps/inject.ts';
import type {
  CrawlProgress,
  FetchSummary,
  GenerateSummary,
  InjectSummary,
  ParseSummary,
  UpdateSummary,
} from '../../steps/summaries.ts';
import type { CrawlDeps } from '../deps.ts';
import { generateRound } from './generate-round.ts';
import { type ListStepOptions, listRound } from './list-round.ts';
import { readmitWhenWider } from './readmitting.ts';
import { runFetch, runFetchAndParse, runParse } from './segment-steps.ts';
import { segmentFor } from './unfinished.ts';
import { type UpdateStepOptions, updateRound } from './update-round.ts';

/** The steps of a round, one at a time. */
export interface StepOperations {
  inject(sources: readonly SeedSource[], options?: { readonly mode?: InjectMode }): Promise<InjectSummary>;
  generate(options?: GenerateOptions): Promise<GenerateSummary>;
  /** Makes a segment of the URLs of a list, without injecting them. */
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
  /** Parse again the pages that have parse output. */
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

import { CrawlError } from '../domain/errors.ts';
import { sumOfRejections } from '../domain/url/canonical/rejections.ts';
import { sumOfFailures } from './failures.ts';
import { sumOfLayers } from './layers.ts';
import type {
  CrawlProgress,
  CrawlSummary,
  FetchSummary,
  GenerateSummary,
  ParseSummary,
  RoundSummary,
  StoppedBy,
  UpdateSummary,
} from './summaries.ts';

/** The steps as the loop sees them, each already bound to its adapters. */
export interface LoopSteps {
  /** Ids of segments that are not applied to the crawl db yet, oldest first: an interrupted round goes on with them. */
  unfinished(): Promise<readonly string[]>;
  generate(): Promise<GenerateSummary>;
  /** Fetches and parses a segment, both at once. */
  fetchAndParse(
    segment: string,
    signal: AbortSignal | undefined,
    onProgress: (progress: Omit<CrawlProgress, 'round' | 'stage'>) => void,
  ): Promise<{ fetch: FetchSummary; parse: ParseSummary }>;
  updatedb(segment: string): Promise<UpdateSummary>;
}

export interface LoopOptions {
  /** Infinity: until nothing is due. */
  readonly rounds: number;
  readonly signal?: AbortSignal | undefined;
  readonly onRound?: ((round: RoundSummary) => void) | undefined;
  readonly onProgress?: ((progress: CrawlProgress) => void) | undefined;
  /** Wall time and CPU time of the process so far, ms. */
  readonly stopwatch: () => { ms: number; cpuMs: number };
}

/**
 * generate -> fetch and parse -> updatedb, round by round, until nothing is due, the rounds are used up or the signal
 * comes. What an interrupted run left behind is finished first, as a round of its own.
 */
export async function crawlLoop(steps: LoopSteps, options: LoopOptions): Promise<CrawlSummary> {
  const rounds: RoundSummary[] = [];
  const isStopped = (): boolean => options.signal?.aborted ?? false;
  const play = async (
    segment: string,
    generated: number,
    stage: 'resume' | 'fetch',
    from: Stopwatch,
  ): Promise<boolean> => {
    const round = rounds.length + 1;
    let last = NOTHING_YET;
    const onProgress = (progress: Omit<CrawlProgress, 'round' | 'stage'>): void => {
      last = progress;
      options.onProgress?.({ round, stage, ...progress });
    };
    const { fetch } = await steps.fetchAndParse(segment, options.signal, onProgress);
    // Stopped half way: the segment stays open, and the next run goes on with it.
    if (fetch.left > 0 && isStopped()) return false;
    options.onProgress?.({ round, stage: 'update', ...last });
    const update = await steps.updatedb(segment);
    const now = options.stopwatch();
    const summary = roundSummary(round, generated, fetch, update, now.ms - from.ms, now.cpuMs - from.cpuMs);
    rounds.push(summary);
    options.onRound?.(summary);
    return true;
  };
  const finish = (stoppedBy: StoppedBy): CrawlSummary => ({ rounds, totals: totalsOf(rounds), stoppedBy });
  try {
    for (const segment of await steps.unfinished()) {
      if (isStopped() || !(await play(segment, 0, 'resume', options.stopwatch()))) return finish('signal');
    }
    for (let round = 0; round < options.rounds; round++) {
      if (isStopped()) return finish('signal');
      const from = options.stopwatch();
      options.onProgress?.({ round: rounds.length + 1, stage: 'generate', ...NOTHING_YET });
      const generated = await steps.generate();
      if (generated.segment === null) return finish('nothing-due');
      if (!(await play(generated.segment, generated.selected, 'fetch', from))) return finish('signal');
    }
    return finish('rounds');
  } catch (error) {
    if (error instanceof CrawlError && error.code === 'failure-limit') return finish('failure-limit');
    if (error instanceof CrawlError && error.code === 'disk-full') return finish('disk-full');
    throw error;
  }
}

/** Progress of a round before its first page. */
const NOTHING_YET: Omit<CrawlProgress, 'round' | 'stage'> = {
  segment: null,
  urls: 0,
  done: 0,
  inFlight: 0,
  waiting: 0,
  parsing: 0,
  pagesPerSecond: 0,
  bytesReceived: 0,
  bytesSaved: 0,
  busiest: [],
};

export type Stopwatch = { readonly ms: number; readonly cpuMs: number };

export function roundSummary(
  round: number,
  generated: number,
  fetch: Omit<FetchSummary, 'segment' | 'left'>,
  update: Omit<UpdateSummary, 'applied'>,
  ms: number,
  cpuMs: number,
): RoundSummary {
  return {
    round,
    segment: update.segment,
    generated,
    fetched: fetch.fetched,
    notModified: fetch.notModified,
    skippedByHeaders: fetch.skippedByHeaders,
    unchanged: fetch.unchanged,
    modified: update.modified,
    new: update.new,
    gone: update.gone,
    redirected: fetch.redirected,
    failed: fetch.failed,
    robotsDenied: fetch.robotsDenied,
    requests: fetch.requests,
    bytesReceived: fetch.bytesReceived,
    bodyBytes: fetch.bodyBytes,
    outlinks: update.outlinks,
    newUrls: update.newUrls,
    filteredBy: update.filteredBy,
    demotedBy: update.demotedBy,
    failures: sumOfFailures([fetch.failures, update.failures]),
    layers: update.layers,
    meanDistance: update.meanDistance,
    ms: Math.round(ms),
    cpuMs: Math.round(cpuMs),
  };
}

export function totalsOf(rounds: readonly RoundSummary[]): CrawlSummary['totals'] {
  const sum = (
    field: Exclude<keyof CrawlSummary['totals'], 'filteredBy' | 'demotedBy' | 'failures' | 'layers'>,
  ): number => rounds.reduce((total, round) => total + round[field], 0);
  return {
    generated: sum('generated'),
    fetched: sum('fetched'),
    notModified: sum('notModified'),
    skippedByHeaders: sum('skippedByHeaders'),
    unchanged: sum('unchanged'),
    modified: sum('modified'),
    new: sum('new'),
    gone: sum('gone'),
    redirected: sum('redirected'),
    failed: sum('failed'),
    robotsDenied: sum('robotsDenied'),
    requests: sum('requests'),
    bytesReceived: sum('bytesReceived'),
    bodyBytes: sum('bodyBytes'),
    outlinks: sum('outlinks'),
    newUrls: sum('newUrls'),
    filteredBy: sumOfRejections(rounds.map((round) => round.filteredBy)),
    demotedBy: sumOfRejections(rounds.map((round) => round.demotedBy)),
    failures: sumOfFailures(rounds.map((round) => round.failures)),
    layers: sumOfLayers(rounds.map((round) => round.layers)),
    ms: sum('ms'),
    cpuMs: sum('cpuMs'),
  };
}

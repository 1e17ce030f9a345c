import { CrawlError } from '../domain/errors.ts';
import { sumOfRejections } from '../domain/url/canonical/rejections.ts';
import { sumOfFailures } from './counters/failures.ts';
import { sumOfLayers } from './counters/layers.ts';
import type {
  CrawlProgress,
  CrawlSummary,
  FetchSummary,
  GenerateSummary,
  ReadmitSummary,
  RoundSummary,
  StoppedBy,
  UpdateSummary,
} from './summaries.ts';

/** The steps of the loop, each bound to its crawl. {@link crawl} calls them in this order. */
export interface LoopSteps extends UpdateSteps {
  /** inject.ts: the seeds of this run. Rejects with `contact-missing` where the crawl may not begin. */
  inject(): Promise<void>;
  /** update/readmit-links.ts, where the URL rules were widened; `null`: there was nothing to do. */
  readmitLinks(): Promise<ReadmitSummary | null>;
  /** fetch/sitemaps.ts, for the hosts whose sitemaps are to be read by now. */
  readSitemaps(): Promise<void>;
  /** Ids of the segments that an interrupted run left behind, oldest first. */
  unfinished(): Promise<readonly string[]>;
  /** generate/generate.ts. */
  generate(): Promise<GenerateSummary>;
  /** fetch/fetch-and-parse.ts: pages are parsed while others are fetched. */
  fetchAndParse(
    segment: string,
    onProgress: (progress: Omit<CrawlProgress, 'round' | 'stage'>) => void,
  ): Promise<FetchSummary>;
}

/** The steps that apply a segment to the crawl db. {@link applySegment} calls them in this order. */
export interface UpdateSteps {
  /** fetch/parse.ts, for pages that were fetched and not parsed. */
  parse(segment: string): Promise<void>;
  /** update/updatedb.ts. */
  updatedb(segment: string): Promise<Omit<UpdateSummary, 'orphans'>>;
  /** update/change-feed.ts: entries older than the feed keeps. */
  trimFeed(): Promise<unknown>;
  /** update/orphans.ts, when it is time. */
  sweepOrphans(): Promise<Pick<UpdateSummary, 'orphans'>>;
}

export interface LoopOptions {
  /** Infinity: until nothing is due. */
  readonly rounds: number;
  readonly signal?: AbortSignal | undefined;
  readonly onRound?: ((round: RoundSummary) => void) | undefined;
  readonly onProgress?: ((progress: CrawlProgress) => void) | undefined;
  /** Wall time and CPU time of the process so far, ms. */
  readonly stopwatch: () => Stopwatch;
}

export type Stopwatch = { readonly ms: number; readonly cpuMs: number };

/**
 * The loop: rounds of generate, fetch and parse, updatedb, until nothing is due, the rounds are used up or the signal
 * comes. A round that an interrupted run left behind is finished first.
 */
export async function crawl(steps: LoopSteps, options: LoopOptions): Promise<CrawlSummary> {
  await steps.inject();
  const readmitted = await steps.readmitLinks();
  await steps.readSitemaps();
  const rounds: RoundSummary[] = [];
  const stoppedBy = await playRounds(steps, options, rounds).catch(stoppedByFault);
  return { rounds, totals: totalsOf(rounds), stoppedBy, ...(readmitted !== null && { readmitted }) };
}

async function playRounds(steps: LoopSteps, options: LoopOptions, rounds: RoundSummary[]): Promise<StoppedBy> {
  const { signal, stopwatch } = options;
  for (const segment of await steps.unfinished()) {
    if (signal?.aborted) return 'signal';
    const round = { number: rounds.length + 1, stage: 'resume', segment, generated: 0, from: stopwatch() } as const;
    if (!(await playRound(steps, options, round, rounds))) return 'signal';
  }
  for (let played = 0; played < options.rounds; played++) {
    if (signal?.aborted) return 'signal';
    const from = stopwatch();
    const number = rounds.length + 1;
    options.onProgress?.({ round: number, stage: 'generate', ...NOTHING_YET });
    const { segment, selected: generated } = await steps.generate();
    if (segment === null) return 'nothing-due';
    const round = { number, stage: 'fetch', segment, generated, from } as const;
    if (!(await playRound(steps, options, round, rounds))) return 'signal';
  }
  return 'rounds';
}

interface Round {
  readonly number: number;
  readonly stage: 'resume' | 'fetch';
  readonly segment: string;
  /** URLs on the fetch list; 0 for a round that is resumed, which counted them before. */
  readonly generated: number;
  readonly from: Stopwatch;
}

/** False: stopped half way. The segment stays as it is, and the next run goes on with it. */
async function playRound(
  steps: LoopSteps,
  { signal, stopwatch, onRound, onProgress }: LoopOptions,
  { number, stage, segment, generated, from }: Round,
  rounds: RoundSummary[],
): Promise<boolean> {
  let last = NOTHING_YET;
  const fetch = await steps.fetchAndParse(segment, (progress) => {
    last = progress;
    onProgress?.({ round: number, stage, ...progress });
  });
  if (fetch.left > 0 && signal?.aborted) return false;
  onProgress?.({ round: number, stage: 'update', ...last });
  const update = await applySegment(steps, segment);
  const now = stopwatch();
  const summary = roundSummary(number, generated, fetch, update, now.ms - from.ms, now.cpuMs - from.cpuMs);
  rounds.push(summary);
  onRound?.(summary);
  return true;
}

/** Applies a segment to the crawl db, with what has to follow. */
export async function applySegment(steps: UpdateSteps, segment: string): Promise<UpdateSummary> {
  await steps.parse(segment);
  const summary = await steps.updatedb(segment);
  await steps.trimFeed();
  return { ...summary, ...(await steps.sweepOrphans()) };
}

/** Faults that end a crawl in order: what was done so far is applied, and the next run goes on. */
function stoppedByFault(error: unknown): StoppedBy {
  if (error instanceof CrawlError && (error.code === 'failure-limit' || error.code === 'disk-full')) return error.code;
  throw error;
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

import { CrawlError } from '../domain/errors.ts';
import {
  type CrawlSummary,
  type InterruptedRound,
  PlayedRounds,
  type RoundSummary,
  roundSummary,
} from './round-summary.ts';
import type { CrawlProgress, FetchSummary, GenerateSummary, ReadmitSummary, UpdateSummary } from './summaries.ts';

/** The steps of the loop, each bound to its crawl. {@link crawl} calls them in this order. */
export interface LoopSteps extends UpdateSteps {
  /** inject.ts: the seeds of this run. Rejects with `contact-missing` where the crawl may not begin. */
  inject(): Promise<void>;
  /** update/readmit-links.ts, where the URL rules were widened; `null`: there was nothing to do. */
  readmitLinks(): Promise<ReadmitSummary | null>;
  /** fetch/sitemaps/read-sitemaps.ts, for the hosts whose sitemaps are to be read by now. */
  readSitemaps(): Promise<void>;
  /**
   * update/like-urls/waiting-links.ts, for hosts whose waiting links were not judged for a day, and what shorter ways
   * by seeds and sitemaps bring within the depth limits.
   */
  admitWaiting(): Promise<void>;
  /** Ids of the segments that an interrupted run left behind, oldest first. */
  unfinished(): Promise<readonly string[]>;
  /** Waits between two rounds, where a further one has URLs to fetch; ends at once when the signal comes. */
  pause(): Promise<void>;
  /**
   * Waits for the next turn of a host (ms since the epoch), where nothing else is to be fetched; ends at once when the
   * signal comes. False: that is too long.
   */
  awaitTurn(at: number): Promise<boolean>;
  /** generate/generate.ts. */
  generate(): Promise<GenerateSummary>;
  /**
   * Adds to a segment whose visits are applied what has fallen due since, and resolves with how many URLs that is; 0:
   * its round ends. Absent: the list of a round does not grow.
   */
  readonly grow?: ((segment: string) => Promise<number>) | undefined;
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
  /** update/updatedb.ts. @param isGrowing what was visited so far is applied, and the segment stays open */
  updatedb(segment: string, isGrowing?: boolean): Promise<Omit<UpdateSummary, 'orphans'>>;
  /** facts/change-feed.ts: entries older than the feed keeps. */
  trimFeed(): Promise<unknown>;
  /** update/orphans.ts, when it is time. */
  sweepOrphans(): Promise<Pick<UpdateSummary, 'orphans'>>;
  /** The noise families of the links so far, when it is time. */
  applyFamilies(): Promise<void>;
}

/** What an operator has told the loop while it runs. */
export interface SteeredLoop {
  /** Whether to end before the next round. */
  isStopping(): boolean;
  /** Waits while no round may begin; ends at once when the signal comes, or the loop is to end. */
  whilePaused(signal: AbortSignal | undefined): Promise<void>;
}

export interface LoopOptions {
  /** Infinity: until nothing is due. */
  readonly rounds: number;
  readonly signal?: AbortSignal | undefined;
  /** Absent: nobody steers. */
  readonly steering?: SteeredLoop;
  readonly onRound?: ((round: RoundSummary) => void) | undefined;
  readonly onProgress?: ((progress: CrawlProgress) => void) | undefined;
  /** Called with the fault that ends it in order; a summary names only its code. */
  readonly onFault?: (fault: CrawlError) => void;
  /** Wall time and CPU time of the process so far, ms. */
  readonly stopwatch: () => Stopwatch;
}

export type Stopwatch = { readonly ms: number; readonly cpuMs: number };

/**
 * The loop: rounds of generate, fetch and parse, updatedb, until nothing is due or may be requested, the rounds are
 * used up or the signal comes. A round that an interrupted run left behind is finished first.
 */
export async function crawl(steps: LoopSteps, options: LoopOptions): Promise<CrawlSummary> {
  await steps.inject();
  const readmitted = await steps.readmitLinks();
  await steps.readSitemaps();
  await steps.admitWaiting();
  const rounds = new PlayedRounds();
  const end = await playRounds(steps, options, rounds).catch((error) => endByFault(error, options));
  return { ...rounds.summary(), ...end, ...(readmitted !== null && { readmitted }) };
}

async function playRounds(steps: LoopSteps, options: LoopOptions, rounds: PlayedRounds): Promise<End> {
  const { signal, steering, stopwatch } = options;
  for (const segment of await steps.unfinished()) {
    if (signal?.aborted) return { stoppedBy: 'signal' };
    const round = { number: rounds.done + 1, stage: 'resume', segment, generated: 0, from: stopwatch() } as const;
    const interrupted = await playRound(steps, options, round, rounds);
    if (interrupted !== null) return { stoppedBy: 'signal', interrupted };
  }
  let played = 0;
  while (played < options.rounds) {
    if (rounds.done > 0) await steps.pause();
    await steering?.whilePaused(signal);
    if (signal?.aborted) return { stoppedBy: 'signal' };
    if (steering?.isStopping()) return { stoppedBy: 'asked' };
    const from = stopwatch();
    const number = rounds.done + 1;
    options.onProgress?.({ round: number, stage: 'generate', ...NOTHING_YET });
    const { segment, selected: generated, waiting, next } = await steps.generate();
    if (segment === null) {
      const [first] = waiting?.next ?? [];
      if (waiting === undefined || first === undefined) {
        return { stoppedBy: 'nothing-due', ...(next !== undefined && { next }) };
      }
      if (await steps.awaitTurn(Date.parse(first.notBefore))) continue;
      return { stoppedBy: 'hosts-waiting', waiting };
    }
    played++;
    const round = { number, stage: 'fetch', segment, generated, from } as const;
    const interrupted = await playRound(steps, options, round, rounds);
    if (interrupted !== null) return { stoppedBy: 'signal', interrupted };
  }
  return { stoppedBy: 'rounds' };
}

type End = Pick<CrawlSummary, 'stoppedBy' | 'interrupted' | 'waiting' | 'next'>;

interface Round {
  readonly number: number;
  readonly stage: 'resume' | 'fetch';
  readonly segment: string;
  /** URLs on the fetch list; 0 for a round that is resumed, which counted them before. */
  readonly generated: number;
  readonly from: Stopwatch;
}

/**
 * `null`: played to its end. Else it was stopped half way: its segment stays, and the next run goes on with it. What
 * was applied until then counts as a round.
 */
async function playRound(
  steps: LoopSteps,
  { signal, stopwatch, onRound, onProgress }: LoopOptions,
  { number, stage, segment, generated, from }: Round,
  rounds: PlayedRounds,
): Promise<InterruptedRound | null> {
  let last = NOTHING_YET;
  let size = generated;
  const fetches: FetchSummary[] = [];
  const updates: UpdateSummary[] = [];
  const end = (): void => {
    const now = stopwatch();
    const [ms, cpuMs] = [now.ms - from.ms, now.cpuMs - from.cpuMs];
    const summary = roundSummary({ round: number, generated: size, fetches, updates, ms, cpuMs });
    rounds.add(summary);
    onRound?.(summary);
  };
  for (;;) {
    const fetch = await steps.fetchAndParse(segment, (progress) => {
      last = progress;
      onProgress?.({ round: number, stage, ...progress });
    });
    const interrupted = { round: number, segment, urls: last.urls, left: fetch.left };
    if (fetch.left > 0 && signal?.aborted) {
      if (updates.length > 0) end();
      return interrupted;
    }
    fetches.push(fetch);
    onProgress?.({ round: number, stage: 'update', ...last });
    // What is left is of hosts that the round does not wait for: it ends, which makes their URLs due again.
    if (steps.grow !== undefined && fetch.left === 0 && !signal?.aborted) {
      const update = { ...(await steps.updatedb(segment, true)), orphans: 0 };
      updates.push(update);
      const added = update.isCutShort ? 0 : await steps.grow(segment);
      size += added;
      if (added > 0) continue;
    }
    const update = await applySegment(steps, segment);
    updates.push(update);
    end();
    return update.isCutShort ? interrupted : null;
  }
}

/** Applies a segment to the crawl db, with what has to follow. */
export async function applySegment(steps: UpdateSteps, segment: string): Promise<UpdateSummary> {
  await steps.parse(segment);
  const summary = await steps.updatedb(segment);
  if (summary.isCutShort) return { ...summary, orphans: 0 };
  await steps.trimFeed();
  const orphans = await steps.sweepOrphans();
  await steps.applyFamilies();
  return { ...summary, ...orphans };
}

/** Faults that end a crawl in order: what was done so far is applied, and the next run goes on. */
function endByFault(error: unknown, { onFault }: LoopOptions): End {
  if (error instanceof CrawlError && (error.code === 'failure-limit' || error.code === 'disk-full')) {
    onFault?.(error);
    return { stoppedBy: error.code };
  }
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

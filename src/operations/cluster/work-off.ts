import { CrawlError, ERRORS, type ErrorCode } from '../../domain/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import { STORE_AWAY } from '../../ports/cluster/shared-store.ts';
import type { Job, JobEnd, JobEngine, JobState } from '../../ports/job-engine.ts';
import type { SeedSource } from '../../steps/inject.ts';
import { type CrawlSummary, type RoundSummary, totalsOf } from '../../steps/round-summary.ts';
import type { CrawlProgress } from '../../steps/summaries.ts';

/** One of the processes that crawl together. */
export interface Worker {
  /** Plays turns until nothing is due or the signal comes. Rejects with the `CrawlError` that ended the crawl. */
  work(options?: WorkOptions): Promise<WorkSummary>;
  close(): Promise<void>;
}

export interface WorkOptions {
  readonly seeds?: readonly SeedSource[];
  readonly signal?: AbortSignal;
  /** Called with each round that this worker ends. */
  readonly onRound?: (round: RoundSummary) => void;
  readonly onProgress?: (progress: CrawlProgress) => void;
}

export interface WorkSummary extends CrawlSummary {
  /** Turns of partitions that this worker played; `rounds` are those that it ended. */
  readonly turns: number;
}

export interface WorkOffDeps {
  readonly engine: JobEngine;
  readonly clock: Clock;
  readonly atOnce: number;
  /** Rejects when the crawl db no longer belongs to the state directory. */
  requireCrawlDb(): Promise<void>;
  /** Puts the jobs that are needed where none is left; false: the crawl is done. */
  wake(): Promise<boolean>;
}

/** Pause between two looks at the queue of jobs, ms. */
const LOOK_MS = 250;
/** Looks in a row that must find an empty queue. */
const QUIET_LOOKS = 2;
/** Faults of the configuration of one worker: it ends, and others take its jobs. */
const OWN_FAULTS: ReadonlySet<string> = new Set<ErrorCode>(['contact-missing']);

/**
 * Takes jobs until none is left and none is needed, or the signal comes. Resolves with the rounds played; rejects with
 * the error of a job that has failed for good.
 */
export async function workOff(
  deps: WorkOffDeps,
  { signal, onRound }: Pick<WorkOptions, 'signal' | 'onRound'>,
  performing: (onRound: (round: RoundSummary) => void) => (job: Job, signal: AbortSignal) => Promise<JobEnd>,
): Promise<CrawlSummary> {
  const { engine, atOnce } = deps;
  const rounds: RoundSummary[] = [];
  const perform = performing((round) => {
    rounds.push(round);
    onRound?.(round);
  });
  const over = new AbortController();
  const ended = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  let fault: CrawlError | null = null;
  const named = async (job: Job, wanted: AbortSignal): Promise<JobEnd> => {
    try {
      return await perform(job, wanted);
    } catch (error) {
      if (error instanceof CrawlError && OWN_FAULTS.has(error.code)) {
        fault = error;
        over.abort();
        return { laterMs: 0 };
      }
      throw new Error(`${error instanceof CrawlError ? error.code : 'internal'}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  };
  if ((await engine.state()).open === 0) await engine.forgetEnded();
  const working = engine.work(named, { atOnce, signal: ended });
  let state: JobState;
  try {
    state = await untilQuiet(deps, ended);
  } finally {
    over.abort();
    await working;
  }
  if (fault !== null) throw fault;
  if (signal?.aborted !== true) refuseFailed(state);
  return { rounds, totals: totalsOf(rounds), stoppedBy: signal?.aborted ? 'signal' : 'nothing-due' };
}

async function untilQuiet(
  { engine, clock, requireCrawlDb, wake }: WorkOffDeps,
  signal: AbortSignal,
): Promise<JobState> {
  let quiet = 0;
  let state: JobState = { open: 0, failed: [] };
  while (!signal.aborted) {
    await clock.sleep(LOOK_MS, signal).catch(() => {});
    try {
      state = await engine.state();
      quiet = state.open === 0 ? quiet + 1 : 0;
      if (quiet < QUIET_LOOKS) continue;
      // Without jobs the crawl is done, or the store has lost its data.
      if (state.failed.length === 0) {
        await requireCrawlDb();
        if (await wake()) {
          quiet = 0;
          continue;
        }
      }
      return state;
    } catch (error) {
      // An unreachable server is waited for.
      if (!(error instanceof CrawlError && STORE_AWAY.has(error.code))) throw error;
      quiet = 0;
    }
  }
  return state;
}

/** A job that failed for good ends the crawl for all workers; the next worker that starts goes on with it. */
function refuseFailed({ failed }: JobState): void {
  const known = failed.map(({ id, reason }) => ({ id, parts: /^([a-z-]+): (.*)$/s.exec(reason) }));
  const cause = known.find(({ parts }) => parts !== null && Object.hasOwn(ERRORS, parts[1] as string));
  if (cause?.parts) throw new CrawlError(cause.parts[1] as ErrorCode, `job ${cause.id}: ${cause.parts[2]}`);
  const [first] = failed;
  if (first !== undefined) throw new CrawlError('internal', `job ${first.id}: ${first.reason}`);
}

import { CrawlError, ERRORS, type ErrorCode } from '../../domain/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import { STORE_AWAY } from '../../ports/cluster/shared-store.ts';
import type { Job, JobEnd, JobEngine, JobState } from '../../ports/job-engine.ts';
import type { SeedSource } from '../../steps/inject.ts';
import { type CrawlSummary, type RoundSummary, totalsOf } from '../../steps/round-summary.ts';
import type { CrawlProgress } from '../../steps/summaries.ts';

export interface WorkOptions {
  readonly seeds?: readonly SeedSource[];
  readonly signal?: AbortSignal;
  /** Called with each round that this worker ends. */
  readonly onRound?: (round: RoundSummary) => void;
  readonly onProgress?: (progress: CrawlProgress) => void;
}

export interface WorkSummary extends CrawlSummary {
  /** Jobs that this worker did, by kind; `rounds` are those that it ended. */
  readonly jobs: Readonly<Record<Job['kind'], number>>;
}

export interface WorkDeps {
  readonly engine: JobEngine;
  readonly clock: Clock;
  readonly atOnce: number;
  /** Rejects when the crawl db no longer belongs to the state directory. */
  requireCrawlDb(): Promise<void>;
  /** Puts the jobs that are needed where none is left; false: the crawl is done. */
  wake(isFirst: boolean): Promise<boolean>;
}

/** Pause between two looks at the queue of jobs, ms. */
const LOOK_MS = 250;
/** Looks in a row that must find an empty queue. */
const QUIET_LOOKS = 2;

/**
 * Takes jobs until none is left and none is needed, or the signal comes. Rejects with the error of a
 * job that has failed for good.
 */
export async function workOff(
  deps: WorkDeps,
  { signal, onRound }: WorkOptions,
  performing: (onRound: (round: RoundSummary) => void) => (job: Job, signal: AbortSignal) => Promise<JobEnd>,
): Promise<WorkSummary> {
  const { engine, atOnce } = deps;
  const rounds: RoundSummary[] = [];
  const jobs: Record<Job['kind'], number> = { generate: 0, fetch: 0, update: 0, turn: 0 };
  const perform = performing((round) => {
    rounds.push(round);
    onRound?.(round);
  });
  const counted = async (job: Job, wanted: AbortSignal): Promise<JobEnd> => {
    try {
      const end = await perform(job, wanted);
      if (end === 'done') jobs[job.kind]++;
      return end;
    } catch (error) {
      throw new Error(`${error instanceof CrawlError ? error.code : 'internal'}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  };
  if ((await engine.state()).open === 0) {
    await engine.forgetEnded();
    await deps.wake(true);
  }
  const over = new AbortController();
  const working = engine.work(counted, {
    atOnce,
    signal: signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]),
  });
  let state: JobState;
  try {
    state = await untilQuiet(deps, signal);
  } finally {
    over.abort();
    await working;
  }
  if (signal?.aborted !== true) refuseFailed(state);
  return { rounds, totals: totalsOf(rounds), stoppedBy: signal?.aborted ? 'signal' : 'nothing-due', jobs };
}

async function untilQuiet(
  { engine, clock, requireCrawlDb, wake }: WorkDeps,
  signal: AbortSignal | undefined,
): Promise<JobState> {
  let quiet = 0;
  let state: JobState = { open: 0, failed: [] };
  while (signal?.aborted !== true) {
    await clock.sleep(LOOK_MS, signal).catch(() => {});
    try {
      state = await engine.state();
      quiet = state.open === 0 ? quiet + 1 : 0;
      if (quiet < QUIET_LOOKS) continue;
      // Without jobs the crawl is done, or the store has lost its data.
      if (state.failed.length === 0) {
        await requireCrawlDb();
        if (await wake(false)) {
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
  // Jobs that depend on it say only that it has failed.
  const cause = known.find(({ parts }) => parts !== null && Object.hasOwn(ERRORS, parts[1] as string));
  if (cause?.parts) throw new CrawlError(cause.parts[1] as ErrorCode, `job ${cause.id}: ${cause.parts[2]}`);
  const [first] = failed;
  if (first !== undefined) throw new CrawlError('internal', `job ${first.id}: ${first.reason}`);
}

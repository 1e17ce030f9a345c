import { CrawlError } from '../../domain/errors.ts';
import { STORE_AWAY } from '../../ports/cluster/shared-store.ts';
import type { Job, JobEnd, JobEngine } from '../../ports/job-engine.ts';
import { noOutcomes, type OutcomeCounts } from '../../steps/counters/outcome-counts.ts';
import { type RoundSummary, roundSummary } from '../../steps/round-summary.ts';
import type { UpdateSummary } from '../../steps/summaries.ts';

/** Steps of a worker on the crawl db, while no other worker writes it. */
export interface RoundSteps {
  /** Segments that are not applied yet, oldest first. */
  unfinished(): Promise<readonly string[]>;
  /** Generates the segments of a new round; none: nothing is due, or may be asked. */
  generate(): Promise<NewRound>;
  updatedb(segment: string): Promise<UpdateSummary>;
  /** Adds the fetch outcomes of a segment to `counts`; resolves with its number of URLs and its time of creation. */
  fetched(segment: string, counts: OutcomeCounts): Promise<{ readonly urls: number; readonly createdAt: number }>;
  /** Records a finished round. */
  keep(round: RoundSummary): Promise<void>;
}

export interface NewRound {
  readonly segments: readonly string[];
  /** Where there are none: time until a host with due URLs may be asked, ms; `null`: it is not waited for. */
  readonly laterMs: number | null;
}

export interface RoundJobsDeps {
  readonly engine: Pick<JobEngine, 'put'>;
  /** Opens the crawl db for as long as `use` runs. Rejects with `db-locked` while another worker writes it. */
  withSteps(use: (steps: RoundSteps) => Promise<readonly string[]>, signal: AbortSignal): Promise<readonly string[]>;
  /**
   * Resolves with the number of URLs that were not reached.
   * @param isPart whether the round has other segments
   */
  fetchAndParse(segment: string, isPart: boolean, signal: AbortSignal): Promise<number>;
  /** Waits between two rounds; ends at once when the signal comes. */
  pause(signal: AbortSignal): Promise<void>;
  readonly now: () => number;
  readonly cpuMs: () => number;
}

/**
 * Pause before a job is tried again, ms, for errors that are no fault of the job: another worker holds the crawl db or
 * the segment (it may be dead, and its lease or lock must run out), or the shared store, or one node of it, is
 * unreachable.
 */
const LATER_MS = 500;
const LATER: ReadonlySet<string> = new Set(['db-locked', 'lease-lost', ...STORE_AWAY]);

/** The first job of a crawl, whatever earlier workers have left unfinished. */
export const FIRST_JOB: Job = { id: 'generate', kind: 'generate', segments: [] };

/** The segment to fetch comes first, then the others of the round. */
const fetchJob = (segment: string, _: number, round: readonly string[]): Job => ({
  id: `fetch-${segment}`,
  kind: 'fetch',
  segments: [segment, ...round.filter((each) => each !== segment)],
});

/**
 * The loop of a crawl as jobs: generate, then a fetch job for each part, and once all are done updatedb, which puts the
 * next generate. Every job reads the state of the crawl first, and puts the next job before it ends. The state is in
 * crawl db and segments, not in the jobs, so a job can be cut short anywhere and be repeated by any worker, even twice.
 * @param onRound called with each round that this worker ends
 * @returns performs one job
 */
export function roundJobs(
  deps: RoundJobsDeps,
  onRound: (round: RoundSummary) => void = () => {},
): (job: Job, signal: AbortSignal) => Promise<JobEnd> {
  let rounds = 0;

  async function generate(signal: AbortSignal): Promise<JobEnd> {
    let laterMs: number | null = null;
    const segments = await deps.withSteps(async (steps) => {
      const left = await steps.unfinished();
      if (left.length > 0) return left;
      const round = await steps.generate();
      laterMs = round.laterMs;
      return round.segments;
    }, signal);
    const [first] = segments;
    if (first === undefined) return laterMs === null ? 'done' : { laterMs };
    await deps.engine.put({ id: `update-${first}`, kind: 'update', segments }, segments.map(fetchJob));
    return 'done';
  }

  async function fetch([segment, ...others]: readonly string[], signal: AbortSignal): Promise<JobEnd> {
    const left = await deps.fetchAndParse(segment as string, others.length > 0, signal);
    return left > 0 && signal.aborted ? { laterMs: 0 } : 'done';
  }

  async function update(segments: readonly string[], signal: AbortSignal): Promise<JobEnd> {
    const cpuBefore = deps.cpuMs();
    await deps.withSteps(async (steps) => {
      const left = new Set(await steps.unfinished());
      const counts = noOutcomes();
      const updates: UpdateSummary[] = [];
      let generated = 0;
      let startedAt = deps.now();
      for (const segment of segments) {
        if (!left.has(segment)) continue;
        updates.push(await steps.updatedb(segment));
        const { urls, createdAt } = await steps.fetched(segment, counts);
        generated += urls;
        startedAt = Math.min(startedAt, createdAt);
      }
      if (updates.length > 0) {
        const [ms, cpuMs] = [deps.now() - startedAt, deps.cpuMs() - cpuBefore];
        const round = roundSummary({ round: ++rounds, generated, fetch: counts, updates, ms, cpuMs });
        await steps.keep(round);
        onRound(round);
      }
      return [];
    }, signal);
    await deps.pause(signal);
    // The job is repeated: what it has applied it finds done, and it waits anew.
    if (signal.aborted) return { laterMs: 0 };
    await deps.engine.put({ ...FIRST_JOB, id: `generate-${segments[0]}` });
    return 'done';
  }

  return async (job, signal) => {
    try {
      if (job.kind === 'generate') return await generate(signal);
      if (job.kind === 'update') return await update(job.segments, signal);
      return await fetch(job.segments, signal);
    } catch (error) {
      if (signal.aborted) return { laterMs: 0 };
      if (error instanceof CrawlError && LATER.has(error.code)) return { laterMs: LATER_MS };
      throw error;
    }
  };
}

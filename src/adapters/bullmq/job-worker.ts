import { setTimeout as delay } from 'node:timers/promises';
import type { Job, JobEnd } from '../../ports/job-engine.ts';
import type { Log } from '../../ports/log.ts';
import type { BullConnection, BullJob, BullMq, BullQueue, BullWorker } from './bullmq.ts';

export type Data = Pick<Job, 'partition'>;

/** Attempts of a job, and the first pause between them, ms; each further pause is twice as long. */
export const ATTEMPTS = 3;
const BACKOFF_MS = 1_000;
/** Workers that may die during one job before it fails: the job may be the cause. */
const MAX_STALLED = 10;
/** Time for BullMQ to close its connections once no job runs, ms. */
const CLOSE_MS = 3_000;
/** Looks in a row, a lease apart, that find jobs waiting and this worker without one. */
const IDLE_LOOKS = 3;

function abortOf(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

interface JobWorkerDeps {
  readonly bullmq: Pick<BullMq, 'Worker' | 'WaitingError'>;
  readonly place: BullConnection;
  /** Name of the queue. */
  readonly name: string;
  readonly leaseMs: number;
  readonly log: Log;
  readonly queue: Pick<BullQueue<Data>, 'getJobCounts'>;
}

/**
 * A worker of BullMQ under watch. It waits for jobs on a connection of its own, and that one may not come back after a
 * failover of a Redis Cluster: then it is given no job any more, and its end is waited for in vain.
 */
export class JobWorker {
  readonly #deps: JobWorkerDeps;
  readonly #perform: (job: Job, signal: AbortSignal) => Promise<JobEnd>;
  readonly #signal: AbortSignal;
  readonly #worker: BullWorker;
  readonly #running = new Set<Promise<unknown>>();
  /** Jobs taken so far. */
  #taken = 0;

  constructor(
    deps: JobWorkerDeps,
    perform: (job: Job, signal: AbortSignal) => Promise<JobEnd>,
    { atOnce, signal }: { readonly atOnce: number; readonly signal: AbortSignal },
  ) {
    this.#deps = deps;
    this.#perform = perform;
    this.#signal = signal;
    const { bullmq, place, name, leaseMs, log } = deps;
    this.#worker = new bullmq.Worker<Data>(name, (job, token, cancelled) => this.#take(job, token, cancelled), {
      ...place,
      concurrency: atOnce,
      lockDuration: leaseMs,
      stalledInterval: leaseMs / 2,
      maxStalledCount: MAX_STALLED,
      drainDelay: 1,
    });
    this.#worker.on('error', (error) => log.debug('job engine', { error: error.message }));
    this.#worker.on('lockRenewalFailed', (ids) => {
      for (const id of ids) {
        log.warn('a job was taken from this worker, which sent no heartbeat for too long', { job: id });
        this.#worker.cancelJob(id);
      }
    });
  }

  /** Resolves when the signal aborts, or this worker is given no job though some wait. */
  async ended(): Promise<'aborted' | 'stuck'> {
    const { queue, leaseMs } = this.#deps;
    const aborted = abortOf(this.#signal).then(() => ({}));
    let idle = 0;
    let before = this.#taken;
    while (idle < IDLE_LOOKS) {
      await delay(leaseMs, undefined, { signal: this.#signal }).catch(() => {});
      if (this.#signal.aborted) return 'aborted';
      // A server that is away gives nobody a job, and the question waits for it.
      const counts: Readonly<Record<string, number>> = await Promise.race([
        queue.getJobCounts('waiting').catch(() => ({})),
        aborted,
      ]);
      const { waiting = 0 } = counts;
      idle = waiting > 0 && this.#running.size === 0 && this.#taken === before ? idle + 1 : 0;
      before = this.#taken;
    }
    return 'stuck';
  }

  /** Resolves when its jobs have ended, and it has closed its connections or had time to do so. */
  async close(): Promise<void> {
    const closing = this.#worker.close().catch(() => {});
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    await Promise.race([closing, delay(CLOSE_MS, undefined, { ref: false })]);
  }

  #take(job: BullJob<Data>, token?: string, cancelled?: AbortSignal): Promise<string> {
    this.#taken++;
    const run = this.#run(job, token, cancelled);
    this.#running.add(run);
    const forget = (): boolean => this.#running.delete(run);
    run.then(forget, forget);
    return run;
  }

  async #run(job: BullJob<Data>, token?: string, cancelled?: AbortSignal): Promise<string> {
    const wanted = AbortSignal.any(cancelled === undefined ? [this.#signal] : [this.#signal, cancelled]);
    const { partition } = job.data;
    // A job that 0.1.0 has left: what it was to do is found in the crawl db.
    if (!Number.isInteger(partition)) return 'done';
    // BullMQ delays a job by the clock of this machine: were that ahead, no other worker would take the job for so
    // long. So pauses are made here.
    const pause = (ms: number): Promise<void> => delay(ms, undefined, { signal: wanted }).catch(() => {});
    let end: JobEnd;
    try {
      end = await this.#perform({ id: String(job.id), partition }, wanted);
    } catch (error) {
      if (job.attemptsMade + 1 < ATTEMPTS) await pause(BACKOFF_MS * 2 ** job.attemptsMade);
      throw error;
    }
    if (end === 'done') return end;
    await pause(end.laterMs);
    await job.moveToWait(token);
    throw new this.#deps.bullmq.WaitingError();
  }
}

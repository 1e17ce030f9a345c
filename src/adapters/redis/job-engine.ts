import { setTimeout as delay } from 'node:timers/promises';
import { DAY_MS } from '../../domain/time.ts';
import type { Job, JobEnd, JobEngine, JobState } from '../../ports/job-engine.ts';
import type { Log } from '../../ports/log.ts';
import type { BullFlow, BullFlowProducer, BullJob, BullJobOptions, BullMq, BullQueue } from './bullmq.ts';
import { connectionFault, type RedisClient } from './connect.ts';
import { redisError } from './redis-errors.ts';

export interface BullJobEngineOptions {
  readonly bullmq: BullMq;
  /** Closed with the engine; must wait for a server that is away (`maxRetriesPerRequest: null`). */
  readonly redis: RedisClient;
  /** Prefix of all keys, in braces: they are on one node of a cluster. */
  readonly name: string;
  /** A worker without a heartbeat for so long loses its jobs, ms. */
  readonly leaseMs: number;
  readonly log: Log;
}

type Data = Pick<Job, 'kind' | 'segments'>;

const QUEUE = 'jobs';
/** Attempts of a job, and the first pause between them, ms; each further pause is twice as long. */
const ATTEMPTS = 3;
const BACKOFF_MS = 1_000;
/** Workers that may die during one job before it fails: the job may be the cause. */
const MAX_STALLED = 10;
/** Ended jobs that are kept. */
const KEPT = 1_000;
/**
 * Earliest end of a job to look for, relative to now, ms. The end is by the clock of another machine, perhaps in the
 * future of this one.
 */
const WHENEVER_MS = -10 * 365 * DAY_MS;
const OPEN = ['waiting', 'active', 'delayed', 'waiting-children', 'prioritized', 'paused'];

/**
 * {@link JobEngine} on BullMQ, which has the locks, the retries, the recovery of jobs of dead workers, and dependencies
 * between jobs.
 */
export function createBullJobEngine({ bullmq, redis, name, leaseMs, log }: BullJobEngineOptions): JobEngine {
  const place = { connection: redis, prefix: `{${name}}:jobs` };
  const queue: BullQueue<Data> = new bullmq.Queue<Data>(QUEUE, place);
  const flows: BullFlowProducer<Data> = new bullmq.FlowProducer<Data>(place);
  // Failures of calls reject; others are tried again.
  for (const each of [queue, flows]) each.on('error', (error) => log.debug('job engine', { error: error.message }));

  const optionsOf = (id: string): BullJobOptions => ({
    jobId: id,
    attempts: ATTEMPTS,
    removeOnComplete: { count: KEPT },
    removeOnFail: { count: KEPT },
  });
  const flowOf = ({ id, kind, segments }: Job, after: readonly Job[]): BullFlow<Data> => ({
    name: kind,
    queueName: QUEUE,
    data: { kind, segments },
    opts: optionsOf(id),
    children: after.map((each) => {
      const child = flowOf(each, []);
      return { ...child, opts: { ...child.opts, failParentOnFailure: true } };
    }),
  });

  /** Removes a job that has ended in one of these states; `false`: it is open. */
  async function makeSpace(id: string, ended: readonly string[]): Promise<boolean> {
    const job = await queue.getJob(id);
    if (job === undefined) return true;
    const state = await job.getState();
    if (!ended.includes(state)) return state === 'unknown';
    // Another process may have added it again in the meantime, and a worker may have taken it.
    await job.remove({ removeChildren: false }).catch(() => {});
    return true;
  }

  return {
    async put(job, after = []) {
      try {
        if (!(await makeSpace(job.id, ['completed', 'failed']))) return;
        for (const each of after) await makeSpace(each.id, ['failed']);
        await flows.add(flowOf(job, after));
      } catch (error) {
        throw redisError(error, connectionFault(redis));
      }
    },

    async work(perform, { atOnce, signal }) {
      const run = async (job: BullJob<Data>, token?: string, cancelled?: AbortSignal): Promise<string> => {
        const wanted = AbortSignal.any(cancelled === undefined ? [signal] : [signal, cancelled]);
        const { kind, segments } = job.data;
        // BullMQ delays a job by the clock of this machine: were that ahead, no other worker would take the job for so
        // long. So pauses are made here.
        const pause = (ms: number): Promise<void> => delay(ms, undefined, { signal: wanted }).catch(() => {});
        let end: JobEnd;
        try {
          end = await perform({ id: String(job.id), kind, segments }, wanted);
        } catch (error) {
          if (job.attemptsMade + 1 < ATTEMPTS) await pause(BACKOFF_MS * 2 ** job.attemptsMade);
          throw error;
        }
        if (end === 'done') return end;
        await pause(end.laterMs);
        await job.moveToWait(token);
        throw new bullmq.WaitingError();
      };
      const worker = new bullmq.Worker<Data>(QUEUE, run, {
        ...place,
        concurrency: atOnce,
        lockDuration: leaseMs,
        stalledInterval: leaseMs / 2,
        maxStalledCount: MAX_STALLED,
        drainDelay: 1,
      });
      worker.on('error', (error) => log.debug('job engine', { error: error.message }));
      worker.on('lockRenewalFailed', (ids) => {
        for (const id of ids) {
          log.warn('a job was taken from this worker, which sent no heartbeat for too long', { job: id });
          worker.cancelJob(id);
        }
      });
      if (!signal.aborted) {
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      }
      await worker.close();
    },

    async state(): Promise<JobState> {
      try {
        const counts = await queue.getJobCounts(...OPEN);
        const failed = await queue.getFailed(0, 20);
        return {
          open: Object.values(counts).reduce((sum, count) => sum + count, 0),
          failed: failed.map(({ id, failedReason }) => ({ id: String(id), reason: failedReason ?? '' })),
        };
      } catch (error) {
        throw redisError(error, connectionFault(redis));
      }
    },

    async forgetEnded() {
      try {
        await queue.clean(WHENEVER_MS, KEPT, 'completed');
        await queue.clean(WHENEVER_MS, KEPT, 'failed');
      } catch (error) {
        throw redisError(error, connectionFault(redis));
      }
    },

    async close() {
      await Promise.allSettled([queue.close(), flows.close()]);
      redis.disconnect();
    },
  };
}

import { DAY_MS } from '../../domain/time.ts';
import type { Job, JobEngine, JobState } from '../../ports/job-engine.ts';
import type { Log } from '../../ports/log.ts';
import type { BullConnection, BullFlow, BullFlowProducer, BullJobOptions, BullMq, BullQueue } from './bullmq.ts';
import { ATTEMPTS, type Data, JobWorker } from './job-worker.ts';

/** The server of the jobs of a crawl. */
export interface JobServer {
  readonly connection: BullConnection;
  /** Name of the queue. */
  readonly queue: string;
  /** Waits for a server that is away, and rejects with `CrawlError`; a call may be repeated. */
  call<Value>(attempt: () => Promise<Value>): Promise<Value>;
  close(): Promise<void>;
}

export interface BullJobEngineOptions {
  readonly bullmq: Pick<BullMq, 'Queue' | 'FlowProducer' | 'Worker' | 'WaitingError'>;
  /** Closed with the engine. */
  readonly server: JobServer;
  /** A worker without a heartbeat for so long loses its jobs, ms. */
  readonly leaseMs: number;
  readonly log: Log;
}

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
export function createBullJobEngine({ bullmq, server, leaseMs, log }: BullJobEngineOptions): JobEngine {
  const { connection: place, queue: name } = server;
  const queue: BullQueue<Data> = new bullmq.Queue<Data>(name, place);
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
    queueName: name,
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
      await server.call(async () => {
        if (!(await makeSpace(job.id, ['completed', 'failed']))) return;
        for (const each of after) await makeSpace(each.id, ['failed']);
        await flows.add(flowOf(job, after));
      });
    },

    async work(perform, { atOnce, signal }) {
      while (!signal.aborted) {
        const worker = new JobWorker({ bullmq, place, name, leaseMs, log, queue }, perform, { atOnce, signal });
        if ((await worker.ended()) === 'stuck') {
          log.warn('this worker is given no job though some wait: it takes up its work anew', { queue: name });
        }
        await worker.close();
      }
    },

    async state(): Promise<JobState> {
      return server.call(async () => {
        const counts = await queue.getJobCounts(...OPEN);
        const failed = await queue.getFailed(0, 20);
        return {
          open: Object.values(counts).reduce((sum, count) => sum + count, 0),
          failed: failed.map(({ id, failedReason }) => ({ id: String(id), reason: failedReason ?? '' })),
        };
      });
    },

    async forgetEnded() {
      await server.call(async () => {
        await queue.clean(WHENEVER_MS, KEPT, 'completed');
        await queue.clean(WHENEVER_MS, KEPT, 'failed');
      });
    },

    async close() {
      await Promise.allSettled([queue.close(), flows.close()]);
      await server.close();
    },
  };
}

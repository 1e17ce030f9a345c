import { DAY_MS } from '../../domain/time.ts';
import type { JobEngine, JobState } from '../../ports/job-engine.ts';
import type { Log } from '../../ports/log.ts';
import type { BullConnection, BullMq, BullQueue } from './bullmq.ts';
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
  readonly bullmq: Pick<BullMq, 'Queue' | 'Worker' | 'WaitingError'>;
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
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed']);

/** {@link JobEngine} on BullMQ, which has the locks, the retries and the recovery of jobs of dead workers. */
export function createBullJobEngine({ bullmq, server, leaseMs, log }: BullJobEngineOptions): JobEngine {
  const { connection: place, queue: name } = server;
  const queue: BullQueue<Data> = new bullmq.Queue<Data>(name, place);
  // Failures of calls reject; others are tried again.
  queue.on('error', (error) => log.debug('job engine', { error: error.message }));
  const kept = { removeOnComplete: { count: KEPT }, removeOnFail: { count: KEPT } };

  return {
    async put({ id, partition }) {
      await server.call(async () => {
        const known = await queue.getJob(id);
        if (known !== undefined && ENDED.has(await known.getState())) {
          // Another process may have added it again in the meantime, and a worker may have taken it.
          await known.remove({ removeChildren: false }).catch(() => {});
        }
        await queue.add('turn', { partition }, { jobId: id, attempts: ATTEMPTS, ...kept });
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
      await queue.close().catch(() => {});
      await server.close();
    },
  };
}

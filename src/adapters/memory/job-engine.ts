import type { Job, JobEnd, JobEngine, JobState } from '../../ports/job-engine.ts';

type Stage = 'waiting' | 'active' | 'done' | 'failed';

interface Held {
  readonly job: Job;
  stage: Stage;
  tries: number;
  reason: string;
}

/** Attempts of a job. */
const TRIES = 3;

/**
 * Jobs of one process: the reference for engines. A job that was returned, or is tried again, goes to the end of the
 * queue at once.
 */
export function createMemoryJobEngine(): JobEngine {
  const jobs = new Map<string, Held>();
  let changed: (() => void)[] = [];

  const notify = (): void => {
    const waiters = changed;
    changed = [];
    for (const wake of waiters) wake();
  };
  const isOpen = (id: string): boolean => ['waiting', 'active'].includes(jobs.get(id)?.stage ?? '');

  return {
    async put(job) {
      if (isOpen(job.id)) return;
      jobs.delete(job.id);
      jobs.set(job.id, { job, stage: 'waiting', tries: 0, reason: '' });
      notify();
    },

    async work(perform, { atOnce, signal }) {
      const take = async (): Promise<void> => {
        while (!signal.aborted) {
          const held = [...jobs.values()].find(({ stage }) => stage === 'waiting');
          if (held === undefined) {
            await new Promise<void>((resolve) => changed.push(resolve));
            continue;
          }
          await done(held, perform, signal);
          if (held.stage === 'waiting') {
            jobs.delete(held.job.id);
            jobs.set(held.job.id, held);
          }
          notify();
        }
      };
      signal.addEventListener('abort', notify, { once: true });
      await Promise.all(Array.from({ length: atOnce }, take));
    },

    async state(): Promise<JobState> {
      const all = [...jobs.values()];
      return {
        open: all.filter(({ job }) => isOpen(job.id)).length,
        failed: all.filter(({ stage }) => stage === 'failed').map(({ job, reason }) => ({ id: job.id, reason })),
      };
    },

    async forgetEnded() {
      for (const [id] of jobs) if (!isOpen(id)) jobs.delete(id);
    },

    async close() {},
  };
}

async function done(
  held: Held,
  perform: (job: Job, signal: AbortSignal) => Promise<JobEnd>,
  signal: AbortSignal,
): Promise<void> {
  held.stage = 'active';
  try {
    held.stage = (await perform(held.job, signal)) === 'done' ? 'done' : 'waiting';
  } catch (error) {
    held.tries++;
    held.reason = (error as Error).message;
    held.stage = held.tries < TRIES ? 'waiting' : 'failed';
  }
}

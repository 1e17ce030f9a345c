import type { Job, JobEnd, JobEngine, JobState } from '../../ports/job-engine.ts';

type Stage = 'waiting' | 'active' | 'done' | 'failed';

interface Held {
  readonly job: Job;
  stage: Stage;
  /** Jobs that must be done first. */
  readonly after: readonly string[];
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
  const hold = (job: Job, after: readonly string[]): void => {
    jobs.delete(job.id);
    jobs.set(job.id, { job, stage: 'waiting', after, tries: 0, reason: '' });
  };
  const next = (): Held | undefined => {
    for (const held of jobs.values()) {
      if (held.stage !== 'waiting') continue;
      const before = held.after.map((id) => jobs.get(id)?.stage);
      if (before.includes('failed')) {
        held.stage = 'failed';
        held.reason = 'a job before it has failed';
      } else if (before.every((stage) => stage === 'done')) return held;
    }
    return undefined;
  };

  return {
    async put(job, after = []) {
      if (isOpen(job.id)) return;
      for (const each of after) if (!isOpen(each.id) && jobs.get(each.id)?.stage !== 'done') hold(each, []);
      hold(
        job,
        after.map(({ id }) => id),
      );
      notify();
    },

    async work(perform, { atOnce, signal }) {
      const take = async (): Promise<void> => {
        while (!signal.aborted) {
          const held = next();
          if (held === undefined) {
            await new Promise<void>((resolve) => changed.push(resolve));
            continue;
          }
          await done(held, perform, signal);
          notify();
        }
      };
      signal.addEventListener('abort', notify, { once: true });
      await Promise.all(Array.from({ length: atOnce }, take));
    },

    async state(): Promise<JobState> {
      next();
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

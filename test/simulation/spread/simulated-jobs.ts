import type { Job, JobEnd, JobEngine } from '../../../src/ports/job-engine.ts';
import type { VirtualClock } from '../crawl/virtual-clock.ts';
import { LEASE_MS } from './simulated-stores.ts';
import type { WorkerLife } from './worker-life.ts';

interface Held {
  readonly job: Job;
  stage: 'waiting' | 'active' | 'failed';
  tries: number;
  reason: string;
  holder: { readonly life: WorkerLife; readonly taken: AbortController; keptAt: number } | null;
}

const POLL_MS = 200;
const TRIES = 3;

/** A queue of jobs on a server. Now and then it loses one. */
export class SimulatedJobs {
  readonly #clock: VirtualClock;
  readonly #isLost: () => boolean;
  readonly #jobs = new Map<string, Held>();

  constructor(clock: VirtualClock, isLost: () => boolean) {
    this.#clock = clock;
    this.#isLost = isLost;
  }

  of(life: WorkerLife): JobEngine {
    return {
      put: async (job) => {
        await life.gate();
        const known = this.#jobs.get(job.id);
        if ((known !== undefined && known.stage !== 'failed') || this.#isLost()) return;
        this.#jobs.set(job.id, { job, stage: 'waiting', tries: 0, reason: '', holder: null });
      },
      work: async (perform, { atOnce, signal }) => {
        const take = async (): Promise<void> => {
          while (!signal.aborted) {
            await life.gate();
            const held = this.#next(life);
            if (held !== null) await this.#run(held, perform, signal);
            else
              await life
                .clock()
                .sleep(POLL_MS, signal)
                .catch(() => {});
          }
        };
        await Promise.all(Array.from({ length: atOnce }, take));
      },
      state: async () => {
        await life.gate();
        const all = [...this.#jobs.values()];
        return {
          open: all.filter(({ stage }) => stage !== 'failed').length,
          failed: all.filter(({ stage }) => stage === 'failed').map(({ job, reason }) => ({ id: job.id, reason })),
        };
      },
      forgetEnded: async () => {
        for (const [id, { stage }] of this.#jobs) if (stage === 'failed') this.#jobs.delete(id);
      },
      close: async () => {},
    };
  }

  #next(life: WorkerLife): Held | null {
    const now = this.#clock.now();
    for (const held of this.#jobs.values()) {
      const { holder } = held;
      if (holder?.life.isRunning === true) holder.keptAt = now;
      const isStalled = held.stage === 'active' && holder !== null && now - holder.keptAt >= LEASE_MS;
      if (held.stage !== 'waiting' && !isStalled) continue;
      held.stage = 'active';
      held.holder = { life, taken: new AbortController(), keptAt: now };
      return held;
    }
    return null;
  }

  async #run(
    held: Held,
    perform: (job: Job, signal: AbortSignal) => Promise<JobEnd>,
    signal: AbortSignal,
  ): Promise<void> {
    const { holder } = held;
    if (holder === null) return;
    const isOwn = (): boolean => held.holder === holder;
    // A worker that stood still learns that its job was taken when it next renews it, which is after its lanes go on.
    const stopRenewing = this.#clock.every(LEASE_MS / 3, () => {
      if (holder.life.isRunning && !isOwn()) holder.taken.abort();
    });
    const back = (): void => {
      held.stage = 'waiting';
      held.holder = null;
      this.#jobs.delete(held.job.id);
      this.#jobs.set(held.job.id, held);
    };
    try {
      const end = await perform(held.job, AbortSignal.any([signal, holder.taken.signal]));
      if (end !== 'done')
        await holder.life
          .clock()
          .sleep(end.laterMs, signal)
          .catch(() => {});
      if (!isOwn()) return;
      if (end === 'done') this.#jobs.delete(held.job.id);
      else back();
    } catch (error) {
      if (!isOwn()) return;
      held.tries++;
      held.reason = (error as Error).stack ?? (error as Error).message;
      back();
      if (held.tries >= TRIES) held.stage = 'failed';
    } finally {
      stopRenewing();
    }
  }
}

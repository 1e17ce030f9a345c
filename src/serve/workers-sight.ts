import { setTimeout as delay } from 'node:timers/promises';
import type { WorkersView, WorkersWatch } from '../crawler/views.ts';

/** What the live view knows of the workers of a shared crawl. */
export interface WorkersSight {
  /** As it was read last; `null`: the crawl is not shared, or nothing was read so far. */
  readonly view: WorkersView | null;
  /** Why the last read has failed; `null`: it has not. */
  readonly fault: string | null;
}

export interface WorkersSource {
  readonly last: WorkersSight;
  /** Reads anew what is older than that, ms; a server that is slow to answer is waited for in the background. */
  get(maxAgeMs: number): Promise<WorkersSight>;
}

/** Longest wait of a page, ms. */
const PATIENCE_MS = 2_000;
/** Pause after a read that failed, ms. */
const AFTER_FAULT_MS = 10_000;

/** Reads only when asked: without a viewer the server has nothing to do. `null`: the crawl is not shared. */
export function createWorkersSource(
  watch: Pick<WorkersWatch, 'read'> | null,
  now: () => number,
  patienceMs = PATIENCE_MS,
): WorkersSource {
  let last: WorkersSight = { view: null, fault: null };
  let readAt = Number.NEGATIVE_INFINITY;
  let going: Promise<void> | null = null;
  const read = async (source: Pick<WorkersWatch, 'read'>): Promise<void> => {
    try {
      last = { view: await source.read(), fault: null };
    } catch (error) {
      last = { ...last, fault: (error as Error).message };
    }
    readAt = now();
  };
  return {
    get last() {
      return last;
    },
    async get(maxAgeMs) {
      const age = now() - readAt;
      if (watch === null || age < (last.fault === null ? maxAgeMs : AFTER_FAULT_MS)) return last;
      going ??= read(watch).finally(() => {
        going = null;
      });
      await Promise.race([going, delay(patienceMs, undefined, { ref: false })]);
      return last;
    },
  };
}

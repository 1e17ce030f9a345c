import { setTimeout as delay } from 'node:timers/promises';
import { livingOf } from '../cluster/workers/workers-view.ts';
import type { Steering, WorkersView, WorkersWatch } from '../crawler/views.ts';
import { followRun, runPath } from '../remote/run-status/announce.ts';
import type { RunStatus } from '../remote/run-status/run-status.ts';
import type { Health } from '../remote/schedule/health.ts';
import { sleepUntil } from '../remote/schedule/sleep-until.ts';
import { askStatus, statusPath } from '../remote/schedule/status-socket.ts';

/** Current activity on a state directory. */
export interface Activity {
  readonly state: 'running' | 'waiting' | 'idle';
  /** The current run. */
  readonly run: RunStatus | null;
  /** The scheduler, if one runs. */
  readonly schedule: Health | null;
  /** The workers of a shared crawl, on any machine. */
  readonly workers: WorkersView | null;
}

/** Pages a second at a point in time, ms since the epoch. */
export type Speed = readonly [at: number, pagesPerSecond: number];

export interface RunWatch {
  readonly activity: Activity;
  /** Workers of a shared crawl. */
  readonly workers: WorkersSource;
  /** Speeds of the last minutes, oldest first. */
  readonly speeds: readonly Speed[];
  /** The state after a command, before the run itself reports it. */
  noteSteering(steering: Steering): void;
  /** Resolves when the watch has ended. */
  close(): Promise<void>;
}

/** Pause between two polls for a run or a scheduler, ms. */
const POLL_MS = 1_000;
const SPEEDS_KEPT = 600;
const SPEED_EVERY_MS = 1_000;

/** Follows all runs on the state directory. */
export function watchRuns(dir: string, now: () => number, workers: WorkersSource): RunWatch {
  const end = new AbortController();
  const speeds: Speed[] = [];
  let run: RunStatus | null = null;
  let schedule: Health | null = null;
  let before: { readonly at: number; readonly segment: string | null; readonly done: number } | null = null;
  const onStatus = (status: RunStatus): void => {
    run = status;
    const at = now();
    if (status.progress === null || (before !== null && at - before.at < SPEED_EVERY_MS)) return;
    const { segment, done } = status.progress;
    if (before?.segment === segment) speeds.push([at, Math.max(0, ((done - before.done) * 1_000) / (at - before.at))]);
    before = { at, segment, done };
    if (speeds.length > SPEEDS_KEPT) speeds.shift();
  };
  // The sockets of a dying process do not answer: the next poll sees its end.
  const poll = async (): Promise<void> => {
    while (!end.signal.aborted) {
      schedule = await askStatus(statusPath(dir)).catch(() => null);
      await followRun(runPath(dir), onStatus, end.signal).catch(() => false);
      run = null;
      await sleepUntil(now() + POLL_MS, end.signal);
    }
  };
  const polling = poll();
  return {
    get activity() {
      const shared = workers.last.view;
      const isRunning = run !== null || (shared !== null && livingOf(shared).length > 0);
      const state: Activity['state'] = isRunning
        ? 'running'
        : schedule !== null && schedule.state !== 'stopped'
          ? 'waiting'
          : 'idle';
      return { state, run, schedule: run === null ? schedule : null, workers: shared };
    },
    speeds,
    workers,
    noteSteering(steering) {
      if (run !== null) run = { ...run, steering };
    },
    close() {
      end.abort();
      return polling;
    },
  };
}

/** What the live view knows of the workers of a shared crawl. */
interface WorkersSight {
  /** The last view read; `null`: the crawl is not shared, or nothing has been read so far. */
  readonly view: WorkersView | null;
  /** Why the last read failed; `null`: it did not. */
  readonly fault: string | null;
}

interface WorkersSource {
  readonly last: WorkersSight;
  /** Reads again if the view is older than `maxAgeMs`; a slow server is awaited in the background. */
  get(maxAgeMs: number): Promise<WorkersSight>;
}

/** Longest time that a page waits, ms. */
const PATIENCE_MS = 2_000;
/** Pause after a read that failed, ms. */
const AFTER_FAULT_MS = 10_000;

/** Reads only on demand: without a viewer the server has nothing to do. `null`: the crawl is not shared. */
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

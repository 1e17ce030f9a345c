import PQueue from 'p-queue';
import { type HostTurn, nextStartAt, quietUntil } from '../../../domain/crawl/revisit/host-turn.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { HostLanes, LaneTurn } from '../../../ports/host-lanes.ts';
import { createAbortWatch } from '../exchange/abort-watch.ts';

export interface HostLanesOptions {
  readonly clock: Clock;
  /** Tasks at a time over all hosts. */
  readonly concurrency: number;
  /** Tasks at a time of one host. */
  readonly connectionsPerHost: number;
  /** Delay of hosts for which no other was set, ms. */
  readonly defaultDelayMs: number;
}

/** Delays set for hosts beyond this number are forgotten, longest unused first. */
const MAX_KEPT_DELAYS = 50_000;
/** Ends of idle hosts are looked through for those that no longer matter whenever this many have come. */
const SWEEP_EVERY = 1000;

/** An active host. Made with its first task, dropped with its last. */
interface Lane extends HostTurn {
  lastEndAt: number | null;
  delayMs: number;
  running: number;
  pausedUntil: number | null;
  waiting: number;
  readonly queue: PQueue;
  /** Ends the sleep of a task that waits for its turn, so that it looks at the turn anew. */
  readonly alarms: Set<AbortController>;
}

/**
 * The clock's time, going on from where it was when the clock is set back: else hosts would be waited for until it has
 * caught up. `behind` is by how much it has been set back, ms.
 */
function neverBack(clock: Clock): { now(): number; behind(): number } {
  let behind = 0;
  let latest = Number.NEGATIVE_INFINITY;
  const now = (): number => {
    const systemNow = clock.now();
    if (systemNow + behind < latest) behind = latest - systemNow;
    latest = systemNow + behind;
    return latest;
  };
  return {
    now,
    behind() {
      now();
      return behind;
    },
  };
}

/** {@link HostLanes} on p-queue: one queue per active host, and one over all that bounds their sum. */
export function createHostLanes(options: HostLanesOptions): HostLanes {
  const { clock, concurrency, connectionsPerHost, defaultDelayMs } = options;
  const lanes = new Map<string, Lane>();
  const delays = new Map<string, number>();
  const resting = new Map<string, Pick<Lane, 'lastEndAt' | 'delayMs' | 'pausedUntil'>>();
  const all = new PQueue({ concurrency });
  const aborts = createAbortWatch();
  const time = neverBack(clock);
  let size = 0;
  let sweepAt = SWEEP_EVERY;
  let idleWaiters: (() => void)[] = [];

  function laneOf(host: string): Lane {
    let lane = lanes.get(host);
    if (lane !== undefined) return lane;
    const rest = resting.get(host);
    resting.delete(host);
    lane = {
      lastEndAt: rest?.lastEndAt ?? null,
      pausedUntil: rest?.pausedUntil ?? null,
      delayMs: delays.get(host) ?? defaultDelayMs,
      running: 0,
      waiting: 0,
      connections: connectionsPerHost,
      queue: new PQueue({ concurrency: connectionsPerHost }),
      alarms: new Set(),
    };
    lanes.set(host, lane);
    return lane;
  }

  function leave(host: string, lane: Lane): void {
    size--;
    if (lane.waiting + lane.running === 0) {
      lanes.delete(host);
      rest(host, lane);
    }
    if (size === 0) {
      const waiters = idleWaiters;
      idleWaiters = [];
      for (const resolve of waiters) resolve();
    }
  }

  function rest(host: string, turn: Pick<Lane, 'lastEndAt' | 'delayMs' | 'pausedUntil'>): void {
    const now = time.now();
    if (quietUntil(turn) <= now) return;
    const { lastEndAt, delayMs, pausedUntil } = turn;
    resting.set(host, { lastEndAt, delayMs, pausedUntil });
    if (resting.size < sweepAt) return;
    for (const [each, past] of resting) if (quietUntil(past) <= now) resting.delete(each);
    sweepAt = resting.size + SWEEP_EVERY;
  }

  /** Holds a slot of the lane, not a global one, until the host's turn has come or the task is no longer wanted. */
  async function waitForTurn(lane: Lane, isWanted: () => boolean): Promise<void> {
    for (;;) {
      const waitMs = nextStartAt(lane) - time.now();
      if (waitMs <= 0 || !isWanted()) return;
      const alarm = new AbortController();
      lane.alarms.add(alarm);
      try {
        await clock.sleep(waitMs, alarm.signal);
      } catch (error) {
        if (!alarm.signal.aborted) throw error;
      } finally {
        lane.alarms.delete(alarm);
      }
    }
  }

  const wake = (lane: Lane): void => {
    for (const alarm of lane.alarms) alarm.abort();
  };

  return {
    run<T>(host: string, task: (turn: LaneTurn) => Promise<T>, signal?: AbortSignal): Promise<T> {
      if (signal?.aborted) return Promise.reject(signal.reason);
      const lane = laneOf(host);
      size++;
      return new Promise<T>((resolve, reject) => {
        let state: 'waiting' | 'running' | 'done' | 'cancelled' = 'waiting';
        let hasAsked = true;
        let endTurn = (): void => {};
        // What the turn that is waited for sets going, and what becomes of it when there will be none.
        let go: () => void = start;
        let giveUp: (reason: unknown) => void = (reason) => {
          leave(host, lane);
          reject(reason);
        };
        let forget: (() => void) | undefined;
        const cancel = (reason: unknown): void => {
          state = 'cancelled';
          lane.waiting--;
          wake(lane);
          giveUp(reason);
        };
        const wait = (): void => {
          state = 'waiting';
          lane.waiting++;
          forget = signal === undefined ? undefined : aborts.watch(signal, cancel);
        };
        const leaveTurn = (): void => {
          lane.running--;
          if (hasAsked) lane.lastEndAt = time.now();
          endTurn();
        };
        const end = (settle: () => void): void => {
          if (state === 'running') {
            state = 'done';
            leaveTurn();
          }
          settle();
          leave(host, lane);
        };
        const turn: LaneTurn = {
          spare() {
            hasAsked = false;
          },
          next: () =>
            new Promise((resume, refuse) => {
              if (signal?.aborted) return refuse(signal.reason);
              go = resume;
              giveUp = refuse;
              wait();
              leaveTurn();
            }),
        };
        function start(): void {
          const result = (async () => task(turn))();
          result.then(
            (value) => end(() => resolve(value)),
            (error: unknown) => end(() => reject(error)),
          );
        }
        const isWaiting = (): boolean => state === 'waiting';
        const attempt = (): Promise<void> => {
          // While it waited for a global slot the turn may have moved on (a pause, a longer delay): wait again without
          // the slot.
          if (!isWaiting() || nextStartAt(lane) > time.now()) return Promise.resolve();
          state = 'running';
          forget?.();
          lane.waiting--;
          lane.running++;
          hasAsked = true;
          return new Promise((ended) => {
            endTurn = ended;
            go();
          });
        };
        const turns = async (): Promise<void> => {
          while (isWaiting()) {
            if (nextStartAt(lane) > time.now()) await waitForTurn(lane, isWaiting);
            if (isWaiting()) await all.add(attempt);
          }
        };
        wait();
        lane.queue.add(turns).catch((error: unknown) => {
          // Only a clock that fails to sleep comes here; the task never started, or waits for its next turn.
          if (isWaiting()) cancel(error);
        });
      });
    },

    setDelay(host, delayMs) {
      delays.delete(host);
      if (delayMs !== defaultDelayMs) {
        delays.set(host, delayMs);
        if (delays.size > MAX_KEPT_DELAYS) delays.delete(delays.keys().next().value ?? '');
      }
      const past = resting.get(host);
      if (past !== undefined) past.delayMs = delayMs;
      const lane = lanes.get(host);
      if (lane === undefined || lane.delayMs === delayMs) return;
      lane.delayMs = delayMs;
      wake(lane);
    },

    pauseUntil(host, clockTime) {
      const at = clockTime + time.behind();
      const lane = lanes.get(host);
      if (lane !== undefined) lane.pausedUntil = Math.max(lane.pausedUntil ?? at, at);
      else rest(host, { lastEndAt: null, delayMs: 0, ...resting.get(host), pausedUntil: at });
    },

    get size() {
      return size;
    },

    sizeOf(host) {
      const lane = lanes.get(host);
      return lane === undefined ? 0 : lane.waiting + lane.running;
    },

    busiest(limit) {
      return [...lanes]
        .map(([host, { waiting, running }]) => ({ host, waiting, running }))
        .sort((a, b) => b.waiting + b.running - (a.waiting + a.running))
        .slice(0, limit);
    },

    resting() {
      const now = time.now();
      return [...resting, ...lanes].flatMap(([host, turn]) => {
        const until = quietUntil(turn);
        return until > now ? [[host, until - time.behind()] as const] : [];
      });
    },

    onIdle() {
      return size === 0 ? Promise.resolve() : new Promise((resolve) => idleWaiters.push(resolve));
    },
  };
}

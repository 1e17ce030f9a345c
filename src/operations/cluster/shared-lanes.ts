import { randomUUID } from 'node:crypto';
import { TurnTooLate } from '../../domain/crawl/revisit/turn-too-late.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HostLeases } from '../../ports/cluster/shared-store.ts';
import type { HostLanes, LaneTurn } from '../../ports/host-lanes.ts';

export interface SharedLanesOptions {
  readonly hosts: HostLeases;
  /** The lanes of this process. */
  readonly lanes: HostLanes;
  readonly clock: Clock;
  /** A worker without a heartbeat for so long loses its hosts, ms. */
  readonly leaseMs: number;
  /** The default delay of the lanes, ms. */
  readonly defaultDelayMs: number;
}

export interface SharedLanes extends HostLanes {
  /** Releases the hosts. */
  close(): Promise<void>;
}

interface HeldHost {
  delayMs: number;
  pausedUntil: number;
  /** Time of the last heartbeat at the server, by the monotonic clock. */
  keptAt: number;
}

/** Waits up to this long are made within the task; for longer ones the lane pauses, without a slot. */
const SHORT_WAIT_MS = 1_000;
const AGAIN = Symbol('again');

type Latest = (() => number) | undefined;

/**
 * Lanes with one owner per host among all workers of a crawl: one worker holds the host, and no other may fetch from it
 * before a delay after the last request has passed. It is held from the first task of a lane to the last, so a request
 * costs no call to the server. A worker that dies loses its hosts a lease and a delay later. One that was paused takes
 * them again before its next request.
 */
export function createSharedLanes(options: SharedLanesOptions): SharedLanes {
  const { hosts, lanes, clock, leaseMs, defaultDelayMs } = options;
  const worker = randomUUID();
  const held = new Map<string, HeldHost>();
  /** Tasks of each host, from their call to their end. The last one releases the host. */
  const tasks = new Map<string, number>();
  const lifeOf = ({ delayMs, pausedUntil }: HeldHost): number =>
    Math.ceil(leaseMs + Math.max(delayMs, pausedUntil - clock.now()));

  async function keep(host: string, entry: HeldHost): Promise<void> {
    const startedAt = performance.now();
    if (await hosts.keep(host, worker, lifeOf(entry))) entry.keptAt = startedAt;
    else held.delete(host);
  }
  /** A failure is ignored: without a heartbeat this worker starts no more requests on the host. */
  const keepQuietly = (host: string, entry: HeldHost): void => void keep(host, entry).catch(() => {});

  const timer = setInterval(() => {
    for (const [host, entry] of held) keepQuietly(host, entry);
  }, leaseMs / 3).unref();

  /** 0: this worker may fetch from the host now; else the time to wait, ms. */
  async function enter(host: string): Promise<number> {
    const known = held.get(host);
    if (known !== undefined && performance.now() - known.keptAt < leaseMs) return 0;
    const entry = known ?? { delayMs: lanes.ownDelayMs(host) ?? defaultDelayMs, pausedUntil: 0, keptAt: 0 };
    const startedAt = performance.now();
    const waitMs = await hosts.take(host, worker, lifeOf(entry));
    if (waitMs > 0) return waitMs;
    entry.keptAt = startedAt;
    held.set(host, entry);
    return 0;
  }

  async function leave(host: string, entry: HeldHost): Promise<void> {
    held.delete(host);
    const restMs = Math.ceil(Math.max(entry.delayMs, entry.pausedUntil - clock.now()));
    // Without an answer the lease expires.
    await hosts.leave(host, worker, restMs).catch(() => {});
  }

  async function entered(host: string, latest: Latest): Promise<boolean> {
    for (;;) {
      const waitMs = await enter(host);
      if (waitMs === 0) return true;
      const at = clock.now() + waitMs;
      if (latest !== undefined && at > latest()) throw new TurnTooLate(host, at);
      if (waitMs > SHORT_WAIT_MS) {
        // The worker that has the host may be done long before its lease ends.
        lanes.pauseUntil(host, clock.now() + Math.min(waitMs, leaseMs / 3));
        return false;
      }
      await clock.sleep(waitMs);
    }
  }

  async function perform<T>(
    host: string,
    task: (turn: LaneTurn) => Promise<T>,
    turn: LaneTurn,
    latest: Latest,
  ): Promise<T | typeof AGAIN> {
    if (!(await entered(host, latest))) return AGAIN;
    const next = async (): Promise<void> => {
      // The host may have been lost meanwhile; it is then taken again.
      do await turn.next();
      while (!(await entered(host, latest)));
    };
    return task({ spare: () => turn.spare(), next });
  }

  async function taskEnds(host: string): Promise<void> {
    const left = (tasks.get(host) ?? 1) - 1;
    if (left > 0) return void tasks.set(host, left);
    tasks.delete(host);
    const entry = held.get(host);
    if (entry !== undefined) await leave(host, entry);
  }

  return {
    async run<T>(
      host: string,
      task: (turn: LaneTurn) => Promise<T>,
      signal?: AbortSignal,
      latest?: () => number,
    ): Promise<T> {
      tasks.set(host, (tasks.get(host) ?? 0) + 1);
      try {
        for (;;) {
          const result = await lanes.run(host, (turn) => perform(host, task, turn, latest), signal, latest);
          if (result !== AGAIN) return result as T;
        }
      } finally {
        await taskEnds(host);
      }
    },

    setDelay(host, delayMs) {
      lanes.setDelay(host, delayMs);
      const entry = held.get(host);
      // Shorter delays concern this lane only: other workers wait for the longest one.
      if (entry === undefined || delayMs <= entry.delayMs) return;
      entry.delayMs = delayMs;
      keepQuietly(host, entry);
    },

    ownDelayMs: (host) => lanes.ownDelayMs(host),

    pauseUntil(host, at) {
      lanes.pauseUntil(host, at);
      const entry = held.get(host);
      if (entry === undefined) return;
      entry.pausedUntil = Math.max(entry.pausedUntil, at);
      keepQuietly(host, entry);
    },

    get size() {
      return lanes.size;
    },
    sizeOf: (host) => lanes.sizeOf(host),
    busiest: (limit) => lanes.busiest(limit),
    resting: () => lanes.resting(),
    onIdle: () => lanes.onIdle(),

    async close() {
      clearInterval(timer);
      await Promise.all([...held].map(([host, entry]) => leave(host, entry)));
    },
  };
}

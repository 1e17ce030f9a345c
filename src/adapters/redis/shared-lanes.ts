import { randomUUID } from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import type { HostLanes, LaneTurn } from '../../ports/host-lanes.ts';
import type { RedisClient } from './connect.ts';
import { KEEP_HOST, LEAVE_HOST, TAKE_HOST } from './host-scripts.ts';
import { runScript } from './run-script.ts';

export interface SharedLanesOptions {
  readonly redis: RedisClient;
  /** Keys begin with it. */
  readonly name: string;
  /** The lanes of this process. */
  readonly lanes: HostLanes;
  readonly clock: Clock;
  /** A worker that gives no sign of life for so long loses its hosts, ms. */
  readonly leaseMs: number;
  /** As of the lanes, ms. */
  readonly defaultDelayMs: number;
}

export interface SharedLanes extends HostLanes {
  /** Gives the hosts back. */
  close(): Promise<void>;
}

interface HeldHost {
  delayMs: number;
  pausedUntil: number;
  running: number;
  /** By the monotonic clock: when Redis was last told that this worker lives. */
  keptAt: number;
}

/** Waits no longer than this are waited for in the lane; longer ones are for the lane to wait for, without a slot. */
const SHORT_WAIT_MS = 1_000;
const AGAIN = Symbol('again');

/**
 * Lanes of which all workers of a crawl have one per host: a host is asked by the worker that holds it, and by no other
 * until a delay after the last request has passed. It is held from the first task of a lane to the last, so a request
 * costs no question to Redis. A worker that dies loses its hosts a lease and a delay later; one that was paused starts
 * no request before it has asked for them again.
 */
export function createSharedLanes(options: SharedLanesOptions): SharedLanes {
  const { redis, name, lanes, clock, leaseMs, defaultDelayMs } = options;
  const worker = randomUUID();
  const held = new Map<string, HeldHost>();
  const keyOf = (host: string): string => `${name}:host:${host}`;
  const lifeOf = ({ delayMs, pausedUntil }: HeldHost): number =>
    Math.ceil(leaseMs + Math.max(delayMs, pausedUntil - clock.now()));

  async function keep(host: string, entry: HeldHost): Promise<void> {
    const startedAt = performance.now();
    if ((await runScript(redis, KEEP_HOST, [keyOf(host)], [worker, lifeOf(entry)])) === 1) entry.keptAt = startedAt;
    else held.delete(host);
  }
  /** Whoever cannot be told stays where it is: without a sign of life this worker starts nothing more on the host. */
  const keepQuietly = (host: string, entry: HeldHost): void => void keep(host, entry).catch(() => {});

  const timer = setInterval(() => {
    for (const [host, entry] of held) keepQuietly(host, entry);
  }, leaseMs / 3).unref();

  /** 0: this worker may ask the host now; else how long it has to wait, ms. */
  async function enter(host: string): Promise<number> {
    const known = held.get(host);
    if (known !== undefined && performance.now() - known.keptAt < leaseMs) return 0;
    const entry = known ?? { delayMs: defaultDelayMs, pausedUntil: 0, running: 0, keptAt: 0 };
    const startedAt = performance.now();
    const waitMs = Number(await runScript(redis, TAKE_HOST, [keyOf(host)], [worker, lifeOf(entry)]));
    if (waitMs > 0) return waitMs;
    entry.keptAt = startedAt;
    held.set(host, entry);
    return 0;
  }

  async function leave(host: string, entry: HeldHost): Promise<void> {
    held.delete(host);
    const restMs = Math.ceil(Math.max(entry.delayMs, entry.pausedUntil - clock.now()));
    // A server that does not answer lets it run out.
    await runScript(redis, LEAVE_HOST, [keyOf(host)], [worker, restMs]).catch(() => {});
  }

  async function entered(host: string): Promise<boolean> {
    for (;;) {
      const waitMs = await enter(host);
      if (waitMs === 0) return true;
      if (waitMs > SHORT_WAIT_MS) {
        // Whoever has the host may be done with it long before its lease ends.
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
  ): Promise<T | typeof AGAIN> {
    if (!(await entered(host))) return AGAIN;
    let entry = held.get(host);
    if (entry === undefined) return AGAIN;
    entry.running++;
    const next = async (): Promise<void> => {
      let taken: HeldHost | undefined;
      do {
        await turn.next();
        taken = (await entered(host)) ? held.get(host) : undefined;
      } while (taken === undefined);
      if (taken === entry || entry === undefined) return;
      // The host was lost meanwhile, and is held anew.
      entry.running--;
      taken.running++;
      entry = taken;
    };
    try {
      return await task({ spare: turn.spare, next });
    } finally {
      entry.running--;
      if (entry.running === 0 && lanes.sizeOf(host) <= 1 && held.get(host) === entry) await leave(host, entry);
    }
  }

  return {
    async run<T>(host: string, task: (turn: LaneTurn) => Promise<T>, signal?: AbortSignal): Promise<T> {
      for (;;) {
        const result = await lanes.run(host, (turn) => perform(host, task, turn), signal);
        if (result !== AGAIN) return result as T;
      }
    },

    setDelay(host, delayMs) {
      lanes.setDelay(host, delayMs);
      const entry = held.get(host);
      // Shorter ones are for the lane alone: others wait for the longest that was asked for.
      if (entry === undefined || delayMs <= entry.delayMs) return;
      entry.delayMs = delayMs;
      keepQuietly(host, entry);
    },

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

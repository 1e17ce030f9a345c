import PQueue from 'p-queue';
import { quietUntil } from '../../core/domain/crawl/revisit/next-visit.ts';
import { Lru } from '../../core/domain/lru.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { HostLanes, LaneTurn, LengthenedDelay } from '../../core/ports/host-lanes.ts';
import { createAbortWatch } from '../exchange/incoming-response.ts';
import { HostLane, LaneTask, type LaneTaskDeps, RestingHosts, SteadyTime } from './host-lane.ts';

export interface HostLanesOptions {
  readonly clock: Clock;
  /** Concurrent tasks over all hosts. */
  readonly concurrency: number;
  /** Concurrent tasks per host. */
  readonly connectionsPerHost: number;
  /** Delay of hosts for which no other delay was set, ms. */
  readonly defaultDelayMs: number;
  /** The operator's settings for one host; default: there are none. */
  readonly ownSettings?: ((host: string) => LaneSettings | undefined) | undefined;
}

/** `undefined`: as for all hosts. */
export interface LaneSettings {
  readonly delayMs?: number | undefined;
  readonly connections?: number | undefined;
}

export function createHostLanes(options: HostLanesOptions): HostLanes {
  return new QueuedHostLanes(options);
}

/** Beyond this number, delays set for hosts are forgotten, least recently used first. */
const MAX_KEPT_DELAYS = 50_000;

/** {@link HostLanes} on p-queue: one queue per active host, and one over all hosts that limits their sum. */
class QueuedHostLanes implements HostLanes {
  readonly #options: HostLanesOptions;
  readonly #time: SteadyTime;
  readonly #lanes = new Map<string, HostLane>();
  readonly #delays = new Lru<number>({ entries: MAX_KEPT_DELAYS });
  /** Delays requested by the operator, ms. */
  readonly #lengthened = new Map<string, number>();
  readonly #resting = new RestingHosts();
  readonly #deps: LaneTaskDeps;
  #size = 0;
  #idleWaiters: (() => void)[] = [];

  constructor(options: HostLanesOptions) {
    this.#options = options;
    this.#time = new SteadyTime(options.clock);
    this.#deps = {
      slots: new PQueue({ concurrency: options.concurrency }),
      aborts: createAbortWatch(),
      onLeave: (lane) => this.#leave(lane),
    };
  }

  run<T>(host: string, task: (turn: LaneTurn) => Promise<T>, signal?: AbortSignal, latest?: () => number): Promise<T> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const lane = this.#laneOf(host);
    this.#size++;
    return new Promise<T>((resolve, reject) => {
      new LaneTask(lane, this.#deps, task, { signal, latest }, resolve, reject).enter();
    });
  }

  setDelay(host: string, delayMs: number): void {
    if (delayMs === (this.ownDelayMs(host) ?? this.#options.defaultDelayMs)) this.#delays.delete(host);
    else this.#delays.set(host, delayMs);
    this.#applyDelay(host);
  }

  lengthenDelay(host: string, delayMs: number): LengthenedDelay {
    if (delayMs > 0) this.#lengthened.set(host, delayMs);
    else this.#lengthened.delete(host);
    this.#applyDelay(host);
    return { delayMs: this.#delayOf(host), leastMs: this.#leastDelayOf(host) };
  }

  hold(): void {
    this.#deps.slots.pause();
  }

  release(): void {
    this.#deps.slots.start();
  }

  get running(): number {
    return this.#deps.slots.pending;
  }

  ownDelayMs(host: string): number | undefined {
    return this.#options.ownSettings?.(host)?.delayMs;
  }

  pauseUntil(host: string, clockTime: number): void {
    const at = clockTime + this.#time.behindMs();
    const lane = this.#lanes.get(host);
    if (lane !== undefined) lane.pauseUntil(at);
    else {
      const rest = this.#resting.get(host) ?? { lastEndAt: null, delayMs: 0, pausedUntil: null };
      const pausedUntil = Math.max(rest.pausedUntil ?? at, at);
      this.#resting.put(host, { ...rest, pausedUntil }, this.#time.now());
    }
  }

  get size(): number {
    return this.#size;
  }

  sizeOf(host: string): number {
    const lane = this.#lanes.get(host);
    return lane === undefined ? 0 : lane.waiting + lane.running;
  }

  busiest(limit: number): { readonly host: string; readonly waiting: number; readonly running: number }[] {
    return [...this.#lanes.values()]
      .map(({ host, waiting, running }) => ({ host, waiting, running }))
      .sort((a, b) => b.waiting + b.running - (a.waiting + a.running))
      .slice(0, limit);
  }

  resting(): (readonly [host: string, until: number])[] {
    const now = this.#time.now();
    const behindMs = this.#time.behindMs();
    return [...this.#resting, ...this.#lanes].flatMap(([host, turn]) => {
      const until = quietUntil(turn);
      return until > now ? [[host, Math.round(until - behindMs)] as const] : [];
    });
  }

  onIdle(): Promise<void> {
    return this.#size === 0 ? Promise.resolve() : new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  #laneOf(host: string): HostLane {
    let lane = this.#lanes.get(host);
    if (lane !== undefined) return lane;
    const { connectionsPerHost, ownSettings } = this.#options;
    const connections = ownSettings?.(host)?.connections ?? connectionsPerHost;
    lane = new HostLane(host, connections, this.#delayOf(host), this.#resting.take(host), this.#time);
    this.#lanes.set(host, lane);
    return lane;
  }

  #leastDelayOf(host: string): number {
    return this.#delays.get(host) ?? this.ownDelayMs(host) ?? this.#options.defaultDelayMs;
  }

  #delayOf(host: string): number {
    return Math.max(this.#leastDelayOf(host), this.#lengthened.get(host) ?? 0);
  }

  #applyDelay(host: string): void {
    const delayMs = this.#delayOf(host);
    const rest = this.#resting.get(host);
    if (rest !== undefined) rest.delayMs = delayMs;
    this.#lanes.get(host)?.setDelay(delayMs);
  }

  #leave(lane: HostLane): void {
    this.#size--;
    if (lane.isIdle) {
      this.#lanes.delete(lane.host);
      this.#resting.put(lane.host, lane, this.#time.now());
    }
    if (this.#size > 0) return;
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const resolve of waiters) resolve();
  }
}

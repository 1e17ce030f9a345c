// http/lanes/: the queue of each host: one request at a time, with a delay in between.

import PQueue from 'p-queue';
import { type HostTurn, nextStartAt, quietUntil, TurnTooLate } from '../../core/domain/crawl/revisit/next-visit.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { LaneTurn } from '../../core/ports/host-lanes.ts';
import type { AbortWatch } from '../exchange/incoming-response.ts';

/** An active host: created with its first task, dropped with its last. */
export class HostLane implements HostTurn {
  readonly host: string;
  readonly connections: number;
  /** Number of tasks that wait for their turn. */
  waiting = 0;
  running = 0;
  lastEndAt: number | null;
  pausedUntil: number | null;
  delayMs: number;
  /** Holds each task from its first turn to its end, at most `connections` of them. */
  readonly queue: PQueue;
  readonly #time: SteadyTime;
  /** One per sleeping task. */
  readonly #alarms = new Set<AbortController>();

  constructor(host: string, connections: number, delayMs: number, rest: Rest | undefined, time: SteadyTime) {
    this.host = host;
    this.connections = connections;
    this.delayMs = delayMs;
    this.lastEndAt = rest?.lastEndAt ?? null;
    this.pausedUntil = rest?.pausedUntil ?? null;
    this.queue = new PQueue({ concurrency: connections });
    this.#time = time;
  }

  get isIdle(): boolean {
    return this.waiting + this.running === 0;
  }

  /** Whether connection, delay and pause allow a request now. */
  get isOpen(): boolean {
    return nextStartAt(this) <= this.#time.now();
  }

  /** @param hasRequested whether the turn sent a request to the host: its delay counts from then */
  endTurn(hasRequested: boolean): void {
    this.running--;
    if (hasRequested) this.lastEndAt = this.#time.now();
  }

  setDelay(delayMs: number): void {
    if (this.delayMs === delayMs) return;
    this.delayMs = delayMs;
    this.wake();
  }

  pauseUntil(at: number): void {
    this.pausedUntil = Math.max(this.pausedUntil ?? at, at);
  }

  /** Time at which delay and pause allow the next request, ms since the epoch. */
  get opensAt(): number {
    return Math.ceil(quietUntil(this) - this.#time.behindMs());
  }

  /** Sleeps until the lane is open or {@link wake} is called. Rejects when the clock fails. */
  async sleep(): Promise<void> {
    const waitMs = nextStartAt(this) - this.#time.now();
    if (waitMs <= 0) return;
    const alarm = new AbortController();
    this.#alarms.add(alarm);
    try {
      await this.#time.sleep(waitMs, alarm.signal);
    } catch (error) {
      if (!alarm.signal.aborted) throw error;
    } finally {
      this.#alarms.delete(alarm);
    }
  }

  /** Makes sleeping tasks check the lane again: its delay has changed, or one of them is cancelled. */
  wake(): void {
    for (const alarm of this.#alarms) alarm.abort();
  }
}

export interface LaneTaskDeps {
  /** Limits the number of running tasks over all hosts. */
  readonly slots: PQueue;
  readonly aborts: AbortWatch;
  /** Called once, when the task is done with its lane. */
  readonly onLeave: (lane: HostLane) => void;
}

/** As in `HostLanes.run`. */
interface LaneTaskLimits {
  readonly signal: AbortSignal | undefined;
  readonly latest: (() => number) | undefined;
}

/**
 * One task on its way through a lane:
 *
 * - `waiting`: for the lane, then for a global slot. It begins so, and returns to it with each `next()`.
 * - `running`: in a turn; holds a connection of the host and a global slot.
 * - `cancelled`: while it waited, its signal was aborted, its turn became too late, or the clock failed. A task that
 *   had begun still has to end.
 * - `done`: it has settled.
 */
type State = 'waiting' | 'running' | 'cancelled' | 'done';

export class LaneTask<T> implements LaneTurn {
  readonly #lane: HostLane;
  readonly #deps: LaneTaskDeps;
  readonly #task: (turn: LaneTurn) => Promise<T>;
  readonly #signal: AbortSignal | undefined;
  readonly #latest: (() => number) | undefined;
  readonly #resolve: (value: T) => void;
  readonly #reject: (reason: unknown) => void;
  #state: State = 'waiting';
  /** Whether the turn sends a request to the host. */
  #hasRequested = true;
  /** After `next()`: settles its promise. Before that: `null`, and the turn begins the task. */
  #awaited: { readonly resume: () => void; readonly refuse: (reason: unknown) => void } | null = null;
  /** Gives the global slot back. */
  #freeSlot = (): void => {};
  #unwatch: (() => void) | undefined;

  constructor(
    lane: HostLane,
    deps: LaneTaskDeps,
    task: (turn: LaneTurn) => Promise<T>,
    { signal, latest }: LaneTaskLimits,
    resolve: (value: T) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#lane = lane;
    this.#deps = deps;
    this.#task = task;
    this.#signal = signal;
    this.#latest = latest;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  enter(): void {
    this.#wait();
    this.#lane.queue.add(this.#takeTurns).catch((error: unknown) => {
      // Only reached if the clock fails to sleep.
      if (this.#isWaiting()) this.#cancel(error);
    });
  }

  spare(): void {
    this.#hasRequested = false;
  }

  next(): Promise<void> {
    return new Promise((resume, refuse) => {
      if (this.#signal?.aborted) return refuse(this.#signal.reason);
      this.#awaited = { resume, refuse };
      this.#wait();
      this.#endTurn();
    });
  }

  #wait(): void {
    this.#state = 'waiting';
    this.#lane.waiting++;
    if (this.#signal !== undefined) this.#unwatch = this.#deps.aborts.watch(this.#signal, this.#cancel);
  }

  /** While it waits, holds the task's place in the lane, but no global slot. */
  readonly #takeTurns = async (): Promise<void> => {
    while (this.#state === 'waiting') {
      if (this.#lane.isOpen) await this.#deps.slots.add(this.#takeTurn);
      else if (this.#isTooLate()) this.#cancel(new TurnTooLate(this.#lane.host, this.#lane.opensAt));
      else await this.#lane.sleep();
    }
  };

  #isTooLate(): boolean {
    return this.#latest !== undefined && this.#lane.opensAt > this.#latest();
  }

  readonly #isWaiting = (): boolean => this.#state === 'waiting';

  /** Runs with a global slot, which it holds until the promise resolves. */
  readonly #takeTurn = (): Promise<void> => {
    // While the task waited for the slot, the lane may have closed (a pause, a longer delay): wait again without the
    // slot.
    if (this.#state !== 'waiting' || !this.#lane.isOpen) return Promise.resolve();
    this.#state = 'running';
    this.#unwatch?.();
    this.#lane.waiting--;
    this.#lane.running++;
    this.#hasRequested = true;
    return new Promise((free) => {
      this.#freeSlot = free;
      if (this.#awaited === null) this.#begin();
      else this.#awaited.resume();
    });
  };

  #begin(): void {
    const result = (async () => this.#task(this))();
    result.then(
      (value) => {
        this.#end();
        this.#resolve(value);
        this.#deps.onLeave(this.#lane);
      },
      (error: unknown) => {
        this.#end();
        this.#reject(error);
        this.#deps.onLeave(this.#lane);
      },
    );
  }

  #end(): void {
    if (this.#state !== 'running') return;
    this.#state = 'done';
    this.#endTurn();
  }

  #endTurn(): void {
    this.#lane.endTurn(this.#hasRequested);
    this.#freeSlot();
  }

  readonly #cancel = (reason: unknown): void => {
    this.#state = 'cancelled';
    this.#unwatch?.();
    this.#lane.waiting--;
    this.#lane.wake();
    if (this.#awaited !== null) this.#awaited.refuse(reason);
    else {
      this.#deps.onLeave(this.#lane);
      this.#reject(reason);
    }
  };
}

/** What must be remembered about a host between two of its tasks. */
interface Rest extends Pick<HostTurn, 'lastEndAt' | 'delayMs' | 'pausedUntil'> {
  delayMs: number;
}

/** Number of rests put after which those that are over are removed. */
const SWEEP_EVERY = 1000;

/** Hosts without tasks that must not be contacted yet, by name. A rest that is over is eventually forgotten. */
export class RestingHosts {
  readonly #rests = new Map<string, Rest>();
  #sweepAt = SWEEP_EVERY;

  get(host: string): Rest | undefined {
    return this.#rests.get(host);
  }

  /** Removes and returns the rest of a host that has a task again. */
  take(host: string): Rest | undefined {
    const rest = this.#rests.get(host);
    if (rest !== undefined) this.#rests.delete(host);
    return rest;
  }

  /** Nothing is kept for a host that may be requested already. */
  put(host: string, turn: Rest, now: number): void {
    if (quietUntil(turn) <= now) return;
    const { lastEndAt, delayMs, pausedUntil } = turn;
    this.#rests.set(host, { lastEndAt, delayMs, pausedUntil });
    if (this.#rests.size < this.#sweepAt) return;
    for (const [each, rest] of this.#rests) if (quietUntil(rest) <= now) this.#rests.delete(each);
    this.#sweepAt = this.#rests.size + SWEEP_EVERY;
  }

  [Symbol.iterator](): IterableIterator<[string, Rest]> {
    return this.#rests[Symbol.iterator]();
  }
}

/**
 * Time that does not move when a clock is set. Otherwise, after a clock was set back, hosts would wait until it has
 * caught up; after it was set forward, they would be requested without a pause. If the clock has no `elapsed` and is
 * set back, this time continues from where it was.
 */
export class SteadyTime {
  readonly #clock: Clock;
  #behindMs = 0;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Never less than the last value. */
  now(): number {
    if (this.#clock.elapsed !== undefined) return this.#clock.elapsed();
    const clockNow = this.#clock.now();
    if (clockNow + this.#behindMs < this.#latest) this.#behindMs = this.#latest - clockNow;
    this.#latest = clockNow + this.#behindMs;
    return this.#latest;
  }

  /** How far the clock is behind this time, ms. */
  behindMs(): number {
    return this.now() - this.#clock.now();
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms, signal);
  }
}

import type PQueue from 'p-queue';
import { TurnTooLate } from '../../core/domain/crawl/revisit/next-visit.ts';
import type { LaneTurn } from '../../core/ports/host-lanes.ts';
import type { AbortWatch } from '../exchange/incoming-response.ts';
import type { HostLane } from './host-lane.ts';

export interface LaneTaskDeps {
  /** Bounds the tasks that run over all hosts. */
  readonly slots: PQueue;
  readonly aborts: AbortWatch;
  /** Called once, when the task is done with its lane. */
  readonly onLeave: (lane: HostLane) => void;
}

/** As of `HostLanes.run`. */
export interface LaneTaskLimits {
  readonly signal: AbortSignal | undefined;
  readonly latest: (() => number) | undefined;
}

/**
 * One task on its way through a lane:
 *
 * - `waiting`: for the lane, then for a global slot. It begins so, and returns to it with each `next()`.
 * - `running`: in a turn; holds a connection of the host and a global slot.
 * - `cancelled`: its signal was aborted, its turn comes too late, or the clock failed, while it waited. A task that had
 *   begun still has to end.
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
  /** Whether the turn asks anything of the host. */
  #hasAsked = true;
  /** After `next()`: settles its promise. Before: `null`, and the turn begins the task. */
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
      // Only a clock that fails to sleep comes here.
      if (this.#isWaiting()) this.#cancel(error);
    });
  }

  spare(): void {
    this.#hasAsked = false;
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

  /** Holds the task's place in the lane, not a global slot, while it waits. */
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

  /** With a global slot, which it holds until the promise resolves. */
  readonly #takeTurn = (): Promise<void> => {
    // While the task waited for the slot the lane may have closed (a pause, a longer delay): wait again without it.
    if (this.#state !== 'waiting' || !this.#lane.isOpen) return Promise.resolve();
    this.#state = 'running';
    this.#unwatch?.();
    this.#lane.waiting--;
    this.#lane.running++;
    this.#hasAsked = true;
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
    this.#lane.endTurn(this.#hasAsked);
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

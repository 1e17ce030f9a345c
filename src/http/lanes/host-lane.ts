// http/lanes/: the queue of each host: one request at a time, with a delay in between.

import PQueue from 'p-queue';
import { type HostTurn, nextStartAt, quietUntil } from '../../core/domain/crawl/revisit/next-visit.ts';
import type { Rest } from './resting-hosts.ts';
import type { SteadyTime } from './steady-time.ts';

/** An active host: made with its first task, dropped with its last. */
export class HostLane implements HostTurn {
  readonly host: string;
  readonly connections: number;
  /** Tasks that wait for their turn. */
  waiting = 0;
  running = 0;
  lastEndAt: number | null;
  pausedUntil: number | null;
  delayMs: number;
  /** Holds each task from its first turn on to its end, at most `connections` of them. */
  readonly queue: PQueue;
  readonly #time: SteadyTime;
  /** One for each sleeping task. */
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

  /** @param hasAsked whether the turn asked anything of the host: its delay counts from then */
  endTurn(hasAsked: boolean): void {
    this.running--;
    if (hasAsked) this.lastEndAt = this.#time.now();
  }

  setDelay(delayMs: number): void {
    if (this.delayMs === delayMs) return;
    this.delayMs = delayMs;
    this.wake();
  }

  pauseUntil(at: number): void {
    this.pausedUntil = Math.max(this.pausedUntil ?? at, at);
  }

  /** When delay and pause allow the next request, ms since the epoch. */
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

  /** Sleeping tasks look at the lane again: its delay has changed, or one of them is cancelled. */
  wake(): void {
    for (const alarm of this.#alarms) alarm.abort();
  }
}

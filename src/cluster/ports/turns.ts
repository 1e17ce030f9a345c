import type { RestingHosts, WorkerReport } from './workers.ts';

/** A turn of a partition that this worker has taken. */
export interface TakenTurn {
  readonly partition: number;
  /** How often a turn was wanted: if this grows while the turn is played, it is played again. */
  readonly wanted: number;
}

/**
 * How a turn ended: nothing is left to do, or any worker is to take it again after a while. For people, `resting` is
 * what the turn has left, and `fault` why it could not be played, which does not count as a failed attempt.
 */
export type TurnResult =
  | 'done'
  | { readonly laterMs: number; readonly resting?: RestingHosts; readonly fault?: string };

export interface TurnsState {
  /** Partitions whose turn waits or is played; without those that have failed and wait for another attempt. */
  readonly open: number;
  /** Time until the next turn may be taken, ms; 0: one may be taken now. `null`: none waits. */
  readonly nextMs: number | null;
  /** Workers of the crawl that showed a sign of life within a lease; taking a turn is one. */
  readonly workers: number;
  /** Partitions that have failed, with the reasons. */
  readonly failed: readonly { readonly partition: number; readonly reason: string }[];
}

/** Failed attempts in a row after which a partition counts as failed: the crawl may end without it. */
export const TURN_ATTEMPTS = 3;
/**
 * Pauses after failed attempts in a row, ms; the last one is for all further attempts. The first are for faults that
 * pass by themselves. After `TURN_ATTEMPTS` somebody has to repair something, and each attempt may cost as much as a
 * round.
 */
export const TURN_PAUSES_MS: readonly number[] = [1_000, 2_000, 60_000, 5 * 60_000, 25 * 60_000, 60 * 60_000];

/**
 * The turns of the partitions of a crawl, shared by its workers without a master. A partition has at most one turn, and
 * a turn has no state: the crawl db of the partition shows what is to be done. A turn that is taken is kept from the
 * other workers by the write lease of its partition and, until that is taken, for the length of a lease. So the turn of
 * a worker that died is taken by another one. Calls reject with `CrawlError`, one of `STORE_AWAY` while the server does
 * not answer.
 */
export interface Turns {
  /** Id of this worker. */
  readonly worker: string;
  /** Sets the report that its signs of life carry from now on, for people. They come more often while it changes. */
  tell(report: () => WorkerReport): void;
  /** Wants a turn for each of these partitions. One that has failed gets it after its pause. */
  want(partitions: Iterable<number>): Promise<void>;
  /** Takes at most this number of turns of partitions that no worker holds, the longest waiting first. */
  take(limit: number): Promise<readonly TakenTurn[]>;
  /** Ends a turn whose partition has been given back. */
  end(turn: TakenTurn, result: TurnResult): Promise<void>;
  /** Counts a failed attempt; the turn is taken again after a pause. */
  fail(turn: TakenTurn, reason: string): Promise<void>;
  state(): Promise<TurnsState>;
  /** Starts all failed partitions over, at once. */
  forgetFailed(): Promise<void>;
  /** Resolves after this number of ms, or as soon as a turn is wanted, or the signal aborts. Never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** @param fault of this worker, which ends because of it: others see it for an hour */
  close(fault?: string): Promise<void>;
}

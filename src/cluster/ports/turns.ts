import type { RestingHosts, WorkerReport } from './workers.ts';

/** A turn of a partition that this worker has taken. */
export interface TakenTurn {
  readonly partition: number;
  /** Counts how often a turn was wanted: one that is wanted again while it is played is played again. */
  readonly wanted: number;
}

/**
 * How a turn ended: nothing is left to do, or it is to be taken again, by any worker, after a while. For people,
 * `resting` is what it has left, and `fault` why it could not be played, which is no failed attempt.
 */
export type TurnResult =
  | 'done'
  | { readonly laterMs: number; readonly resting?: RestingHosts; readonly fault?: string };

export interface TurnsState {
  /** Partitions whose turn waits or is played; not those that have failed and wait for another attempt. */
  readonly open: number;
  /** Time until the next turn may be taken, ms; 0: one may be taken now. `null`: none waits. */
  readonly nextMs: number | null;
  /** Workers of the crawl that showed a sign of life within a lease; taking turns is one. */
  readonly workers: number;
  /** Partitions that have failed, and the reasons. */
  readonly failed: readonly { readonly partition: number; readonly reason: string }[];
}

/** Failed attempts in a row after which a partition counts as failed: the crawl may end without it. */
export const TURN_ATTEMPTS = 3;
/**
 * Pauses after failed attempts in a row, ms, the last one after all further ones. The first are for what passes by
 * itself. After `TURN_ATTEMPTS` somebody has to mend something, and each attempt may cost as much as a round.
 */
export const TURN_PAUSES_MS: readonly number[] = [1_000, 2_000, 60_000, 5 * 60_000, 25 * 60_000, 60 * 60_000];

/**
 * The turns of the partitions of a crawl, shared by its workers without a master. A partition has at most one turn,
 * and a turn has no state: what is to be done is in the crawl db of the partition. A turn that is taken is kept from
 * the other workers by the write lease of its partition, and until that is taken for as long as a lease lasts; so the
 * turn of a worker that died is taken by another one. Calls reject with `CrawlError`, one of `STORE_AWAY` while the
 * server does not answer.
 */
export interface Turns {
  /** Id of this worker. */
  readonly worker: string;
  /** Names what its signs of life carry from now on, for people; they come more often while that changes. */
  tell(report: () => WorkerReport): void;
  /** Asks for a turn of each of these partitions. One that has failed gets it after its pause. */
  want(partitions: Iterable<number>): Promise<void>;
  /** Takes at most this number of turns of partitions that no worker holds, those that wait longest first. */
  take(limit: number): Promise<readonly TakenTurn[]>;
  /** Ends a turn whose partition was given back. */
  end(turn: TakenTurn, result: TurnResult): Promise<void>;
  /** Counts a failed attempt; the turn is taken again after a pause. */
  fail(turn: TakenTurn, reason: string): Promise<void>;
  state(): Promise<TurnsState>;
  /** Begins all that have failed anew, at once. */
  forgetFailed(): Promise<void>;
  /** Resolves after this number of ms, or as soon as a turn is wanted, or the signal aborts. Never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** @param fault of this worker's own, by which it ends: others see it for an hour */
  close(fault?: string): Promise<void>;
}

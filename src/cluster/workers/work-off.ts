import { CrawlError, ERRORS, type ErrorCode } from '../../core/domain/errors.ts';
import type { SeedSource } from '../../core/steps/inject.ts';
import { type CrawlSummary, PlayedRounds, type RoundSummary, totalsOf } from '../../core/steps/round-summary.ts';
import type { CrawlProgress } from '../../core/steps/summaries.ts';
import { isAway, STORE_AWAY, StoreRefusal } from '../ports/shared-store.ts';
import type { TakenTurn, TurnResult, Turns, TurnsState } from '../ports/turns.ts';
import { Refusals, type RefusalsDeps } from './refusals.ts';

export { totalsOf };

/** One of the processes that crawl together. */
export interface Worker {
  /** Plays turns until nothing is due or the signal comes. Rejects with the `CrawlError` that ended the crawl. */
  work(options?: WorkOptions): Promise<WorkSummary>;
  close(): Promise<void>;
}

export interface WorkOptions {
  readonly seeds?: readonly SeedSource[];
  readonly signal?: AbortSignal;
  /** Called with each round that this worker ends. */
  readonly onRound?: (round: RoundSummary) => void;
  readonly onProgress?: (progress: CrawlProgress) => void;
  /** Waits while nothing is due, until the signal comes. Default: false. */
  readonly stays?: boolean;
}

export interface WorkSummary extends CrawlSummary {
  /** Turns of partitions that this worker played. */
  readonly turns: number;
  /** Number of rounds that it ended; `rounds` has the latest ones. */
  readonly roundsDone: number;
}

export interface WorkOffDeps extends RefusalsDeps {
  readonly turns: Turns;
  /** Turns that each worker plays at a time, given the number of workers. */
  readonly atOnce: (workers: number) => number;
  /** Rejects when the crawl db no longer belongs to the state directory. */
  requireCrawlDb(): Promise<void>;
  /**
   * Wants the turns that are needed when none is left. False: the crawl is done.
   * @param failed partitions that have failed; their turns come by themselves
   */
  wake(signal: AbortSignal, failed: ReadonlySet<number>): Promise<boolean>;
}

/** @param mayGoOn whether the turn may begin one more round: false when another worker waits for its place */
type Play = (partition: number, signal: AbortSignal, mayGoOn: () => boolean) => Promise<TurnResult>;

/** Longest pause between two looks at the turns, ms. */
const LOOK_MS = 1_000;
/** Pause before the second look, which must find no turn either, ms. */
const QUIET_MS = 250;
const SOON_MS = 20;
/** Pause before a turn is tried again that is held up by another process or by a server that does not answer, ms. */
const LATER_MS = 500;
const LATER: ReadonlySet<string> = new Set<ErrorCode>(['db-locked', 'lease-lost', ...STORE_AWAY]);
/** Faults of one worker, in its configuration or its machine: it ends, and others take its turns. */
const OWN_FAULTS: ReadonlySet<string> = new Set<ErrorCode>([
  ...(['contact-missing', 'package-missing', 'plugin-broken'] as const),
  ...(['disk-full', 'db-readonly', 'system-limit'] as const),
]);
/** The same for errors of system calls. */
const OWN_SYSTEM_FAULTS: ReadonlySet<string> = new Set([
  ...['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'ENOMEM'],
]);

/** Whether an error concerns only this worker: others may succeed. */
export function isOwnFault(error: unknown): error is Error {
  if (error instanceof CrawlError) return OWN_FAULTS.has(error.code) && !(error instanceof StoreRefusal);
  return error instanceof Error && OWN_SYSTEM_FAULTS.has(String((error as NodeJS.ErrnoException).code));
}

/** `disk-full: ..`; for a failed system call, its code and what happened. */
export const faultText = (error: Error): string =>
  error instanceof CrawlError ? `${error.code}: ${error.message}` : error.message;

/**
 * Plays turns until none is left and none is needed, or the signal comes. Resolves with the rounds played. Rejects with
 * the error of a failed partition if only failed ones are left. Unless the worker stays, also rejects with the error of
 * a server that has taken no writes for minutes.
 */
export async function workOff(
  deps: WorkOffDeps,
  { signal, onRound, stays = false }: Pick<WorkOptions, 'signal' | 'onRound' | 'stays'>,
  playing: (onRound: (round: RoundSummary) => void) => Play,
): Promise<Omit<WorkSummary, 'turns'>> {
  const played = new PlayedRounds();
  const play = playing((round) => {
    played.add(round);
    onRound?.(round);
  });
  const over = new AbortController();
  const ended = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  const refusals = new Refusals(deps, stays);
  const shift = new Shift(deps, play, { ended, over: () => over.abort(), refusals });
  if ((await deps.turns.state()).open === 0) await deps.turns.forgetFailed();
  let state: TurnsState;
  try {
    state = await untilQuiet(deps, shift, { ended, refusals });
  } finally {
    over.abort();
    await shift.finished();
  }
  if (shift.fault !== null) throw shift.fault;
  if (signal?.aborted !== true) refuseFailed(state);
  return { ...played.summary(), roundsDone: played.done, stoppedBy: signal?.aborted ? 'signal' : 'nothing-due' };
}

interface ShiftOptions {
  readonly ended: AbortSignal;
  /** Ends the work of this worker. */
  readonly over: () => void;
  readonly refusals: Refusals;
}

/** The turns that this worker is playing. */
class Shift {
  fault: Error | null = null;
  readonly #turns: Turns;
  readonly #log: WorkOffDeps['log'];
  readonly #play: Play;
  readonly #options: ShiftOptions;
  readonly #playing = new Set<Promise<void>>();
  /** Turns that it may currently play at a time. */
  #atOnce = 1;
  /** Turns that end with their round because there are too many. */
  #leaving = 0;
  #onEnd: () => void = () => {};

  constructor({ turns, log }: Pick<WorkOffDeps, 'turns' | 'log'>, play: Play, options: ShiftOptions) {
    this.#turns = turns;
    this.#log = log;
    this.#play = play;
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#playing.size === 0;
  }

  /** Turns that it can take in addition. */
  get places(): number {
    return Math.max(0, this.#atOnce - this.#playing.size);
  }

  /** Sets the limit. If more turns are played, some end with their round. */
  limit(atOnce: number): void {
    this.#atOnce = atOnce;
  }

  /** Takes as many turns as there are places; resolves with their number. */
  async fill(): Promise<number> {
    const taken = await this.#turns.take(this.places);
    for (const turn of taken) {
      const run = this.#run(turn);
      this.#playing.add(run);
      void run.finally(() => {
        this.#playing.delete(run);
        this.#onEnd();
      });
    }
    return taken.length;
  }

  /** Resolves after this number of ms, or as soon as a turn is wanted or one of this worker has ended. */
  async pause(ms: number): Promise<void> {
    const woken = new AbortController();
    this.#onEnd = () => woken.abort();
    await this.#turns.wait(ms, AbortSignal.any([this.#options.ended, woken.signal]));
    this.#onEnd = () => {};
  }

  async finished(): Promise<void> {
    while (this.#playing.size > 0) await Promise.all(this.#playing);
  }

  async #run(turn: TakenTurn): Promise<void> {
    let isLeaving = false;
    const mayGoOn = (): boolean => {
      if (!isLeaving && this.#playing.size - this.#leaving > this.#atOnce) {
        isLeaving = true;
        this.#leaving++;
      }
      return !isLeaving;
    };
    try {
      const result = await this.#played(turn, mayGoOn);
      if (result !== null) await this.#turns.end(turn, result);
    } catch (error) {
      // A turn whose end the server did not note is taken again once its lease is over.
      if (isAway(error)) return;
      this.fault = error as Error;
      this.#options.over();
    } finally {
      if (isLeaving) this.#leaving--;
    }
  }

  /** `null`: the turn has failed, and the failure is noted. */
  async #played(turn: TakenTurn, mayGoOn: () => boolean): Promise<TurnResult | null> {
    const { ended, over, refusals } = this.#options;
    try {
      const result = await this.#play(turn.partition, ended, mayGoOn);
      refusals.end();
      return result;
    } catch (error) {
      if (error instanceof StoreRefusal) return { laterMs: refusals.add(error), fault: faultText(error) };
      if (isOwnFault(error)) {
        this.fault = error;
        over();
        return { laterMs: 0 };
      }
      const code = error instanceof CrawlError ? error.code : 'internal';
      if (LATER.has(code)) return { laterMs: LATER_MS };
      const reason = `${code}: ${(error as Error).message}`;
      this.#log.warn('a turn has failed', { partition: turn.partition, error: reason });
      await this.#turns.fail(turn, reason);
      return null;
    }
  }
}

async function untilQuiet(
  { turns, ...deps }: WorkOffDeps,
  shift: Shift,
  { ended: signal, refusals }: Pick<ShiftOptions, 'ended' | 'refusals'>,
): Promise<TurnsState> {
  let isQuiet = false;
  let state: TurnsState = { open: 0, nextMs: null, workers: 1, failed: [] };
  while (!signal.aborted) {
    if (shift.isIdle) refusals.check();
    try {
      state = await turns.state();
      shift.limit(deps.atOnce(Math.max(1, state.workers)));
      if (state.nextMs === 0 && shift.places > 0 && (await shift.fill()) > 0) continue;
      const wasQuiet = isQuiet;
      isQuiet = state.open === 0 && shift.isIdle;
      if (isQuiet && wasQuiet) {
        // If there are no turns, either the crawl is done or the store has lost its data.
        await deps.requireCrawlDb();
        const failed = new Set(state.failed.map(({ partition }) => partition));
        if (!(await deps.wake(signal, failed))) return state;
        isQuiet = false;
        continue;
      }
    } catch (error) {
      // Wait for a server that does not answer or takes no writes.
      if (!isAway(error)) throw error;
      if (error instanceof StoreRefusal) refusals.add(error);
      isQuiet = false;
    }
    await shift.pause(isQuiet ? QUIET_MS : pauseOf(state, shift));
  }
  return state;
}

/** A turn that others took in the meantime is looked for again after a moment. */
const pauseOf = ({ nextMs }: TurnsState, { places }: Shift): number =>
  places === 0 || nextMs === null ? LOOK_MS : Math.min(LOOK_MS, Math.max(SOON_MS, nextMs));

/** A worker that does not stay ends with what has failed; the next one that starts tries that anew. */
function refuseFailed({ failed }: TurnsState): void {
  const [first] = failed;
  if (first === undefined) return;
  const known = failed.map(({ partition, reason }) => ({ partition, parts: /^([a-z-]+): (.*)$/s.exec(reason) }));
  const cause = known.find(({ parts }) => parts !== null && Object.hasOwn(ERRORS, parts[1] as string));
  if (cause?.parts) throw new CrawlError(cause.parts[1] as ErrorCode, `${named(cause.partition)}: ${cause.parts[2]}`);
  throw new CrawlError('internal', `${named(first.partition)}: ${first.reason}`);
}

const named = (partition: number): string => `partition ${String(partition).padStart(3, '0')}`;

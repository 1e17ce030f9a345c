import { CrawlError, ERRORS, type ErrorCode } from '../../core/domain/errors.ts';
import type { SeedSource } from '../../core/steps/inject.ts';
import { type CrawlSummary, type RoundSummary, totalsOf } from '../../core/steps/round-summary.ts';
import type { CrawlProgress } from '../../core/steps/summaries.ts';
import { isAway } from '../ports/shared-store.ts';
import type { TakenTurn, TurnResult, Turns, TurnsState } from '../ports/turns.ts';

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
  /** Waits where nothing is due, until the signal comes. Default: false. */
  readonly stays?: boolean;
}

export interface WorkSummary extends CrawlSummary {
  /** Turns of partitions that this worker played. */
  readonly turns: number;
  /** Rounds that it ended, of which `rounds` has the last ones. */
  readonly roundsDone: number;
}

export interface WorkOffDeps {
  readonly turns: Turns;
  /** Turns that are played at a time by one of so many workers. */
  readonly atOnce: (workers: number) => number;
  /** Rejects when the crawl db no longer belongs to the state directory. */
  requireCrawlDb(): Promise<void>;
  /** Asks for the turns that are needed where none is left; false: the crawl is done. */
  wake(signal: AbortSignal): Promise<boolean>;
}

/** @param mayGoOn whether the turn may begin one more round: false when another worker waits for its place */
type Play = (partition: number, signal: AbortSignal, mayGoOn: () => boolean) => Promise<TurnResult>;

/** Longest pause between two looks at the turns, ms. */
const LOOK_MS = 1_000;
/** Pause before the second look that must find no turn, ms. */
const QUIET_MS = 250;
const SOON_MS = 20;
/** Faults of one worker, its configuration and its machine: it ends, and others take its turns. */
const OWN_FAULTS: ReadonlySet<string> = new Set<ErrorCode>([
  ...(['contact-missing', 'package-missing', 'plugin-broken'] as const),
  ...(['disk-full', 'db-readonly', 'system-limit'] as const),
]);
/** The same as errors of system calls. */
const OWN_SYSTEM_FAULTS: ReadonlySet<string> = new Set([
  ...['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'ENOMEM'],
]);

/** Whether an error is of this worker alone: others may do better. */
export function isOwnFault(error: unknown): error is Error {
  if (error instanceof CrawlError) return OWN_FAULTS.has(error.code);
  return error instanceof Error && OWN_SYSTEM_FAULTS.has(String((error as NodeJS.ErrnoException).code));
}

/** `disk-full: ..`; of a failed system call, its code and what happened. */
export const faultText = (error: Error): string =>
  error instanceof CrawlError ? `${error.code}: ${error.message}` : error.message;

/**
 * Plays turns until none is left and none is needed, or the signal comes. Resolves with the rounds played; rejects with
 * the error of a turn that has failed for good.
 */
export async function workOff(
  deps: WorkOffDeps,
  { signal, onRound }: Pick<WorkOptions, 'signal' | 'onRound'>,
  playing: (onRound: (round: RoundSummary) => void) => Play,
): Promise<Omit<WorkSummary, 'turns'>> {
  const played = new PlayedRounds();
  const play = playing((round) => {
    played.add(round);
    onRound?.(round);
  });
  const over = new AbortController();
  const ended = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  const shift = new Shift(deps.turns, play, { ended, over: () => over.abort() });
  if ((await deps.turns.state()).open === 0) await deps.turns.forgetFailed();
  let state: TurnsState;
  try {
    state = await untilQuiet(deps, shift, ended);
  } finally {
    over.abort();
    await shift.finished();
  }
  if (shift.fault !== null) throw shift.fault;
  if (signal?.aborted !== true) refuseFailed(state);
  return { ...played.summary(), stoppedBy: signal?.aborted ? 'signal' : 'nothing-due' };
}

/** Rounds of which a summary tells each. */
const KEPT_ROUNDS = 1_000;

/** The rounds of a worker, which may stay for months. */
class PlayedRounds {
  #rounds: RoundSummary[] = [];
  #before: CrawlSummary['totals'] | null = null;
  #done = 0;

  add(round: RoundSummary): void {
    this.#done++;
    this.#rounds.push(round);
    if (this.#rounds.length < 2 * KEPT_ROUNDS) return;
    this.#before = this.#with(this.#rounds.slice(0, KEPT_ROUNDS));
    this.#rounds = this.#rounds.slice(KEPT_ROUNDS);
  }

  /** The last rounds, and the totals of all. */
  summary(): Pick<WorkSummary, 'roundsDone' | 'rounds' | 'totals'> {
    return { roundsDone: this.#done, rounds: this.#rounds, totals: this.#with(this.#rounds) };
  }

  #with(rounds: readonly RoundSummary[]): CrawlSummary['totals'] {
    return totalsOf(this.#before === null ? rounds : [this.#before, ...rounds]);
  }
}

interface ShiftOptions {
  readonly ended: AbortSignal;
  /** Ends the work of this worker. */
  readonly over: () => void;
}

/** The turns that this worker plays at the moment. */
class Shift {
  fault: Error | null = null;
  readonly #turns: Turns;
  readonly #play: Play;
  readonly #options: ShiftOptions;
  readonly #playing = new Set<Promise<void>>();
  /** Turns that it may play at a time, at the moment. */
  #atOnce = 1;
  /** Turns that end with their round, as there are more than that. */
  #leaving = 0;
  #onEnd: () => void = () => {};

  constructor(turns: Turns, play: Play, options: ShiftOptions) {
    this.#turns = turns;
    this.#play = play;
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#playing.size === 0;
  }

  /** Turns that it can play beside these. */
  get places(): number {
    return Math.max(0, this.#atOnce - this.#playing.size);
  }

  /** Where it plays more turns than that, some end with their round. */
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

  /** Resolves after so many ms, or as soon as a turn is wanted or one of this worker has ended. */
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
      // A turn whose end the server does not learn is taken again once its lease is over.
      if (isAway(error)) return;
      this.fault = error as Error;
      this.#options.over();
    } finally {
      if (isLeaving) this.#leaving--;
    }
  }

  /** `null`: the turn has failed, which is noted. */
  async #played(turn: TakenTurn, mayGoOn: () => boolean): Promise<TurnResult | null> {
    try {
      return await this.#play(turn.partition, this.#options.ended, mayGoOn);
    } catch (error) {
      if (isOwnFault(error)) {
        this.fault = error;
        this.#options.over();
        return { laterMs: 0 };
      }
      const code = error instanceof CrawlError ? error.code : 'internal';
      await this.#turns.fail(turn, `${code}: ${(error as Error).message}`);
      return null;
    }
  }
}

async function untilQuiet({ turns, ...deps }: WorkOffDeps, shift: Shift, signal: AbortSignal): Promise<TurnsState> {
  let isQuiet = false;
  let state: TurnsState = { open: 0, nextMs: null, workers: 1, failed: [] };
  while (!signal.aborted) {
    try {
      state = await turns.state();
      shift.limit(deps.atOnce(Math.max(1, state.workers)));
      if (state.nextMs === 0 && shift.places > 0 && (await shift.fill()) > 0) continue;
      const wasQuiet = isQuiet;
      isQuiet = state.open === 0 && shift.isIdle;
      if (isQuiet && wasQuiet) {
        // Without turns the crawl is done, or the store has lost its data.
        if (state.failed.length > 0) return state;
        await deps.requireCrawlDb();
        if (!(await deps.wake(signal))) return state;
        isQuiet = false;
        continue;
      }
    } catch (error) {
      // A server that does not answer is waited for.
      if (!isAway(error)) throw error;
      isQuiet = false;
    }
    await shift.pause(isQuiet ? QUIET_MS : pauseOf(state, shift));
  }
  return state;
}

/** A turn that others took in the meantime is looked for again after a moment. */
const pauseOf = ({ nextMs }: TurnsState, { places }: Shift): number =>
  places === 0 || nextMs === null ? LOOK_MS : Math.min(LOOK_MS, Math.max(SOON_MS, nextMs));

/** A turn that failed for good ends the crawl for all workers; the next worker that starts goes on with it. */
function refuseFailed({ failed }: TurnsState): void {
  const [first] = failed;
  if (first === undefined) return;
  const known = failed.map(({ partition, reason }) => ({ partition, parts: /^([a-z-]+): (.*)$/s.exec(reason) }));
  const cause = known.find(({ parts }) => parts !== null && Object.hasOwn(ERRORS, parts[1] as string));
  if (cause?.parts) throw new CrawlError(cause.parts[1] as ErrorCode, `${named(cause.partition)}: ${cause.parts[2]}`);
  throw new CrawlError('internal', `${named(first.partition)}: ${first.reason}`);
}

const named = (partition: number): string => `partition ${String(partition).padStart(3, '0')}`;

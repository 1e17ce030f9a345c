import { CrawlError } from '../../domain/errors.ts';
import { type Clock, elapsedOf } from '../../ports/clock.ts';
import type { HostLanes } from '../../ports/host-lanes.ts';
import type { SteeredLoop } from '../../steps/crawl.ts';

/** How the crawl that runs is steered. */
export interface Steering {
  /** No request begins. */
  readonly paused: boolean;
  /** The crawl ends after the round under way. */
  readonly stopping: boolean;
  /** Requests under way; of a paused crawl, those that still end. */
  readonly inFlight: number;
}

interface SteeringDeps {
  readonly clock: Clock;
  readonly lanes: Pick<HostLanes, 'hold' | 'release' | 'running'>;
}

/**
 * The state that commands change and the loop looks at. All of it is of one run: the next one begins unpaused. A pause
 * lives in the lanes of the hosts, before each turn, so it holds robots.txt and sitemaps, too.
 */
export class RunSteering implements SteeredLoop {
  /** The clock without the time in which the crawl was paused: limits of a round do not run out meanwhile. */
  readonly workingClock: Clock;
  readonly #deps: SteeringDeps;
  #isRunning = false;
  #stop = new AbortController();
  /** As {@link elapsedOf}; `null`: not paused. */
  #pausedSince: number | null = null;
  #pausedMs = 0;
  /** Aborted, and replaced, at each change that the loop has to look at. */
  #news = new AbortController();
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: SteeringDeps) {
    this.#deps = deps;
    const { clock } = deps;
    const elapsed = (): number => elapsedOf(clock) - this.#pausedSoFar();
    this.workingClock = {
      now: () => clock.now(),
      elapsed,
      sleep: async (ms, signal) => {
        const until = elapsed() + ms;
        do {
          while (this.#pausedSince !== null && !signal?.aborted) await this.#change(signal);
          await clock.sleep(until - elapsed(), signal);
        } while (this.#pausedSince !== null || elapsed() < until);
      },
    };
  }

  /** `null`: no crawl runs. */
  get state(): Steering | null {
    if (!this.#isRunning) return null;
    return { paused: this.#pausedSince !== null, stopping: this.isStopping(), inFlight: this.#deps.lanes.running };
  }

  /** Runs a crawl that can be steered meanwhile. Resolves when no command works on the crawl db any more. */
  async during<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#isRunning = true;
    this.#stop = new AbortController();
    try {
      return await work();
    } finally {
      this.#isRunning = false;
      this.#release();
      await this.#last;
    }
  }

  /** Throws `run-missing` where no crawl runs. */
  required(): Steering {
    const { state } = this;
    if (state !== null) return state;
    throw nothingToSteer();
  }

  pause(): Steering {
    this.required();
    this.#pausedSince ??= elapsedOf(this.#deps.clock);
    this.#deps.lanes.hold();
    return this.required();
  }

  resume(): Steering {
    this.required();
    this.#release();
    return this.required();
  }

  stopAfterRound(): Steering {
    this.required();
    this.#stop.abort();
    this.announce();
    return this.required();
  }

  /** There may be more to fetch than the loop knows of: it looks again, where it waits. */
  announce(): void {
    const before = this.#news;
    this.#news = new AbortController();
    before.abort();
  }

  /**
   * Work that reads records and writes them back, one after the other: of the loop and of commands. What is between
   * them, such as fetching, holds no command up.
   */
  exclusively<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  isStopping(): boolean {
    return this.#stop.signal.aborted;
  }

  async whilePaused(signal?: AbortSignal): Promise<void> {
    while (this.#pausedSince !== null && !this.isStopping() && !signal?.aborted) await this.#change(signal);
  }

  /** Aborts with the signal, or when the loop is to end. */
  untilStop(signal: AbortSignal | undefined): AbortSignal {
    return eitherOf(signal, this.#stop.signal);
  }

  /** Aborts with the signal, or when the loop has reason to look again. */
  untilChange(signal: AbortSignal | undefined): AbortSignal {
    return eitherOf(signal, this.#news.signal);
  }

  #change(signal: AbortSignal | undefined): Promise<void> {
    const change = this.untilChange(signal);
    if (change.aborted) return Promise.resolve();
    return new Promise((resolve) => change.addEventListener('abort', () => resolve(), { once: true }));
  }

  #pausedSoFar(): number {
    const now = this.#pausedSince === null ? 0 : elapsedOf(this.#deps.clock) - this.#pausedSince;
    return this.#pausedMs + now;
  }

  #release(): void {
    this.#pausedMs = this.#pausedSoFar();
    this.#pausedSince = null;
    this.#deps.lanes.release();
    this.announce();
  }
}

const eitherOf = (signal: AbortSignal | undefined, other: AbortSignal): AbortSignal =>
  signal === undefined ? other : AbortSignal.any([signal, other]);

/** Of a process that has the crawl db and does other work. */
export const nothingToSteer = (): CrawlError =>
  new CrawlError('run-missing', 'the process that has the crawl db does not crawl: there is nothing to steer');

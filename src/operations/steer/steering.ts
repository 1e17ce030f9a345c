// operations/steer/: what an operator may ask of a crawl while it runs.

import { parseSeedLine } from '../../core/domain/crawl/discovery/seed.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { canonicalUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import { typedHost } from '../../core/domain/url/canonical/host-pattern.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import { type Clock, elapsedOf } from '../../core/ports/clock.ts';
import type { HostLanes, LengthenedDelay } from '../../core/ports/host-lanes.ts';
import type { TouchSummary } from '../../core/steps/bring-forward.ts';
import type { SteeredLoop } from '../../core/steps/crawl.ts';
import type { SeedSource } from '../../core/steps/inject.ts';
import type { InjectSummary } from '../../core/steps/summaries.ts';
import type { CrawlDeps } from '../deps.ts';
import type { RevisitOperations } from '../loop/revisit-operations.ts';
import type { StepOperations } from '../loop/step-operations.ts';
import { requireContact } from '../loop/step-settings.ts';

/** The state of steering of a running crawl. */
export interface Steering {
  /** No request begins. */
  readonly paused: boolean;
  /** The crawl ends after the round under way. */
  readonly stopping: boolean;
  /** Requests under way; if the crawl is paused, those that have not ended yet. */
  readonly inFlight: number;
}

interface SteeringDeps {
  readonly clock: Clock;
  readonly lanes: Pick<HostLanes, 'hold' | 'release' | 'running'>;
}

/**
 * The state that commands change and the loop checks. All of it belongs to one run: the next run begins unpaused. A
 * pause takes effect in the lanes of the hosts, before each turn, so it also holds up robots.txt and sitemaps.
 */
export class RunSteering implements SteeredLoop {
  /** The clock without the time in which the crawl was paused: limits of a round do not expire meanwhile. */
  readonly workingClock: Clock;
  readonly #deps: SteeringDeps;
  #isRunning = false;
  #stop = new AbortController();
  /** As {@link elapsedOf}; `null`: not paused. */
  #pausedSince: number | null = null;
  #pausedMs = 0;
  /** Aborted, and replaced, at each change that the loop has to notice. */
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

  /** Runs a crawl that can be steered meanwhile. Resolves once no command works on the crawl db any more. */
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

  /** Throws `run-missing` if no crawl runs. */
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

  /** There may be more to fetch than the loop knows: if it waits, it checks again. */
  announce(): void {
    const before = this.#news;
    this.#news = new AbortController();
    before.abort();
  }

  /**
   * Runs work of the loop or of commands that reads records and writes them back, one task after the other. What
   * happens between such tasks, such as fetching, does not delay commands.
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

  /** Aborts with the signal, or when the loop has reason to check again. */
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

/** The error of a process that has the crawl db but does other work. */
export const nothingToSteer = (): CrawlError =>
  new CrawlError('run-missing', 'the process that has the crawl db does not crawl: there is nothing to steer');

/** A crawl that takes commands. */
export type SteeredCrawler = SteerOperations & Pick<StepOperations, 'inject'> & Pick<RevisitOperations, 'touch'>;

/**
 * All commands that other processes of the same user can send to a crawling process (`src/remote/questions`). Arguments
 * and answers are plain data. Arguments come from outside and are checked here; invalid ones reject with
 * `usage-invalid`.
 */
export const COMMANDS = {
  pause: (crawler: SteeredCrawler): Promise<Steering> => crawler.pause(),
  resume: (crawler: SteeredCrawler): Promise<Steering> => crawler.resume(),
  stop: (crawler: SteeredCrawler): Promise<Steering> => crawler.stopAfterRound(),
  /** Takes URLs. */
  touch: async (crawler: SteeredCrawler, urls: unknown): Promise<TouchSummary> => {
    requireCrawl(crawler);
    return crawler.touch(textsOf(urls, 'URLs'));
  },
  /** Takes seed lines, and their source for messages. */
  inject: async (crawler: SteeredCrawler, lines: unknown, source: unknown): Promise<InjectSummary> => {
    requireCrawl(crawler);
    return crawler.inject([{ name: typeof source === 'string' ? source : 'seeds', lines: textsOf(lines, 'lines') }]);
  },
  /** Takes a host and a delay in ms. */
  delay: async (crawler: SteeredCrawler, host: unknown, delayMs: unknown): Promise<LengthenedDelay> => {
    const name = typeof host === 'string' ? typedHost(host) : null;
    if (name === null) throw new CrawlError('usage-invalid', 'expected a host such as www.example.org');
    if (typeof delayMs !== 'number' || !(delayMs >= 0 && Number.isFinite(delayMs))) {
      throw new CrawlError('usage-invalid', 'expected a delay of at least 0 ms');
    }
    return crawler.lengthenDelay(name, delayMs);
  },
};

export type CommandName = keyof typeof COMMANDS;

/** The answer to a command. */
export type CommandAnswer<Name extends CommandName> = Awaited<ReturnType<(typeof COMMANDS)[Name]>>;

/** Other work on the crawl db, such as an import, must not be interrupted by writes of others. */
function requireCrawl(crawler: SteeredCrawler): void {
  if (crawler.steering() === null) throw nothingToSteer();
}

function textsOf(value: unknown, what: string): string[] {
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  throw new CrawlError('usage-invalid', `expected a list of ${what}`);
}

/**
 * Steering of the crawl that `crawl` is running. If none runs, everything except `steering` rejects with `run-missing`.
 * Repeating a command has no further effect. `touch` and `inject` may also be called meanwhile: they take turns with
 * the steps that write records, and their pages are in the next round.
 */
export interface SteerOperations {
  /** `null`: no crawl runs. */
  steering(): Steering | null;
  /** No request begins until `resume`; those under way complete. Time limits of a round do not run meanwhile. */
  pause(): Promise<Steering>;
  resume(): Promise<Steering>;
  /** The crawl ends after the round under way, with `stoppedBy: 'asked'`. A paused round waits to be resumed. */
  stopAfterRound(): Promise<Steering>;
  /**
   * Sets the delay between requests to a host, ms, for the rest of the run; 0: as configured. It is never shorter than
   * robots.txt and the configuration demand: the answer has the delay in force.
   */
  lengthenDelay(host: string, delayMs: number): Promise<LengthenedDelay>;
}

type Steered = Pick<StepOperations, 'inject'> & Pick<RevisitOperations, 'touch' | 'touchMatching'>;

/** @param unsteered `touch` and `inject` for when no crawl runs */
export function steerOperations(
  { config, runtime, web }: Pick<CrawlDeps, 'config' | 'runtime' | 'web'>,
  steering: RunSteering,
  unsteered: Steered,
): SteerOperations & Steered {
  const { log } = runtime;
  const inTurn = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    const done = await steering.exclusively(work);
    steering.announce();
    return done;
  };
  return {
    steering: () => steering.state,
    async pause() {
      const state = steering.pause();
      log.info('paused: no request begins until the crawl is resumed', { inFlight: state.inFlight });
      return state;
    },
    async resume() {
      const state = steering.resume();
      log.info('resumed');
      return state;
    },
    async stopAfterRound() {
      const state = steering.stopAfterRound();
      log.info('the crawl is to end after this round');
      return state;
    },
    async lengthenDelay(host, delayMs) {
      steering.required();
      const delay = web.lanes.lengthenDelay(host, delayMs);
      log.info('the delay of a host was set', { host, asked: delayMs, ...delay });
      return delay;
    },
    touch: (urls, options) => inTurn(() => unsteered.touch(urls, options)),
    touchMatching: (query, options) => inTurn(() => unsteered.touchMatching(query, options)),
    inject(sources, options) {
      if (steering.state === null) return unsteered.inject(sources, options);
      // The rounds of this crawl would fail because of it.
      const isOwn = (host: string): boolean => web.isOwnHost(host);
      const known = sources.map((source) => ({ ...source, lines: knownHosts(source, config.agent.contact, isOwn) }));
      return inTurn(() => unsteered.inject(known, options));
    },
  };
}

/** The lines of a source. Throws `contact-missing` at the first one whose host needs a contact if none is set. */
async function* knownHosts(
  { lines }: SeedSource,
  contact: string,
  isOwn: (host: string) => boolean,
): AsyncGenerator<string> {
  for await (const text of lines) {
    const seed = parseSeedLine(text);
    const canonical = seed === null || 'error' in seed ? null : canonicalUrl(seed.url);
    if (canonical !== null && 'url' in canonical) requireContact(contact, [hostOf(canonical.url)], isOwn);
    yield text;
  }
}

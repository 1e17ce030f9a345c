import { TurnTooLate } from '../../domain/crawl/revisit/next-visit.ts';
import type { FetchDenied, FetchFailed, FetchOutcome } from '../../domain/crawl/states/outcome.ts';
import { CrawlError, ERRORS, type ErrorCode, isUnreached, type UnreachedCode } from '../../domain/errors.ts';
import { elapsedOf } from '../../ports/clock.ts';
import type { FetchProtocol } from '../../ports/fetch-protocol.ts';
import type { HostLanes, LaneTurn } from '../../ports/host-lanes.ts';
import type { Log } from '../../ports/log.ts';
import type { Robots } from '../../ports/robots.ts';
import type { FetchedRecord, FetchItem, Segment } from '../../ports/segment-store.ts';
import { countOutcome, noOutcomes } from '../counters/outcome-counts.ts';
import { HostsInRound } from '../facts/host-rest.ts';
import type { RenderOptions } from '../render/rendering.ts';
import { visitRendered } from '../render/visit-rendered.ts';
import type { FetchSummary } from '../summaries.ts';
import type { FollowRedirects } from './follow-redirects.ts';
import {
  endWhenTooSlow,
  type FailureLimits,
  HostFailures,
  HostHold,
  type HostWaits,
  MissingSample,
  reachByRobots,
  reachOf,
  type ThroughputFloor,
} from './host-hold.ts';
import { denialBy, pauseByRobots, type RobotsDeps, verdictInTurn } from './robots-turn.ts';
import { pauseAfter, type VisitCosts, type VisitDeps, type VisitResult } from './visit-result.ts';

type Uncosted<Outcome> = Omit<Outcome, keyof VisitCosts>;

/** The URL must not be requested at this time, ms since the epoch. */
function denied(at: number, code: ErrorCode, message: string, retryAt: number | null = null): VisitResult {
  return notRequested(at, { kind: 'denied', code, message, retryAt });
}

/** The host asked to be left alone until a time, ms since the epoch. */
function resting(at: number, until: number): VisitResult {
  return denied(at, 'http-throttled', 'the host asked for a pause', until);
}

/** Says that a host asked to be left alone until a time, ms since the epoch. */
function warnOfRest(log: Log, host: string, until: number): void {
  const reported = { host, code: 'http-throttled', until: new Date(until).toISOString() };
  log.warn('no requests to this host until the time that it names', reported);
}

/** robots.txt could not be requested, so the page could not either. */
function unreached(at: number, code: UnreachedCode, message: string): VisitResult {
  return notRequested(at, { kind: 'failed', code, message, status: null, retryAt: null });
}

function notRequested(at: number, outcome: Uncosted<FetchDenied> | Uncosted<FetchFailed>): VisitResult {
  const costs = { at, requests: 0, bodyBytes: 0, receivedBytes: 0, ms: 0 };
  return { outcome: { ...outcome, ...costs }, response: null, body: null, headers: {}, observation: null };
}

/** Redirects whose targets are looked up together, at most. */
const AT_ONCE = 500;

/** Redirects met whose targets are to be looked up. While one look-up goes on, the next redirects gather. */
class RedirectQueue {
  readonly #follow: FollowRedirects | undefined;
  readonly #start: (target: FetchItem) => void;
  readonly #stop: AbortSignal;
  readonly #waiting: FetchedRecord[] = [];
  #isAtWork = false;
  /** Targets started. */
  followed = 0;

  /** @param stop aborted when no target may start any more */
  constructor(follow: FollowRedirects | undefined, start: (target: FetchItem) => void, stop: AbortSignal) {
    this.#follow = follow;
    this.#start = start;
    this.#stop = stop;
  }

  /** Records other than redirects are passed over. */
  add(record: FetchedRecord): void {
    if (record.outcome.kind === 'redirect' && this.#follow !== undefined) this.#waiting.push(record);
  }

  /** Starts the targets that may be fetched; `null`: none is to be looked up, or that goes on already. */
  work(): Promise<void> | null {
    const follow = this.#follow;
    if (follow === undefined || this.#isAtWork || this.#waiting.length === 0) return null;
    this.#isAtWork = true;
    return this.#startAll(follow);
  }

  async #startAll(follow: FollowRedirects): Promise<void> {
    try {
      while (this.#waiting.length > 0 && !this.#stop.aborted) {
        const targets = await follow(this.#waiting.splice(0, AT_ONCE));
        this.followed += targets.length;
        for (const target of targets) this.#start(target);
      }
    } finally {
      // In the same turn of the event loop as the look at the queue: what is added from now on begins anew.
      this.#isAtWork = false;
    }
  }
}

export interface FetchOptions extends RenderOptions, FailureLimits, HostWaits {
  /** URLs of the list held in memory at a time. */
  readonly window: number;
  /** Least time between the end of a request and the start of the next one to the same host, ms. */
  readonly delayMs: number;
  /** Wall time for the whole step, ms; 0: no limit. URLs that are left stay due. */
  readonly timeLimitMs: number;
  /** Ends the step as the time limit does; absent: no speed is too low. */
  readonly throughput?: ThroughputFloor | undefined;
  /** The longest Retry-After that is waited for; a host that asks for more gets no more requests in this step, ms. */
  readonly patienceMs: number;
  /** Pauses between requests for the dead links of a host, ms. */
  readonly missingIntervalsMs: readonly number[];
  /** Absent: targets of redirects are left to a later round. */
  readonly follow?: FollowRedirects | undefined;
  /** Until when hosts have asked to be left alone since the list was made, ms since the epoch. */
  readonly rests?: ReadonlyMap<string, number> | undefined;
  /** Called when a host asks to be left alone: else the crawl db learns it only when the segment is applied. */
  readonly onRest?: ((host: string, until: number) => Promise<unknown>) | undefined;
}

export interface FetchDeps extends VisitDeps {
  readonly log: Log;
  readonly lanes: HostLanes;
  readonly robots: Robots;
  /** By scheme, without the colon. */
  readonly protocols: ReadonlyMap<string, FetchProtocol>;
  /** Gets each page with a body to parse; awaited, so that parsing holds fetching back. */
  readonly onPage?: (item: FetchItem, page: VisitResult) => Promise<void>;
  readonly onOutcome?: (outcome: FetchOutcome, bytesSaved: number) => void;
}

/**
 * Fetches the URLs of a segment that are not fetched yet, and the targets of their redirects that join its list. The
 * list is read in windows, so memory does not grow with it. A stop signal, the time limit, the throughput floor or
 * hosts that are slower than others end the step after the pages in flight; the other URLs stay in the list.
 */
export async function fetchSegment(
  deps: FetchDeps,
  segment: Segment,
  options: FetchOptions,
  signal?: AbortSignal,
): Promise<FetchSummary> {
  return new FetchRun(deps, segment, options).run(signal);
}

class FetchRun {
  private readonly counts = noOutcomes();
  private readonly hosts: HostsInRound;
  private readonly failures: HostFailures;
  private readonly missing: MissingSample;
  private readonly redirects: RedirectQueue;
  /** Aborted when no further visit may start; visits in flight go on. */
  private readonly noMore = new AbortController();
  /** Ms since the epoch. */
  private readonly deadline: number;
  private readonly hold: HostHold;
  private readonly robotsDeps: RobotsDeps;
  /** Last requests to hosts before this run. */
  private readonly requestedBefore = new Map<string, number>();
  private fault: unknown = null;
  private active = 0;
  private requested = 0;
  private wake: (() => void) | null = null;
  private readonly deps: FetchDeps;
  private readonly segment: Segment;
  private readonly options: FetchOptions;

  constructor(deps: FetchDeps, segment: Segment, options: FetchOptions) {
    this.deps = deps;
    this.segment = segment;
    this.options = options;
    this.hosts = new HostsInRound(() => segment.info.hosts);
    this.missing = new MissingSample((host) => segment.info.hosts[host]?.missing ?? null, options.missingIntervalsMs);
    const { signal } = this.noMore;
    this.deadline = options.timeLimitMs > 0 ? elapsedOf(deps.clock) + options.timeLimitMs : Number.POSITIVE_INFINITY;
    const waits = { ...options, endsAt: this.deadline };
    this.hold = new HostHold({ ...deps, stop: this.stop }, waits);
    this.robotsDeps = { ...deps, lastRequestAt: (host) => this.requestedBefore.get(host) ?? 0 };
    this.redirects = new RedirectQueue(options.follow, (target) => this.start(target), signal);
    this.failures = new HostFailures(deps.log, options, (error) => this.giveUp(error));
  }

  async run(signal: AbortSignal | undefined): Promise<FetchSummary> {
    const { deps, segment, options, stop, deadline } = this;
    const over = new AbortController();
    const robotsBefore = deps.robots.stats();
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    if (options.throughput !== undefined)
      void endWhenTooSlow({ ...deps, pages: () => this.requested, stop }, options.throughput, over.signal);
    try {
      await this.recall();
      const listed = segment.info.urls;
      this.followOn();
      for await (const item of segment.fetchList()) {
        // What joins the list meanwhile has been started.
        if (item.index >= listed) break;
        if (segment.hasFetched(item.index)) continue;
        while (this.active >= options.window && !this.noMore.signal.aborted) await this.oneIsDone();
        if (elapsedOf(deps.clock) >= deadline) stop();
        if (this.noMore.signal.aborted) break;
        this.start(item);
      }
      while (this.active > 0) {
        if (elapsedOf(deps.clock) >= deadline) stop();
        await this.oneIsDone();
      }
    } finally {
      over.abort();
      signal?.removeEventListener('abort', stop);
    }
    if (this.fault !== null) throw this.fault;
    if (this.hold.late.size > 0) await segment.noteTurns(Object.fromEntries(this.hold.late));
    const left = segment.info.urls - segment.fetchedCount;
    const robots = deps.robots.stats();
    return {
      segment: segment.info.id,
      ...this.counts,
      followed: this.redirects.followed,
      requests: this.counts.requests + robots.requests - robotsBefore.requests,
      bytesReceived: this.counts.bytesReceived + robots.receivedBytes - robotsBefore.receivedBytes,
      left,
    };
  }

  /**
   * What an interrupted run has met and only the segment has until updatedb applies it: observations, such as a
   * Retry-After, redirects, and the requests that a delay counts from.
   */
  private async recall(): Promise<void> {
    for (const [host, at] of Object.entries(this.segment.info.turns ?? {})) this.deps.lanes.pauseUntil(host, at);
    for (const [host, restUntil] of this.options.rests ?? []) this.hosts.leaveAlone(host, restUntil);
    if (this.segment.fetchedCount === 0) return;
    for await (const record of this.segment.fetched()) {
      const { host, observation, outcome } = record;
      if (outcome.requests > 0)
        this.requestedBefore.set(host, Math.max(this.requestedBefore.get(host) ?? 0, outcome.at));
      if (observation !== null) this.hosts.add(host, observation);
      this.redirects.add(record);
    }
  }

  private oneIsDone(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  private readonly stop = (): void => this.noMore.abort(new CrawlError('fetch-aborted', 'stopped'));

  private start(item: FetchItem): void {
    const { host } = item;
    this.active++;
    this.hold.begin(host);
    this.deps.lanes
      .run(host, (turn) => this.visitItem(item, turn), this.noMore.signal, this.hold.latest)
      .catch((error: unknown) => {
        if (error === this.noMore.signal.reason && this.noMore.signal.aborted) return;
        if (error instanceof TurnTooLate) this.hold.leave(host, error.at);
        else this.giveUp(error);
      })
      .finally(() => {
        this.hold.end(host);
        this.oneEnds();
      });
  }

  private oneEnds(): void {
    this.active--;
    const wake = this.wake;
    this.wake = null;
    wake?.();
  }

  private giveUp(error: unknown): void {
    this.fault ??= error;
    this.noMore.abort(this.fault);
  }

  private followOn(): void {
    const work = this.redirects.work();
    if (work === null) return;
    this.active++;
    work.catch((error: unknown) => this.giveUp(error)).finally(() => this.oneEnds());
  }

  private async visitItem(item: FetchItem, turn: LaneTurn): Promise<void> {
    const refusal = await this.refusal(item, turn);
    if (refusal !== null) return this.store(item, refusal);
    const protocol = this.deps.protocols.get(item.url.slice(0, item.url.indexOf(':')));
    if (protocol === undefined) {
      turn.spare();
      return this.store(item, denied(this.deps.clock.now(), 'scheme-unsupported', ERRORS['scheme-unsupported'].text));
    }
    const known = {
      host: this.hosts.of(item.host),
      dated: this.hosts.datedOf(item.host),
      nextTurn: () => turn.next(),
    };
    const visited = await visitRendered(this.deps, this.options, { protocol, item, ...known });
    const restUntil = this.judgeHost(item.host, visited);
    if (restUntil !== null) await this.noteRest(item.host, restUntil);
    const observation = { ...visited.observation, ...(restUntil !== null && { restUntil }) };
    const shown = { ...observation, ...this.missing.count(item, visited.outcome) };
    const result = Object.keys(shown).length === 0 ? visited : { ...visited, observation: shown };
    if (result.observation !== null) this.hosts.observe(item, result.observation);
    await this.store(item, result);
  }

  /** The result for a URL that must not be requested; `null`: it may be. */
  private async refusal(item: FetchItem, turn: LaneTurn): Promise<VisitResult | null> {
    const [{ host }, { clock }] = [item, this.deps];
    const refused = this.refusalOfHost(host, turn) ?? this.leftOut(item, turn);
    if (refused !== null) return refused;
    const { verdict, isFetched } = await verdictInTurn(this.robotsDeps, item, this.options.delayMs, turn);
    const pausedUntil = pauseByRobots(verdict, clock);
    if (pausedUntil !== null) {
      const observation = { restUntil: pausedUntil };
      await this.noteRest(host, pausedUntil);
      this.hosts.observe(item, observation);
      return { ...resting(clock.now(), pausedUntil), observation };
    }
    // On another connection the host may have asked for a pause while this visit waited for its turn.
    if (verdict.allowed) return this.refusalOfHost(host, turn);
    // No page of a host is requested without its robots.txt, so a network that is down may show only here.
    const { code, message } = denialBy(verdict);
    if (isFetched) this.failures.count(host, reachByRobots(verdict), !this.failures.hasFailed(host));
    const now = clock.now();
    return isUnreached(code) ? unreached(now, code, message) : denied(now, code, message);
  }

  private leftOut(item: FetchItem, turn: LaneTurn): VisitResult | null {
    const now = this.deps.clock.now();
    const left = this.missing.leftOut(item, now);
    if (left === null) return null;
    turn.spare();
    return denied(now, 'missing-unasked', left.reason, left.until);
  }

  private refusalOfHost(host: string, turn: LaneTurn): VisitResult | null {
    const restUntil = this.hosts.of(host).restUntil ?? 0;
    const now = this.deps.clock.now();
    const failing = this.failures.reason(host);
    if (restUntil <= now && failing === undefined) return null;
    turn.spare();
    return restUntil > now ? resting(now, restUntil) : denied(now, 'host-failing', failing ?? '');
  }

  /**
   * Pauses the lane of a host that asks for a pause; the end of one that is too long to wait for is returned, ms since
   * the epoch.
   */
  private judgeHost(host: string, { outcome, headers }: VisitResult): number | null {
    this.failures.count(host, reachOf(outcome));
    const until = pauseAfter(outcome, headers, this.options.patienceMs);
    if (until === null) return null;
    if (until - outcome.at > this.options.patienceMs) return until;
    this.deps.lanes.pauseUntil(host, until);
    return null;
  }

  private async noteRest(host: string, until: number): Promise<void> {
    warnOfRest(this.deps.log, host, until);
    await this.options.onRest?.(host, until);
  }

  private async store(item: FetchItem, result: VisitResult): Promise<void> {
    const { outcome } = result;
    const record = await this.segment.addFetched(
      { index: item.index, url: item.url, host: item.host, outcome, observation: result.observation },
      result.response,
    );
    if (outcome.requests > 0) this.requested++;
    countOutcome(this.counts, item.url, outcome);
    this.deps.onOutcome?.(outcome, result.observation?.bytesSaved ?? 0);
    this.redirects.add(record);
    this.followOn();
    if (outcome.kind === 'success' && result.body !== null) await this.deps.onPage?.(item, result);
  }
}

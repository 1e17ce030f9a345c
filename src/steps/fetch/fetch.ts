import type { ConditionRecord } from '../../domain/crawl/headers/ladder.ts';
import type { FetchDenied, FetchFailed, FetchOutcome } from '../../domain/crawl/states/outcome.ts';
import { CrawlError, ERRORS, type ErrorCode, isUnreached, type UnreachedCode } from '../../domain/errors.ts';
import { type HostFacts, NO_HOST_FACTS } from '../../ports/crawl-db.ts';
import type { FetchProtocol } from '../../ports/fetch-protocol.ts';
import type { HostLanes, LaneTurn } from '../../ports/host-lanes.ts';
import type { Log } from '../../ports/log.ts';
import type { Robots } from '../../ports/robots.ts';
import type { FetchItem, HostObservation, Segment } from '../../ports/segment-store.ts';
import { countOutcome, noOutcomes } from '../counters/outcome-counts.ts';
import { addObservation } from '../facts/host-observations.ts';
import type { FetchSummary } from '../summaries.ts';
import type { FollowRedirects } from './follow-redirects.ts';
import { type FailureLimits, HostFailures } from './host-failures.ts';
import { reachByRobots, reachOf } from './host-reach.ts';
import { RedirectQueue } from './redirect-queue.ts';
import { denialBy, restAsked, verdictInTurn } from './robots-turn.ts';
import type { VisitCosts } from './status-outcome.ts';
import { endWhenTooSlow, type ThroughputFloor } from './throughput-floor.ts';
import { visit } from './visit.ts';
import type { VisitDeps, VisitOptions, VisitResult } from './visit-result.ts';

export interface FetchOptions extends VisitOptions, FailureLimits {
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
  /** Absent: targets of redirects are left to a later round. */
  readonly follow?: FollowRedirects | undefined;
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

type Uncosted<Outcome> = Omit<Outcome, keyof VisitCosts>;

/**
 * Fetches the URLs of a segment that are not fetched yet, and the targets of their redirects that join its list. The
 * list is read in windows, so memory does not grow with it. A stop signal, the time limit or the
 * throughput floor ends the step after the pages in flight; the other URLs stay in the list and can be fetched later.
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
  private readonly facts = new Map<string, HostFacts>();
  /** Answers of this run to conditional requests for pages without an entity tag, by host. */
  private readonly dated = new Map<string, ConditionRecord>();
  private readonly failures: HostFailures;
  private readonly redirects: RedirectQueue;
  /** Aborted when no further visit may start; visits in flight go on. */
  private readonly noMore = new AbortController();
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
    const { signal } = this.noMore;
    this.redirects = new RedirectQueue(options.follow, (target) => this.start(target), signal);
    this.failures = new HostFailures(deps.log, options, (error) => this.giveUp(error));
  }

  async run(signal: AbortSignal | undefined): Promise<FetchSummary> {
    const { deps, segment, options } = this;
    const robotsBefore = deps.robots.stats();
    const stop = (): void => this.noMore.abort(new CrawlError('fetch-aborted', 'stopped'));
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
    const deadline = options.timeLimitMs > 0 ? deps.clock.now() + options.timeLimitMs : Number.POSITIVE_INFINITY;
    const over = new AbortController();
    const pages = (): number => this.requested;
    if (options.throughput !== undefined)
      void endWhenTooSlow({ ...deps, pages, stop }, options.throughput, over.signal);
    try {
      await this.recall();
      const listed = segment.info.urls;
      this.followOn();
      for await (const item of segment.fetchList()) {
        // What joins the list meanwhile has been started.
        if (item.index >= listed) break;
        if (segment.hasFetched(item.index)) continue;
        while (this.active >= options.window && !this.noMore.signal.aborted) await this.oneIsDone();
        if (deps.clock.now() >= deadline) stop();
        if (this.noMore.signal.aborted) break;
        this.start(item);
      }
      while (this.active > 0) {
        if (deps.clock.now() >= deadline) stop();
        await this.oneIsDone();
      }
    } finally {
      over.abort();
      signal?.removeEventListener('abort', stop);
    }
    if (this.fault !== null) throw this.fault;
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
   * Retry-After, and redirects.
   */
  private async recall(): Promise<void> {
    if (this.segment.fetchedCount === 0) return;
    for await (const record of this.segment.fetched()) {
      const { host, observation } = record;
      if (observation !== null) this.facts.set(host, addObservation(this.factsOf(host), observation));
      this.redirects.add(record);
    }
  }

  private oneIsDone(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  private start(item: FetchItem): void {
    this.active++;
    this.deps.lanes
      .run(item.host, (turn) => this.visitItem(item, turn), this.noMore.signal)
      .catch((error: unknown) => {
        if (error === this.noMore.signal.reason && this.noMore.signal.aborted) return;
        this.giveUp(error);
      })
      .finally(() => this.oneEnds());
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
      return this.store(item, this.denied('scheme-unsupported', ERRORS['scheme-unsupported'].text));
    }
    const facts = this.factsOf(item.host);
    const nextTurn = (): Promise<void> => turn.next();
    const asked = { protocol, item, host: facts, dated: this.dated.get(item.host), nextTurn };
    const visited = await visit(this.deps, this.options, asked);
    const restUntil = this.judgeHost(item.host, visited.outcome);
    const result = restUntil === null ? visited : { ...visited, observation: { ...visited.observation, restUntil } };
    if (result.observation !== null) this.observe(item, facts, result.observation);
    await this.store(item, result);
  }

  private factsOf(host: string): HostFacts {
    return this.facts.get(host) ?? this.segment.info.hosts[host] ?? NO_HOST_FACTS;
  }

  private observe({ host, validators }: FetchItem, facts: HostFacts, observation: HostObservation): void {
    this.facts.set(host, addObservation(facts, observation));
    if (validators.etag !== null) return;
    const { conditionalHits = 0, conditionalMisses = 0 } = observation;
    if (conditionalHits + conditionalMisses === 0) return;
    const known = this.dated.get(host);
    this.dated.set(host, {
      conditionalHits: (known?.conditionalHits ?? 0) + conditionalHits,
      conditionalMisses: (known?.conditionalMisses ?? 0) + conditionalMisses,
    });
  }

  /** The result for a URL that must not be requested; `null`: it may be. */
  private async refusal(item: FetchItem, turn: LaneTurn): Promise<VisitResult | null> {
    const { host } = item;
    const { clock } = this.deps;
    const facts = this.factsOf(host);
    const restUntil = facts.restUntil ?? 0;
    const failing = this.failures.reason(host);
    if (restUntil > clock.now() || failing !== undefined) {
      turn.spare();
      return restUntil > clock.now() ? this.resting(restUntil) : this.denied('host-failing', failing ?? '');
    }
    const { verdict, isFetched } = await verdictInTurn(this.deps, item, this.options.delayMs, turn);
    const restAskedUntil = restAsked(verdict, clock);
    if (restAskedUntil !== null) {
      const observation = { restUntil: restAskedUntil };
      this.warnOfRest(host, restAskedUntil);
      this.observe(item, facts, observation);
      return { ...this.resting(restAskedUntil), observation };
    }
    if (verdict.allowed) return null;
    // No page of a host is requested without its robots.txt, so a network that is down may show here alone.
    const { code, message } = denialBy(verdict);
    if (isFetched) this.failures.count(host, reachByRobots(verdict), !this.failures.hasFailed(host));
    return isUnreached(code) ? this.unreached(code, message) : this.denied(code, message);
  }

  private resting(until: number): VisitResult {
    return this.denied('http-throttled', 'the host asked for a pause', until);
  }

  private denied(code: ErrorCode, message: string, retryAt: number | null = null): VisitResult {
    return this.notRequested({ kind: 'denied', code, message, retryAt });
  }

  /** robots.txt could not be requested, so the page could not either. */
  private unreached(code: UnreachedCode, message: string): VisitResult {
    return this.notRequested({ kind: 'failed', code, message, status: null, retryAt: null });
  }

  private notRequested(outcome: Uncosted<FetchDenied> | Uncosted<FetchFailed>): VisitResult {
    const costs = { at: this.deps.clock.now(), requests: 0, bodyBytes: 0, receivedBytes: 0, ms: 0 };
    return { outcome: { ...outcome, ...costs }, response: null, body: null, headers: {}, observation: null };
  }

  /** Pauses the lane of a host that throttles; a pause too long to wait for is returned, ms since the epoch. */
  private judgeHost(host: string, outcome: FetchOutcome): number | null {
    this.failures.count(host, reachOf(outcome));
    if (outcome.kind !== 'failed' || outcome.code !== 'http-throttled') return null;
    const until = outcome.retryAt ?? outcome.at + this.options.patienceMs;
    if (until - outcome.at > this.options.patienceMs) {
      this.warnOfRest(host, until);
      return until;
    }
    this.deps.lanes.pauseUntil(host, until);
    return null;
  }

  private warnOfRest(host: string, until: number): void {
    const reported = { host, code: 'http-throttled', until: new Date(until).toISOString() };
    this.deps.log.warn('no requests to this host until the time that its Retry-After names', reported);
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

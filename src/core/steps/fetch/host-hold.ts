import {
  type Absence,
  afterDeadLink,
  deadLinksFrom,
  type MissingLinks,
  NO_MISSING_LINKS,
} from '../../domain/crawl/revisit/missing-links.ts';
import type { FetchOutcome } from '../../domain/crawl/states/outcome.ts';
import { CrawlError, isUnreached } from '../../domain/errors.ts';
import { type Clock, elapsedOf } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { RobotsVerdict } from '../../ports/robots.ts';
import type { FetchItem, HostObservation } from '../../ports/segment-store.ts';

export interface FailureLimits {
  /** Failures in a row after which a host gets no more requests in this step. */
  readonly hostFailureLimit: number;
  /** Failures in a row over all hosts after which the step ends: the network is down. */
  readonly failureLimit: number;
}

/** Failures in a row: of each host, and over all hosts. */
export class HostFailures {
  readonly #log: Log;
  readonly #options: FailureLimits;
  readonly #onNetworkDown: (error: CrawlError) => void;
  readonly #inARow = new Map<string, number>();
  /** Hosts that get no more requests in this step, and why. */
  readonly #failing = new Map<string, string>();
  #overAll = 0;

  /** @param onNetworkDown called when no host can be reached: the step has to end */
  constructor(log: Log, options: FailureLimits, onNetworkDown: (error: CrawlError) => void) {
    this.#log = log;
    this.#options = options;
    this.#onNetworkDown = onNetworkDown;
  }

  /** Why a host gets no more requests in this step; `undefined`: it does. */
  reason(host: string): string | undefined {
    return this.#failing.get(host);
  }

  /** Whether the last request to a host failed. */
  hasFailed(host: string): boolean {
    return this.#inARow.has(host);
  }

  /**
   * Stops requests to a host after too many failures in a row, and the step when no host can be reached.
   * @param isNews whether the failure counts towards the second: a host without robots.txt gets no other request than
   * for that
   */
  count(host: string, reach: Reach, isNews = true): void {
    const { failureLimit, hostFailureLimit } = this.#options;
    if (reach !== 'unreached' && reach !== 'unknown') this.#overAll = 0;
    else if (isNews) this.#overAll++;
    if (this.#overAll >= failureLimit) {
      const fetches = `${this.#overAll} fetches in a row could not reach their hosts (fetch.failureLimit)`;
      this.#onNetworkDown(new CrawlError('failure-limit', `${fetches}; is the network down?`));
    }
    if (reach === 'unknown') return;
    const failures = reach !== 'well' ? (this.#inARow.get(host) ?? 0) + 1 : 0;
    if (failures === 0) this.#inARow.delete(host);
    else this.#inARow.set(host, failures);
    if (failures < hostFailureLimit) return;
    const message = `${failures} failures in a row`;
    this.#failing.set(host, message);
    this.#log.warn('too many failures in a row: no more requests to this host in this round', {
      host,
      code: 'host-failing',
      message,
    });
  }
}

/**
 * State of a host as a request shows it: `ailing` was reached, but failed; `unknown`: the proxy on the way to it
 * failed, which says nothing of the host.
 */
type Reach = 'well' | 'ailing' | 'unreached' | 'unknown';

/** Statuses of the server rather than of one page: it is overloaded, or the server behind it is away. */
const HOST_STATUSES = new Set([502, 503, 504]);

/** Whether a code says that the host or the network failed, rather than one page. */
const isHostFault = (code: string): boolean => isUnreached(code) || code === 'fetch-timeout';

export function reachOf(outcome: FetchOutcome): Reach {
  if (outcome.kind !== 'failed') return 'well';
  if (outcome.code === 'proxy-failed') return 'unknown';
  if (isHostFault(outcome.code)) return 'unreached';
  return outcome.code === 'fetch-aborted' || HOST_STATUSES.has(outcome.status ?? 0) ? 'ailing' : 'well';
}

/** As a request for robots.txt shows it that ended in a denial. */
export function reachByRobots({ code, fault }: RobotsVerdict): Reach {
  const cause = code === 'robots-unreachable' ? fault?.split(':', 1)[0] : code;
  if (cause === 'proxy-failed') return 'unknown';
  return isHostFault(cause ?? '') ? 'unreached' : 'well';
}

/** How long a fetch waits for its hosts. */
export interface HostWaits {
  /**
   * For the hosts that are still at work, from the moment that a host has nothing left and too few remain to use all
   * connections, ms. No turn that comes later is waited for while several hosts are at work. Infinity: a host that is
   * done ends nothing.
   */
  readonly hostWaitMs: number;
  /** For the next turn of a host, at most, ms. */
  readonly turnWaitMs: number;
  /**
   * Number of hosts that can use all connections: while so many are at work, no host holds the others up. Absent: any
   * number.
   */
  readonly busyHosts?: number;
  /** End of the fetch, as {@link elapsedOf}; absent: none is set. */
  readonly endsAt?: number;
}

interface HoldDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Called when the other hosts have waited long enough. */
  readonly stop: () => void;
}

/**
 * Keeps a fetch from being held open by its slowest hosts: the results of the others wait for its end. What is left
 * of a slow host is due as before.
 */
export class HostHold {
  readonly #deps: HoldDeps;
  readonly #waits: HostWaits;
  /** Tasks of each host at work. */
  readonly #tasks = new Map<string, number>();
  readonly #late = new Map<string, number>();
  /** As {@link elapsedOf}. */
  #deadline = Number.POSITIVE_INFINITY;

  constructor(deps: HoldDeps, waits: HostWaits) {
    this.#deps = deps;
    this.#waits = waits;
  }

  /** Hosts left because of their next turn, and the earliest time of that turn, ms since the epoch. */
  get late(): ReadonlyMap<string, number> {
    return this.#late;
  }

  begin(host: string): void {
    this.#tasks.set(host, (this.#tasks.get(host) ?? 0) + 1);
    if (this.#isBusy) this.#deadline = Number.POSITIVE_INFINITY;
  }

  end(host: string): void {
    const left = (this.#tasks.get(host) ?? 0) - 1;
    if (left > 0) this.#tasks.set(host, left);
    else {
      this.#tasks.delete(host);
      if (this.#tasks.size > 0 && !this.#isBusy) this.#holdNoLonger();
    }
    if (this.#tasks.size > 0 && elapsedOf(this.#deps.clock) >= this.#deadline) this.#stop();
  }

  /** The latest turn of a host that is waited for now, ms since the epoch. */
  readonly latest = (): number => {
    const { hostWaitMs, turnWaitMs, endsAt = Number.POSITIVE_INFINITY } = this.#waits;
    const waitMs = this.#tasks.size > 1 ? Math.min(hostWaitMs, turnWaitMs) : turnWaitMs;
    const { clock } = this.#deps;
    const left = Math.min(this.#deadline, endsAt) - elapsedOf(clock);
    return clock.now() + Math.min(left, waitMs);
  };

  /** A host whose turn at `at` is too late. */
  leave(host: string, at: number): void {
    if (!this.#late.has(host)) {
      const until = new Date(at).toISOString();
      this.#deps.log.info('the next turn of this host is too late for this round: its URLs stay due', { host, until });
    }
    this.#late.set(host, at);
  }

  get #isBusy(): boolean {
    return this.#tasks.size >= (this.#waits.busyHosts ?? Number.POSITIVE_INFINITY);
  }

  /** From now on the hosts that are done wait for the others. */
  #holdNoLonger(): void {
    this.#deadline = Math.min(this.#deadline, elapsedOf(this.#deps.clock) + this.#waits.hostWaitMs);
  }

  #stop(): void {
    const { log, stop } = this.#deps;
    const hosts = [...this.#tasks.keys()];
    log.info('the round has waited for its slower hosts (fetch.hostWait): their remaining URLs stay due', {
      hosts: hosts.length,
      host: hosts.slice(0, 10).join(' '),
    });
    this.#deadline = Number.POSITIVE_INFINITY;
    stop();
  }
}

/** Requests to a host, all in vain, after which no more of its URLs of this kind are requested. */
const SAMPLE = 5;

/** Why a URL is left out, and until when at least, ms since the epoch; `null`: until its own next time. */
interface LeftOut {
  readonly reason: string;
  readonly until: number | null;
}

const REASONS: Readonly<Record<Absence, string>> = {
  gone: 'others that are gone are still gone',
  missing: 'others that were missing are still missing',
  dead: 'other dead links are still dead',
};

/**
 * Which URLs that probably do not exist are requested in a round. A site can have hundreds of dead links, and they are
 * dead together: where none of a few exists by now, the others wait for their next time. Dead links that were requested
 * in vain before wait for the next time of their host, which comes ever later while none of them exists.
 */
export class MissingSample {
  readonly #before: (host: string) => MissingLinks | null;
  readonly #pauses: readonly number[];
  /** Requests in vain, by host and kind; `null`: one of these URLs existed. */
  readonly #misses = new Map<string, number | null>();

  /**
   * @param before what is known of a host at the beginning of the round
   * @param pauses `schedule.missingIntervals`, ms
   */
  constructor(before: (host: string) => MissingLinks | null, pauses: readonly number[]) {
    this.#before = before;
    this.#pauses = pauses;
  }

  /** `null`: it is requested. */
  leftOut({ host, absence }: FetchItem, now: number): LeftOut | null {
    if (absence === undefined) return null;
    const misses = this.#misses.get(keyOf(host, absence)) ?? 0;
    const known = absence === 'dead' ? (this.#before(host) ?? NO_MISSING_LINKS) : null;
    const from = known === null || this.#isAnyThere(host, 'dead') ? 0 : deadLinksFrom(known, this.#pauses);
    if (from > now) return { reason: 'dead links of its host are requested later', until: from };
    if (misses < SAMPLE) return null;
    const until = known === null ? null : deadLinksFrom(afterDeadLink(known, false, now), this.#pauses);
    return { reason: `${misses} ${REASONS[absence]}`, until };
  }

  /** Counts an answer; what it shows of the host, for the rounds to come. */
  count({ host, absence }: FetchItem, { kind, at }: FetchOutcome): HostObservation | null {
    if (absence === undefined || kind === 'failed' || kind === 'denied') return null;
    const key = keyOf(host, absence);
    if (kind !== 'gone') this.#misses.set(key, null);
    else if (!this.#isAnyThere(host, absence)) this.#misses.set(key, (this.#misses.get(key) ?? 0) + 1);
    return absence === 'dead' ? { deadLink: { at, isThere: kind !== 'gone' } } : null;
  }

  #isAnyThere(host: string, absence: Absence): boolean {
    return this.#misses.get(keyOf(host, absence)) === null;
  }
}

const keyOf = (host: string, absence: Absence): string => `${absence} ${host}`;

/** When a fetch is too slow to go on, as by `fetcher.throughput.threshold.*` of Nutch. */
export interface ThroughputFloor {
  /** Pages a second, over all hosts. */
  readonly pagesPerSecond: number;
  /** Checks in a row that may find fewer before the fetch ends. */
  readonly retries: number;
  /** Time before the first check counts, ms: a round begins with robots.txt files and slow first answers. */
  readonly checkAfterMs: number;
}

/** Time between two checks, ms: long enough that a host with a delay of five seconds counts in each. */
const CHECK_EVERY_MS = 10_000;

/** What the floor reads, and how it ends a fetch. */
interface FloorDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Pages requested so far. */
  readonly pages: () => number;
  readonly stop: () => void;
}

/** Ends a fetch that is too slow; resolves then, or when the signal says that it is over. Never rejects. */
export async function endWhenTooSlow(deps: FloorDeps, floor: ThroughputFloor, over: AbortSignal): Promise<void> {
  const rate = await untilTooSlow(deps, floor, over);
  if (rate === null) return;
  const said = { pagesPerSecond: Number(rate.toFixed(2)), threshold: floor.pagesPerSecond };
  deps.log.warn('fetching has become too slow (fetch.throughputThreshold): the rest of the list stays due', said);
  deps.stop();
}

/**
 * Resolves with the pages a second of the last check when the fetch has been below the floor for too long, and with
 * `null` when the signal aborts before.
 */
export async function untilTooSlow(
  { clock, pages }: Pick<FloorDeps, 'clock' | 'pages'>,
  { pagesPerSecond, retries, checkAfterMs }: ThroughputFloor,
  signal: AbortSignal,
): Promise<number | null> {
  const startedAt = elapsedOf(clock);
  let below = 0;
  let last = { at: startedAt, pages: pages() };
  for (;;) {
    try {
      await clock.sleep(CHECK_EVERY_MS, signal);
    } catch {
      return null;
    }
    if (signal.aborted) return null;
    const now = { at: elapsedOf(clock), pages: pages() };
    const rate = (1_000 * (now.pages - last.pages)) / Math.max(1, now.at - last.at);
    const counts = last.at - startedAt >= checkAfterMs;
    below = counts && rate < pagesPerSecond ? below + 1 : 0;
    if (below > retries) return rate;
    last = now;
  }
}

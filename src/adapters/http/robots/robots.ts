import { DAY_MS, MINUTE_MS } from '../../../domain/time.ts';
import { Lru } from '../../../domain/lru.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { FetchProtocol } from '../../../ports/fetch-protocol.ts';
import type { Log } from '../../../ports/log.ts';
import type { Robots, RobotsStore, RobotsVerdict, StoredRobots } from '../../../ports/robots.ts';
import { fetchRobots, type NextTurn, type RobotsAnswer } from './robots-fetch.ts';
import { createOriginRules, type OriginRules } from './robots-verdicts.ts';

export interface RobotsOptions {
  readonly protocol: FetchProtocol;
  /** Copies that outlive the process; none by default. */
  readonly store?: RobotsStore;
  readonly clock: Clock;
  readonly log: Log;
  /** The name that robots.txt is asked about: letters, `_` and `-`. */
  readonly productToken: string;
  /** Longest Crawl-delay taken for meant, ms. */
  readonly maxCrawlDelayMs: number;
  /** Beyond that: `obey` visits at the host's own pace, `skip` leaves the host out. */
  readonly crawlDelayPolicy: 'obey' | 'skip';
  /** Deadline of one exchange, ms. */
  readonly timeoutMs: number;
}

/** RFC 9309 section 2.4: a copy should not be used for longer. */
const FRESH_MS = DAY_MS;
/** While robots.txt cannot be had, the last usable copy goes on for this long (RFC 9309 section 2.3.1.4). */
const STALE_MS = 30 * DAY_MS;
const RETRY_MS = 10 * MINUTE_MS;
/** Kept in memory: origins, and characters of their files together; what is longest unused makes room. */
const MEMORY = { entries: 10_000, weight: 32 * 1024 * 1024 };

interface CachedOrigin {
  readonly rules: OriginRules;
  readonly stored: StoredRobots;
  readonly expiresAt: number;
}

/**
 * {@link Robots}: robots.txt of each origin, fetched once a day at most, read once, and asked without cost after that.
 */
export function createRobots(options: RobotsOptions): Robots {
  const { protocol, store, clock, log } = options;
  const cache = new Lru<CachedOrigin>(MEMORY);
  const underWay = new Map<string, Promise<CachedOrigin>>();
  const traffic = { requests: 0, receivedBytes: 0 };

  function fresh(origin: string): CachedOrigin | undefined {
    const cached = cache.get(origin);
    return cached === undefined || !isFresh(cached) ? undefined : cached;
  }

  /** A clock that was put back must not keep a copy for ever. */
  const isFresh = ({ expiresAt, stored }: CachedOrigin): boolean =>
    expiresAt > clock.now() && stored.fetchedAt <= clock.now();

  function remember(origin: string, stored: StoredRobots): CachedOrigin {
    const isUsable = stored.usableAt === stored.fetchedAt;
    const hasCopy = stored.usableAt !== null && clock.now() - stored.usableAt < STALE_MS;
    const cached: CachedOrigin = {
      rules: createOriginRules(origin, stored, hasCopy, options),
      stored,
      expiresAt: stored.fetchedAt + (isUsable ? FRESH_MS : RETRY_MS),
    };
    cache.set(origin, cached, stored.text.length);
    return cached;
  }

  async function load(origin: string, nextTurn: NextTurn): Promise<CachedOrigin> {
    const known = cache.get(origin)?.stored ?? (await loadStored(origin));
    if (known !== undefined) {
      const cached = remember(origin, known);
      if (isFresh(cached)) return cached;
    }
    const answer = await fetchRobots(protocol, origin, options.timeoutMs, traffic, clock, nextTurn);
    const entry = storedFrom(answer, known, clock.now());
    if (answer.kind === 'unreachable') {
      log.debug('robots.txt unreachable', { origin, reason: answer.reason, hasCopy: entry.usableAt !== null });
    }
    await save(origin, entry);
    return remember(origin, entry);
  }

  async function loadStored(origin: string): Promise<StoredRobots | undefined> {
    try {
      return await store?.load(origin);
    } catch (error) {
      log.warn('stored robots.txt could not be read, it is fetched again', { origin, error });
      return undefined;
    }
  }

  async function save(origin: string, entry: StoredRobots): Promise<void> {
    try {
      await store?.save(origin, entry);
    } catch (error) {
      log.warn('robots.txt could not be stored, it will be fetched again by the next process', { origin, error });
    }
  }

  /** Calls for one origin share one load. */
  function loadOnce(origin: string, nextTurn: NextTurn): Promise<CachedOrigin> {
    let loading = underWay.get(origin);
    if (loading === undefined) {
      loading = load(origin, nextTurn).finally(() => underWay.delete(origin));
      underWay.set(origin, loading);
    }
    return loading;
  }

  return {
    async verdict(url, nextTurn = async () => {}) {
      const origin = originOf(url);
      const { rules } = fresh(origin) ?? (await loadOnce(origin, nextTurn));
      return rules.verdictOn(url.slice(origin.length));
    },
    cachedVerdict(url): RobotsVerdict | undefined {
      const origin = originOf(url);
      return fresh(origin)?.rules.verdictOn(url.slice(origin.length));
    },
    stats: () => ({ ...traffic }),
  };
}

/** An answer that tells nothing keeps the text that the last usable one gave. */
function storedFrom(answer: RobotsAnswer, known: StoredRobots | undefined, now: number): StoredRobots {
  if (answer.kind === 'unreachable') {
    const { status, reason: fault, restUntil } = answer;
    const entry = { text: known?.text ?? '', status, fetchedAt: now, usableAt: known?.usableAt ?? null, fault };
    return restUntil === null ? entry : { ...entry, restUntil };
  }
  const text = answer.kind === 'found' ? answer.text : '';
  return { text, status: answer.status, fetchedAt: now, usableAt: now };
}

/** URLs come canonical, so their origin is a matter of the first slash after the host. */
function originOf(url: string): string {
  const end = url.indexOf('/', url.indexOf('//') + 2);
  const origin = end === -1 ? url : url.slice(0, end);
  const query = origin.search(/[?#]/);
  return query === -1 ? origin : origin.slice(0, query);
}

import { Lru } from '../../core/domain/lru.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/domain/time.ts';
import { isUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { FetchProtocol } from '../../core/ports/fetch-protocol.ts';
import type { Log } from '../../core/ports/log.ts';
import type { RobotsStore, RobotsVerdict, SharedRobots, StoredRobots } from '../../core/ports/robots.ts';
import { fetchRobots, type NextTurn, type RobotsAccess } from './robots-fetch.ts';
import { parseRobots, type RobotsDecision } from './robots-reader.ts';

interface OriginRules {
  /** As {@link RobotsVerdict.crawlDelayMs}. */
  readonly crawlDelayMs: number | null;
  verdictOn(pathAndQuery: string): RobotsVerdict;
}

interface VerdictOptions {
  readonly productToken: string;
  readonly maxCrawlDelayMs: number;
  readonly crawlDelayPolicy: 'obey' | 'skip';
}

/** Nothing of an origin may be requested. */
function createDenial(
  code: NonNullable<RobotsVerdict['code']>,
  { status, fetchedAt, fault, restUntil }: Omit<StoredRobots, 'text' | 'usableAt'>,
): OriginRules {
  const denied: RobotsVerdict = Object.freeze({
    allowed: false,
    code,
    fault: fault ?? null,
    rule: null,
    crawlDelayMs: null,
    sitemaps: [],
    status,
    fetchedAt,
    ...(restUntil !== undefined && { restUntil }),
  });
  return { crawlDelayMs: null, verdictOn: () => denied };
}

/**
 * Verdicts for one origin from its stored robots.txt. Without a usable copy (`hasCopy`) everything is disallowed for
 * now. There is one verdict object per rule, made on first use, so that a verdict on a page costs no memory.
 */
function createOriginRules(
  origin: string,
  stored: StoredRobots,
  hasCopy: boolean,
  options: VerdictOptions,
): OriginRules {
  if (!hasCopy) return createDenial('robots-unreachable', stored);
  const { text, status, fetchedAt, fault = null, restUntil } = stored;
  const parsed = parseRobots(text, options.productToken);
  const crawlDelayMs = parsed.crawlDelay === null ? null : Math.round(parsed.crawlDelay * 1000);
  const isTooSlow = options.crawlDelayPolicy === 'skip' && (crawlDelayMs ?? 0) > options.maxCrawlDelayMs;
  const sitemaps = Object.freeze(absolute(parsed.sitemaps, origin));
  const make = ({ allowed, rule }: RobotsDecision): RobotsVerdict =>
    Object.freeze({
      allowed: allowed && !isTooSlow,
      code: allowed ? (isTooSlow ? 'crawl-delay-too-long' : null) : 'robots-denied',
      fault,
      rule,
      crawlDelayMs,
      sitemaps,
      status,
      fetchedAt,
      ...(restUntil !== undefined && { restUntil }),
    });
  const verdicts = new Map<RobotsDecision, RobotsVerdict>();
  const verdictFor = (decision: RobotsDecision): RobotsVerdict => {
    const known = verdicts.get(decision);
    if (known !== undefined) return known;
    const verdict = make(decision);
    verdicts.set(decision, verdict);
    return verdict;
  };
  return { crawlDelayMs, verdictOn: (pathAndQuery) => verdictFor(parsed.decide(pathAndQuery)) };
}

export interface RobotsOptions {
  readonly protocol: FetchProtocol;
  /** Persistent copies; none by default. */
  readonly store?: RobotsStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Product token matched against robots.txt: letters, `_` and `-`. */
  readonly productToken: string;
  /** Longest plausible Crawl-delay, ms. */
  readonly maxCrawlDelayMs: number;
  /** For a longer delay: `obey` visits at the configured pace of the host, `skip` leaves the host out. */
  readonly crawlDelayPolicy: 'obey' | 'skip';
  /** Timeout of one exchange, ms. */
  readonly timeoutMs: number;
}

/** A copy should not be used for longer (RFC 9309 section 2.4). */
const FRESH_MS = DAY_MS;
/**
 * From this Crawl-delay on, a copy is used for two delays longer: robots.txt is a request as well, so otherwise no page
 * of a host that allows one request a day would ever be requested.
 */
const LONG_DELAY_MS = HOUR_MS;
/** While robots.txt is unreachable, the last usable copy is used for this long (RFC 9309 section 2.3.1.4). */
const STALE_MS = 30 * DAY_MS;
const RETRY_MS = 10 * MINUTE_MS;
/** Kept in memory: number of origins, and characters of their files together; least recently used are dropped first. */
const MEMORY = { entries: 10_000, weight: 32 * 1024 * 1024 };

interface CachedOrigin {
  readonly rules: OriginRules;
  readonly stored: StoredRobots;
  readonly expiresAt: number;
}

/**
 * {@link SharedRobots}: the robots.txt of each origin is fetched at most once a day, parsed once, and then kept in
 * memory. A verdict on an origin that was not requested is not kept.
 */
export function createRobots(options: RobotsOptions): SharedRobots {
  const { store, clock, log } = options;
  const cache = new Lru<CachedOrigin>(MEMORY);
  const traffic = { requests: 0, receivedBytes: 0 };

  function fresh(origin: string): CachedOrigin | undefined {
    const cached = cache.get(origin);
    return cached === undefined || !isFresh(cached) ? undefined : cached;
  }

  /** A clock that was set back must not keep a copy for ever. */
  const isFresh = ({ expiresAt, stored }: CachedOrigin): boolean =>
    expiresAt > clock.now() && stored.fetchedAt <= clock.now();

  const hasCopy = ({ usableAt }: StoredRobots): boolean => usableAt !== null && clock.now() - usableAt < STALE_MS;

  function remember(origin: string, stored: StoredRobots): CachedOrigin {
    const isUsable = stored.usableAt === stored.fetchedAt;
    const rules = createOriginRules(origin, stored, hasCopy(stored), options);
    const delayMs = rules.crawlDelayMs ?? 0;
    const freshMs = delayMs >= LONG_DELAY_MS ? FRESH_MS + 2 * delayMs : FRESH_MS;
    const expiresAt = stored.fetchedAt + (isUsable ? freshMs : RETRY_MS);
    const cached: CachedOrigin = { rules, stored, expiresAt };
    cache.set(origin, cached, stored.text.length);
    return cached;
  }

  async function load(protocol: FetchProtocol, origin: string, nextTurn: NextTurn): Promise<OriginRules> {
    const known = cache.get(origin)?.stored ?? (await loadStored(origin));
    if (known !== undefined) {
      const cached = remember(origin, known);
      if (isFresh(cached)) return cached.rules;
    }
    const answer = await fetchRobots(protocol, origin, options.timeoutMs, traffic, clock, nextTurn);
    // A copy does not help if the address guard refuses the pages as well.
    if (answer.kind === 'not-asked' && (answer.code === 'address-blocked' || known === undefined || !hasCopy(known))) {
      const { code, message } = answer;
      log.debug('robots.txt could not be requested', { origin, code, message });
      return createDenial(code, { status: null, fetchedAt: clock.now(), fault: message });
    }
    const entry = storedFrom(answer, known, clock.now());
    if (answer.kind === 'unreachable') {
      log.debug('robots.txt unreachable', { origin, reason: answer.reason, hasCopy: entry.usableAt !== null });
    }
    await save(origin, entry);
    return remember(origin, entry).rules;
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

  function robotsOver(protocol: FetchProtocol): SharedRobots {
    const underWay = new Map<string, Promise<OriginRules>>();

    /** Calls for one origin share one load. */
    function loadOnce(origin: string, nextTurn: NextTurn): Promise<OriginRules> {
      let loading = underWay.get(origin);
      if (loading === undefined) {
        loading = load(protocol, origin, nextTurn).finally(() => underWay.delete(origin));
        underWay.set(origin, loading);
      }
      return loading;
    }

    return {
      async verdict(url, nextTurn = async () => {}) {
        const origin = originOf(url);
        const rules = fresh(origin)?.rules ?? (await loadOnce(origin, nextTurn));
        return rules.verdictOn(url.slice(origin.length));
      },
      cachedVerdict(url): RobotsVerdict | undefined {
        const origin = originOf(url);
        return fresh(origin)?.rules.verdictOn(url.slice(origin.length));
      },
      stats: () => ({ ...traffic }),
      through: (wrap) => robotsOver(wrap(protocol)),
    };
  }

  return robotsOver(options.protocol);
}

/** An unreachable file or origin keeps the text of the last usable copy. */
function storedFrom(answer: RobotsAccess, known: StoredRobots | undefined, now: number): StoredRobots {
  const kept = { text: known?.text ?? '', fetchedAt: now, usableAt: known?.usableAt ?? null };
  if (answer.kind === 'not-asked') return { ...kept, status: null, fault: `${answer.code}: ${answer.message}` };
  if (answer.kind === 'unreachable') {
    const { status, reason, restUntil } = answer;
    return { ...kept, status, fault: reason, ...(restUntil !== null && { restUntil }) };
  }
  const text = answer.kind === 'found' ? answer.text : '';
  return { text, status: answer.status, fetchedAt: now, usableAt: now };
}

/** URLs are canonical, so the origin ends at the first slash after the host. */
function originOf(url: string): string {
  const end = url.indexOf('/', url.indexOf('//') + 2);
  const origin = end === -1 ? url : url.slice(0, end);
  const query = origin.search(/[?#]/);
  return query === -1 ? origin : origin.slice(0, query);
}

export interface RobotsCheck {
  readonly allowed: boolean;
  /** Seconds. */
  readonly crawlDelay: number | null;
  readonly sitemaps: readonly string[];
  readonly rule: RobotsDecision['rule'];
}

/** The verdict of a robots.txt on a URL or path for `agent` (a product token, or a User-Agent that begins with one). */
export function checkRobots({ robots, agent, url }: { robots: string; agent: string; url: string }): RobotsCheck {
  const parsed = parseRobots(robots, agent);
  const base = 'http://origin.invalid';
  const { pathname, search, origin } = isUrl(url, base) ? new URL(url, base) : new URL(base);
  const { allowed, rule } = parsed.decide(pathname + search);
  return { allowed, crawlDelay: parsed.crawlDelay, sitemaps: absolute(parsed.sitemaps, origin), rule };
}

/** Sitemaps must be absolute URLs; relative ones are resolved like links, and invalid ones are left out. */
function absolute(sitemaps: readonly string[], origin: string): string[] {
  return sitemaps.flatMap((sitemap) => {
    if (/^https?:\/\//i.test(sitemap)) return isUrl(sitemap) ? [sitemap] : [];
    return isUrl(sitemap, origin) && /^https?:/.test(new URL(sitemap, origin).protocol)
      ? [new URL(sitemap, origin).href]
      : [];
  });
}

import type { RobotsVerdict, StoredRobots } from '../../../ports/robots.ts';
import { absolute } from './check-robots.ts';
import { parseRobots, type RobotsDecision } from './robots-reader.ts';

export interface OriginRules {
  /** As {@link RobotsVerdict.crawlDelayMs}. */
  readonly crawlDelayMs: number | null;
  verdictOn(pathAndQuery: string): RobotsVerdict;
}

export interface VerdictOptions {
  readonly productToken: string;
  readonly maxCrawlDelayMs: number;
  readonly crawlDelayPolicy: 'obey' | 'skip';
}

/** Nothing of an origin may be requested. */
export function createDenial(
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
 * Verdicts of one origin from its stored robots.txt. Without a usable copy (`hasCopy`) everything is disallowed for
 * now. There is one verdict object per rule, made on first use, so that a verdict on a page costs no memory.
 */
export function createOriginRules(
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
  if (!parsed.hasRules) {
    const verdict = make({ allowed: true, rule: null });
    return { crawlDelayMs, verdictOn: () => verdict };
  }
  return { crawlDelayMs, verdictOn: (pathAndQuery) => verdictFor(parsed.decide(pathAndQuery)) };
}

import type { CrawlDatum } from '../states/datum.ts';

/**
 * Metadata of a page that a sitemap calls changed since its last visit: the `lastmod`, ms since the epoch. Gone after
 * the next answer.
 */
export const HINT_KEY = 'sitemap.lastmod';

export interface HintRecord {
  /** Hints after which a visit found the page changed, and those after which it had not. */
  readonly hintHits: number;
  readonly hintMisses: number;
}

/**
 * How far `lastmod` is believed on a host, 0 to 1: the mean of Beta(1, 1) with the hints that proved right and wrong.
 */
export function hintTrust({ hintHits, hintMisses }: HintRecord): number {
  return (hintHits + 1) / (hintHits + hintMisses + 2);
}

/**
 * A page whose sitemap entry is newer than its last visit comes sooner, the further the more its host is trusted:
 * wholly trusted, at once. Never sooner than the operator's bound after the last visit, and not while the page fails:
 * then the server, or the pause after failures, has said when. `null`: the hint changes nothing.
 */
export function withHint(
  datum: CrawlDatum,
  lastmod: number,
  trust: number,
  now: number,
  minIntervalMs: number,
): CrawlDatum | null {
  const { lastFetchAt, nextFetchAt, metadata, fixedIntervalMs, failures } = datum;
  if (lastFetchAt === null || nextFetchAt === null || fixedIntervalMs !== null || failures > 0) return null;
  if (lastmod <= lastFetchAt || lastmod > now || metadata[HINT_KEY] === lastmod) return null;
  const hinted = Math.round(now + Math.max(0, nextFetchAt - now) * (1 - trust));
  const sooner = Math.min(nextFetchAt, Math.max(hinted, lastFetchAt + minIntervalMs));
  return { ...datum, nextFetchAt: sooner, metadata: { ...metadata, [HINT_KEY]: lastmod } };
}

/** What an answered visit says of the hint that stood on the page; `null`: none stood. */
export function judgeHint(before: CrawlDatum, isChanged: boolean): 'hit' | 'miss' | null {
  return before.metadata[HINT_KEY] === undefined ? null : isChanged ? 'hit' : 'miss';
}

export function withoutHint(datum: CrawlDatum): CrawlDatum {
  if (datum.metadata[HINT_KEY] === undefined) return datum;
  const { [HINT_KEY]: _, ...metadata } = datum.metadata;
  return { ...datum, metadata };
}

/** Dates that say nothing: all the same (the time of the file's making), or in the future. Ms since the epoch. */
export function areDatesUseless(dates: readonly number[], now: number): boolean {
  const known = dates.filter((date) => date <= now);
  return known.length < dates.length / 2 || (known.length > 1 && known.every((date) => date === known[0]));
}

import type { CrawlDatum } from '../states/datum.ts';

/**
 * Metadata key of a page whose sitemap entry is newer than its last visit: the `lastmod`, ms since the epoch. Removed
 * after the next answer.
 */
export const HINT_KEY = 'sitemap.lastmod';

export interface HintRecord {
  /** Hints whose visit found the page changed, and those whose visit did not. */
  readonly hintHits: number;
  readonly hintMisses: number;
}

/** Trust in the `lastmod` of a host, 0 to 1: the mean of Beta(1, 1) updated by right and wrong hints. */
export function hintTrust({ hintHits, hintMisses }: HintRecord): number {
  return (hintHits + 1) / (hintHits + hintMisses + 2);
}

/**
 * A page whose sitemap entry is newer than its last visit is due sooner, by the trust in its host: fully trusted, at
 * once. Never sooner than the operator's bound after the last visit, and not while the page fails, as the server or the
 * retry pause has set the time then. `null`: the hint changes nothing.
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
  const dueBy = sooner < nextFetchAt ? 'sitemap' : datum.dueBy;
  return { ...datum, nextFetchAt: sooner, dueBy, metadata: { ...metadata, [HINT_KEY]: lastmod } };
}

/** Whether the hint of a page was right, from an answered visit; `null` without a hint. */
export function judgeHint(before: CrawlDatum, isChanged: boolean): 'hit' | 'miss' | null {
  return before.metadata[HINT_KEY] === undefined ? null : isChanged ? 'hit' : 'miss';
}

export function withoutHint(datum: CrawlDatum): CrawlDatum {
  if (datum.metadata[HINT_KEY] === undefined) return datum;
  const { [HINT_KEY]: _, ...metadata } = datum.metadata;
  return { ...datum, metadata };
}

/**
 * Whether dates are useless: all equal (the time when the file was generated), or in the future. Ms since the epoch.
 */
export function areDatesUseless(dates: readonly number[], now: number): boolean {
  const known = dates.filter((date) => date <= now);
  return known.length < dates.length / 2 || (known.length > 1 && known.every((date) => date === known[0]));
}

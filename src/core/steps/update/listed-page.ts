import { type CrawlDatum, newDatum } from '../../domain/crawl/states/datum.ts';
import type { SegmentInfo } from '../../ports/segment-store.ts';

/** What the record of a listed URL begins with. */
export interface ListedPages {
  /** Score of a URL that no page links to. */
  readonly seedScore: (url: string) => number;
  /** Ms. */
  readonly initialIntervalMs: number;
}

/**
 * The record that a URL of a list has before its first visit; it is stored with that visit. It is no seed. `null` for a
 * segment that generate selected: a URL without a record was purged since, and stays away.
 */
export function listedPage(
  url: string,
  { isListed, createdAt }: Pick<SegmentInfo, 'isListed' | 'createdAt'>,
  { seedScore, initialIntervalMs }: ListedPages,
): CrawlDatum | null {
  if (isListed !== true) return null;
  return newDatum({ url, now: createdAt, intervalMs: initialIntervalMs, score: seedScore(url) });
}

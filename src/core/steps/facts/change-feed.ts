// core/steps/facts/: values that the crawl db keeps beside its records, shared by several steps.

import { type PageChange, pageChange } from '../../domain/crawl/change/page-change.ts';
import type { CrawlDb, CrawlDbBatch, CrawlDbPut } from '../../ports/crawl-db.ts';

/** The part of a batch that adds changes to the feed; empty without changes. */
export function noted(changes: readonly PageChange[], now: number): Pick<CrawlDbBatch, 'feed'> {
  return changes.length === 0 ? {} : { feed: { add: { notedAt: now, changes } } };
}

/** The part of a batch for the changes that records show without a visit. */
export function changesOf(puts: readonly CrawlDbPut[], now: number): Pick<CrawlDbBatch, 'feed'> {
  const changes = puts.flatMap(({ datum, previous }) => {
    const change = previous === null ? null : pageChange(previous, datum, now);
    return change === null ? [] : [change];
  });
  return noted(changes, now);
}

export interface FeedRetention {
  /** Age beyond which entries are removed, ms. */
  readonly keepMs: number;
  /** Entries kept at most. */
  readonly max: number;
}

/** Entries removed per batch. */
const TRIM_WINDOW = 10_000;

/** Removes entries beyond the age or the count to keep. Resolves with how many were removed. */
export async function trimFeed(db: CrawlDb, { keepMs, max }: FeedRetention, now: number): Promise<number> {
  const { first, last } = await db.feedEnds();
  let keepFrom = Math.max(first, last - max + 1);
  // Where the oldest entry is young enough, all are.
  for await (const oldest of db.changes({ limit: 1 })) {
    if (oldest.notedAt >= now - keepMs) break;
    const kept = db.changes({ notedFrom: now - keepMs, limit: 1 });
    const { value, done } = await kept[Symbol.asyncIterator]().next();
    keepFrom = Math.max(keepFrom, done ? last + 1 : value.seq);
  }
  for (let from = first; from < keepFrom; from += TRIM_WINDOW) {
    await db.write({ feed: { trimThrough: Math.min(from + TRIM_WINDOW, keepFrom) - 1 } });
  }
  return keepFrom - first;
}

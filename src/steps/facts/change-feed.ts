import { type PageChange, pageChange } from '../../domain/crawl/change/page-change.ts';
import type { CrawlDb, CrawlDbBatch, CrawlDbPut } from '../../ports/crawl-db.ts';

/** The part of a batch that tells of changes; nothing when there are none. */
export function noted(changes: readonly PageChange[], now: number): Pick<CrawlDbBatch, 'feed'> {
  return changes.length === 0 ? {} : { feed: { add: { notedAt: now, changes } } };
}

/** What a batch of records that nobody has visited changes. */
export function changesOf(puts: readonly CrawlDbPut[], now: number): Pick<CrawlDbBatch, 'feed'> {
  const changes = puts.flatMap(({ datum, previous }) => {
    const change = previous === null ? null : pageChange(previous, datum, now);
    return change === null ? [] : [change];
  });
  return noted(changes, now);
}

export interface FeedRetention {
  /** Entries noted longer ago are removed, ms. */
  readonly keepMs: number;
  /** Entries kept at most. */
  readonly max: number;
}

/** Entries removed per batch. */
const TRIM_WINDOW = 10_000;

/** Removes what is older, or more, than is to be kept. Resolves with the count of numbers given up. */
export async function trimFeed(db: CrawlDb, { keepMs, max }: FeedRetention, now: number): Promise<number> {
  const { first, last } = await db.feedEnds();
  let keepFrom = Math.max(first, last - max + 1);
  // One look at the oldest entry tells whether any is too old.
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

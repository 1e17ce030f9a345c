// delivery/export/: pages for other tools, by exporter plugins.

import { type FeedCursor, isChangedSince, numberOf } from '../../core/domain/crawl/change/change-feed.ts';
import { leadsTo } from '../../core/domain/crawl/change/page-change.ts';
import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { UrlSet } from '../../core/domain/url/hash/url-digest.ts';
import type { RemovedPage } from '../../core/plugin-host/api/exporter-api.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';

/** Since a time (ms since the epoch), or after a number of the change feed. */
export type Since = { readonly at: number } | { readonly after: FeedCursor };

export interface ChangedPages {
  has(datum: CrawlDatum): boolean;
  /**
   * Pages that had content and are no longer exported, including those whose records were dropped. Orphans are not
   * included: their pages may still exist.
   */
  removed(isShown: (datum: CrawlDatum) => boolean): AsyncIterable<RemovedPage>;
}

/** Records looked up at a time. */
const CHUNK = 500;

/**
 * Changed pages according to the change feed. If the feed does not reach back far enough, all records are read. These
 * do not hold the time at which a page became a duplicate, so all duplicates then count as removed.
 */
export async function changedPages(db: CrawlDb, since: Since): Promise<ChangedPages> {
  const range = 'at' in since ? { notedFrom: since.at } : { after: since.after };
  const reported = new UrlSet();
  for await (const { url } of db.changes(range)) reported.add(url);
  if (await reachesBack(db, since)) {
    return {
      has: ({ url }) => reported.has(url),
      removed: (isShown) => removedOf(db, range, reportedRecords(db, range), isShown),
    };
  }
  const at = 'at' in since ? since.at : 0;
  const isChanged = (datum: CrawlDatum): boolean =>
    reported.has(datum.url) || datum.state === 'duplicate' || isChangedSince(datum, at);
  return { has: isChanged, removed: (isShown) => removedOf(db, range, changedRecords(db, isChanged), isShown) };
}

async function reachesBack(db: CrawlDb, since: Since): Promise<boolean> {
  const { first, last } = await db.feedEnds();
  if (last === 0) return false;
  if (first === 1) return true;
  if ('after' in since) return first <= numberOf(since.after) + 1;
  for await (const { notedAt } of db.changes({ limit: 1 })) return notedAt < since.at;
  return false;
}

async function* reportedRecords(
  db: CrawlDb,
  range: Parameters<CrawlDb['changes']>[0],
): AsyncGenerator<CrawlDatum | undefined> {
  const asked = new UrlSet();
  let urls: string[] = [];
  for await (const { url, kind, state } of db.changes(range)) {
    // A duplicate was not exported before, so its change does not concern the export.
    if ((kind === 'modified' && state === 'duplicate') || !asked.add(url)) continue;
    urls.push(url);
    if (urls.length < CHUNK) continue;
    yield* await db.getMany(urls);
    urls = [];
  }
  yield* await db.getMany(urls);
}

async function* changedRecords(db: CrawlDb, isChanged: (datum: CrawlDatum) => boolean): AsyncGenerator<CrawlDatum> {
  for await (const datum of db.scan()) if (isChanged(datum)) yield datum;
}

async function* removedOf(
  db: CrawlDb,
  range: Parameters<CrawlDb['changes']>[0],
  records: AsyncIterable<CrawlDatum | undefined>,
  isShown: (datum: CrawlDatum) => boolean,
): AsyncGenerator<RemovedPage> {
  for await (const datum of records) {
    if (datum === undefined || datum.digest === null || datum.state === 'orphan' || isShown(datum)) continue;
    const { url, state, contentType } = datum;
    yield { url, state, target: leadsTo(datum), contentType };
  }
  yield* droppedPages(db, range);
}

/** Pages whose records were deleted; pages that were found and fetched again are judged by their new records. */
async function* droppedPages(db: CrawlDb, range: Parameters<CrawlDb['changes']>[0]): AsyncGenerator<RemovedPage> {
  const reported = new UrlSet();
  for await (const { kind, url, contentType = null } of db.changes(range)) {
    if (kind !== 'dropped' || !reported.add(url)) continue;
    const [datum] = await db.getMany([url]);
    if (datum === undefined || datum.digest === null) yield { url, state: 'dropped', target: null, contentType };
  }
}

import type { ChangeRow } from '../../core/domain/crawl/change/change-feed.ts';
import { LINKED_ELSEWHERE_KEY } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { SpreadCrawlDb } from './spread-db.ts';

/**
 * What a crawl db without partitions would hold: all records, outlinks, facts and changes. The changes are numbered
 * anew in the order of their times. Segments and leases stay with the partitions, so the URLs of a round under way are
 * due.
 */
export function asOneCrawlDb(db: SpreadCrawlDb): CrawlDb {
  let last = 0;
  let notedAt = 0;
  return db.with({
    async *scan(query) {
      for await (const record of db.scan(query)) {
        // In one crawl db the sweep of orphans counts all links itself.
        const { [LINKED_ELSEWHERE_KEY]: _, ...metadata } = record.metadata;
        yield { ...record, metadata };
      }
    },
    segments: async () => [],
    async *scanLeases() {},
    async *changes(): AsyncGenerator<ChangeRow> {
      for await (const { partition: _, ...change } of db.changes()) {
        ({ notedAt } = change);
        yield { ...change, seq: ++last };
      }
    },
    feedEnds: async () => ({ first: 1, last, notedAt }),
  });
}

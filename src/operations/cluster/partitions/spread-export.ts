import { resolve } from 'node:path';
import { systemClock } from '../../../adapters/system/clock.ts';
import type { Config } from '../../../config/schema.ts';
import type { ChangeRow } from '../../../domain/crawl/change/change-feed.ts';
import { LINKED_ELSEWHERE_KEY } from '../../../domain/crawl/discovery/forwarded-link.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { CrawlDb } from '../../../ports/crawl-db.ts';
import type { Log } from '../../../ports/log.ts';
import type { OnWork } from '../../../ports/work-progress.ts';
import { dumpTexts } from '../../transfer/db-transfer.ts';
import { readClusterMark } from '../cluster-mark.ts';
import { openSpreadDb } from './open-spread-db.ts';
import type { SpreadCrawlDb } from './spread-db.ts';

export interface SpreadExportOptions {
  readonly config: Config;
  readonly dir: string;
  readonly log: Log;
  readonly clock?: Pick<Clock, 'now'>;
  readonly onWork?: OnWork;
}

/**
 * A spread crawl as the lines of one crawl db, see {@link asOneCrawlDb}. Warns of links that are under way from one
 * partition to another, which the lines lack. Rejects as `openSpreadDb` does.
 */
export async function* exportSpread(options: SpreadExportOptions): AsyncGenerator<string, void, undefined> {
  const { config, log, clock = systemClock, onWork } = options;
  const dir = resolve(options.dir);
  const partitions = readClusterMark(dir)?.partitions ?? 1;
  const db = await openSpreadDb({ config, dir, partitions, log });
  try {
    const links = await db.linksUnderWay();
    if (links > 0) log.warn('links between partitions are not in the export: "incrawl work" delivers them', { links });
    yield* dumpTexts(asOneCrawlDb(db), clock.now(), onWork);
  } finally {
    await db.close();
  }
}

/**
 * What a crawl db without partitions would hold: all records, outlinks, facts and changes, these numbered anew in the
 * order of their times. Segments and leases stay with the partitions, so URLs of a round under way are due.
 */
export function asOneCrawlDb(db: SpreadCrawlDb): CrawlDb {
  let last = 0;
  let notedAt = 0;
  return db.with({
    async *scan(query) {
      for await (const record of db.scan(query)) {
        // There all links are of the same crawl db, whose sweep of orphans counts them.
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

import { randomUUID } from 'node:crypto';
import { asDuplicate, asOwnPage } from '../../core/domain/crawl/states/duplicate.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { JudgedCopy } from '../../core/steps/update/judged-copies.ts';
import type { Turns } from '../ports/turns.ts';
import type { PartitionStores } from './partition-stores.ts';
import type { SpreadCrawlDb } from './spread-db.ts';

export interface JudgementsDeps {
  readonly whole: Pick<SpreadCrawlDb, 'with' | 'get' | 'partitionOf'>;
  readonly stores: Pick<PartitionStores, 'inboxOf'>;
  readonly turns: Pick<Turns, 'want'>;
}

export interface Judgements {
  /** The whole crawl: writes to pages and their representatives are sent to the partitions. */
  readonly db: CrawlDb;
  /** Sends the rest; resolves with the number of partitions that got some. */
  end(): Promise<{ readonly partitions?: number }>;
}

/** Pages of one row of an inbox. */
const PAGE = 1_000;

/**
 * A whole crawl on which pages are marked as duplicates, while workers go on. Each mark is an order to the holder of
 * the page, which applies it to the record as it is by then. If this is cut short, some orders are sent, and the next
 * run sends the rest.
 */
export function judgementsOn({ whole, stores, turns }: JudgementsDeps): Judgements {
  const sender = `orders-${randomUUID()}`;
  const pages = new Map<number, JudgedCopy[]>();
  const sent = new Map<number, number>();
  /** Pages judged whose records do not show it yet, and the pages that they duplicate. */
  const judged = new Map<string, string | null>();
  const send = async (partition: number, page: readonly JudgedCopy[]): Promise<void> => {
    const number = sent.get(partition) ?? 0;
    sent.set(partition, number + 1);
    const order = { command: 'judge', args: [page] };
    await stores.inboxOf(partition).append(sender, [{ number, item: { order } }]);
  };
  const db = whole.with({
    async get(url) {
      const [datum, of] = [await whole.get(url), judged.get(url)];
      if (datum === undefined || of === undefined) return datum;
      return of === null ? asOwnPage(datum) : asDuplicate(datum, of);
    },
    async write({ puts = [] }) {
      for (const { datum, previous } of puts) {
        const of = datum.state === 'duplicate' ? datum.target : null;
        judged.set(datum.url, of);
        const partition = whole.partitionOf(hostOf(datum.url));
        const page = pages.get(partition) ?? [];
        pages.set(partition, page);
        page.push([datum.url, of, previous?.signature ?? null]);
        if (page.length < PAGE) continue;
        pages.delete(partition);
        await send(partition, page);
      }
    },
  });
  return {
    db,
    async end() {
      for (const [partition, page] of pages) await send(partition, page);
      pages.clear();
      await turns.want(sent.keys());
      return sent.size === 0 ? {} : { partitions: sent.size };
    },
  };
}

import { type OutboxRow, senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { InboxOfOther } from '../../core/ports/partitions/forwarding.ts';

/** Parcels handed over at a time. */
const PAGE = 64;

export interface HandOverDeps {
  readonly db: Pick<CrawlDb, 'forwarding' | 'write'>;
  /** The partition of the crawl db. */
  readonly partition: number;
  inboxOf(partition: number): InboxOfOther;
}

/**
 * Empties the outbox into the inboxes of the other partitions. A page is in all of its inboxes before it leaves the
 * outbox, and before the next page is read. So no row reaches an inbox before the rows that precede it: those would be
 * skipped, because a higher number has been applied. After a crash rows are handed over again. Resolves with the
 * partitions that got some.
 */
export async function handOver({ db, partition, inboxOf }: HandOverDeps): Promise<ReadonlySet<number>> {
  const receivers = new Set<number>();
  for (;;) {
    const rows: OutboxRow[] = [];
    for await (const row of db.forwarding.outbox({ limit: PAGE })) rows.push(row);
    if (rows.length === 0) return receivers;
    for (const [to, own] of byReceiver(rows)) {
      const items = own.map(({ number, links }) => ({ number, item: { links } }));
      await inboxOf(to).append(senderOf(partition), items);
      receivers.add(to);
    }
    await db.write({ forwarding: { handedOver: rows.map(({ to, number }) => ({ to, number })) } });
    if (rows.length < PAGE) return receivers;
  }
}

function byReceiver(rows: readonly OutboxRow[]): ReadonlyMap<number, OutboxRow[]> {
  const receivers = new Map<number, OutboxRow[]>();
  for (const row of rows) {
    const own = receivers.get(row.to);
    if (own === undefined) receivers.set(row.to, [row]);
    else own.push(row);
  }
  return receivers;
}

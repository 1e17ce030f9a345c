import { randomUUID } from 'node:crypto';
import { senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import type { ReceivedRow } from '../../core/ports/partitions/forwarding.ts';
import type { PartitionStores } from './partition-stores.ts';

/** A new name for a process that sends seeds or orders: it tells how many splits that process knows of. */
export const senderKnowing = (kind: string, splits: readonly number[]): string =>
  `${kind}-${splits.length}-${randomUUID()}`;

const SENDER = /^([a-z]+)-(\d+)-(.*)$/;

export interface PassOnDeps {
  readonly partition: number;
  readonly stores: Pick<PartitionStores, 'partitions' | 'splits' | 'placeOf' | 'inboxOf'>;
  /** Wants turns of partitions that were sent something. */
  onHandedOver(partitions: Iterable<number>): Promise<void>;
}

/**
 * Gives seeds and orders of processes that did not know of a split of this partition to the new one, which takes what
 * is its own, as this one does. Links need no such care: those of other partitions go on as if they were found here. To
 * be called before the rows are removed: what is passed on twice stays as it is, or is carried out twice.
 */
export async function passOn(
  { partition, stores, onHandedOver }: PassOnDeps,
  rows: readonly ReceivedRow[],
): Promise<void> {
  const begun = stores.partitions - stores.splits.length;
  const receivers = new Set<number>();
  for (const { from, number, item } of rows) {
    const [, kind, known, rest] = SENDER.exec(from) ?? [];
    if ('links' in item || kind === undefined) continue;
    for (const [i, of] of stores.splits.entries()) {
      if (of !== partition || i < Number(known)) continue;
      // Nobody has sent it to those into which the new partition was split since.
      const sender = `${kind}-${i + 1}-${rest}-${senderOf(partition)}`;
      await stores.inboxOf(begun + i).append(sender, [{ number, item }]);
      receivers.add(begun + i);
    }
  }
  if (receivers.size > 0) await onHandedOver(receivers);
}

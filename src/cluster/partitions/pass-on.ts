import { randomUUID } from 'node:crypto';
import { senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import type { ReceivedRow } from '../../core/ports/partitions/forwarding.ts';
import type { PartitionStores } from './partition-stores.ts';

/** A new name for a process that sends seeds or orders; the name says how many splits the process knows of. */
export const senderKnowing = (kind: string, splits: readonly number[]): string =>
  `${kind}-${splits.length}-${randomUUID()}`;

const SENDER = /^([a-z]+)-(\d+)-(.*)$/;

export interface PassOnDeps {
  readonly partition: number;
  readonly stores: Pick<PartitionStores, 'partitions' | 'splits' | 'placeOf' | 'inboxOf'>;
  /** Wants turns for partitions that were sent something. */
  onHandedOver(partitions: Iterable<number>): Promise<void>;
}

/**
 * Some processes send seeds and orders without knowing that this partition was split. They are passed on to the new
 * partition; each of the two takes what is its own. Links need no such care: those of other partitions are forwarded as
 * if they were found here. To be called before the rows are removed. What is passed on twice changes nothing, or is
 * carried out twice.
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
      // Nobody has sent it to the partitions into which the new one was split since.
      const sender = `${kind}-${i + 1}-${rest}-${senderOf(partition)}`;
      await stores.inboxOf(begun + i).append(sender, [{ number, item }]);
      receivers.add(begun + i);
    }
  }
  if (receivers.size > 0) await onHandedOver(receivers);
}

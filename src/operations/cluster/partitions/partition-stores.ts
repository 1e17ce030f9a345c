import type { OrderedRows } from '../../../ports/ordered-rows.ts';
import type { InboxOfOther } from '../../../ports/partitions/forwarding.ts';

/** The crawl dbs of the partitions of one crawl, for the workers that share them. */
export interface PartitionStores {
  /** A power of two, fixed when the crawl begins. */
  readonly partitions: number;
  /** Takes the lease of a partition. Rejects with `db-locked` while another worker has it. */
  hold(partition: number, signal: AbortSignal): Promise<PartitionHold>;
  /** Rows to read, beside the holder; to be closed. */
  look(partition: number): OrderedRows;
  inboxOf(partition: number): InboxOfOther;
}

/** A partition that this process holds. */
export interface PartitionHold {
  /** A batch is refused with `lease-lost` once another process has the lease. */
  readonly rows: OrderedRows;
  /** Whether no other process can have the lease yet. To be asked before each request to a host of the partition. */
  isHeld(): boolean;
  /** Aborts when the lease is known to be lost. */
  readonly lost: AbortSignal;
  /** To be called after the rows were closed. */
  release(): Promise<void>;
}

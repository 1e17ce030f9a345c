import type { PartitionBy } from '../../core/domain/url/hash/partition.ts';
import type { OrderedRows } from '../../core/ports/ordered-rows.ts';
import type { InboxOfOther } from '../../core/ports/partitions/forwarding.ts';

/** The crawl dbs of the partitions of one crawl, for the workers that share them. */
export interface PartitionStores {
  readonly partitions: number;
  /** As in `PartitionShape`. */
  readonly splits: readonly number[];
  /** The unit that lies in one partition as a whole. */
  readonly by: PartitionBy;
  /** The partition of a host (`host[:port]`). */
  placeOf(host: string): number;
  /** Folder of a partition; that of the crawl if it has only one. */
  dirOf(partition: number): string;
  /**
   * Takes the lease of a partition. Rejects with `db-locked` while another worker has it, and with `config-invalid` if
   * the store has lost its rows.
   */
  hold(partition: number, signal: AbortSignal): Promise<PartitionHold>;
  /** Rows for reading, beside the holder; to be closed. */
  look(partition: number): OrderedRows;
  inboxOf(partition: number): InboxOfOther;
  /**
   * Changes a text that all partitions share, while no other process changes it: wholly or not at all. Rejects with
   * `db-locked` if others change it for too long.
   */
  changeShared<Answer>(key: string, change: (text: string | null) => SharedChange<Answer>): Promise<Answer>;
}

export interface SharedChange<Answer> {
  /** `null`: unchanged. */
  readonly text: string | null;
  readonly answer: Answer;
}

/** A partition that this process holds. */
export interface PartitionHold {
  /** Fencing token of the lease; each holder has a greater one than those before. */
  readonly token: number;
  /** A batch is refused with `lease-lost` once another process has the lease. */
  readonly rows: OrderedRows;
  /** Whether no other process can have the lease yet. To be checked before each request to a host of the partition. */
  isHeld(): boolean;
  /** Aborts when the lease is known to be lost. */
  readonly lost: AbortSignal;
  /** To be called once the crawl db is open: from then on it is an error if its rows are gone. */
  begun(): Promise<void>;
  /** To be called after the rows are closed. */
  release(): Promise<void>;
}

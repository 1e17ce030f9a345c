// core/ports/partitions/: what the partitions of a crawl say to each other.

import type {
  ForwardedLink,
  InboxItem,
  InboxRow,
  OutboxRow,
  OutgoingLink,
} from '../../domain/crawl/discovery/forwarded-link.ts';

/**
 * Links between the partitions of a crawl, each of which has a crawl db of its own. What an update finds for another
 * partition goes into the outbox, in the batch of that update. The holder hands it over: it appends the rows to the
 * inbox of the other partition, and removes them from the outbox once they are stored there. The holder of the receiver
 * applies them, and notes the last number in the same batch; rows up to it are known, however often they come. So a
 * crash may repeat or delay work but neither loses nor doubles a link, and no batch spans two partitions.
 */
export interface Forwarding {
  /** Rows for a partition, or for all, by rising numbers of each. A consistent snapshot. */
  outbox(query?: { readonly to?: number; readonly limit?: number }): AsyncIterable<OutboxRow>;
  /**
   * Rows of the inbox, by rising numbers of each sender; `isKnown`: it was applied before, and is to be removed only. A
   * consistent snapshot.
   */
  inbox(limit?: number): AsyncIterable<ReceivedRow>;
  /** Forwarded links that wait for the share of their family, in the order of the URLs asked. */
  waiting(urls: readonly string[]): Promise<(ForwardedLink | undefined)[]>;
  /** All such links, or those of one host, in key order. A consistent snapshot. */
  scanWaiting(host?: string): AsyncIterable<ForwardedLink>;
  /** The last number given in the outbox, and the last one applied of each sender; for exports. */
  marks(): Promise<ForwardingMarks>;
}

export interface ReceivedRow extends InboxRow {
  readonly isKnown: boolean;
}

export interface ForwardingMarks {
  /** 0: none was given. */
  readonly lastSent: number;
  readonly received: readonly { readonly from: string; readonly through: number }[];
}

/** The part of a batch that concerns other partitions; applied in the order of the fields. */
export interface ForwardingBatch {
  /** Links for other partitions; the parcels of each batch (`parcelsOf`) get the next numbers of the outbox. */
  readonly forward?: readonly OutgoingLink[];
  /** Rows of the outbox that were handed over. */
  readonly handedOver?: readonly Omit<OutboxRow, 'links'>[];
  /** Rows of the inbox that were applied by this batch or before. */
  readonly received?: readonly Omit<InboxRow, 'item'>[];
  /** Forwarded links that wait for the share of their family; one for each URL. */
  readonly wait?: readonly ForwardedLink[];
  /** URLs that wait no more. */
  readonly waited?: readonly string[];
  /** Rows of an export, as they were. */
  readonly restore?: {
    readonly outbox?: readonly OutboxRow[];
    readonly inbox?: readonly InboxRow[];
    readonly marks?: ForwardingMarks;
  };
}

/** The inbox of a partition for all others. */
export interface InboxOfOther {
  /**
   * Adds rows under the numbers of their sender, durably; a row that is there stays as it is. Needs no lease, and runs
   * beside the holder.
   */
  append(from: string, rows: readonly { readonly number: number; readonly item: InboxItem }[]): Promise<void>;
}

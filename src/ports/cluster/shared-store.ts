// ports/cluster/: what several processes share.
import type { ErrorCode } from '../../domain/errors.ts';
import type { OrderedRows } from '../ordered-rows.ts';
import type { Turns } from './turns.ts';

/**
 * A server that holds rows under names, for several processes. A name is that of a crawl db: the
 * rows, an id, and one write lease with its fencing token. Names know nothing of each other, so they may lie on
 * different nodes. Calls reject with `CrawlError`: one of {@link STORE_AWAY} while the server does not answer,
 * `config-invalid` where it does not let this process in, `disk-full`, `db-readonly`.
 */
export interface SharedStore {
  /** Name of the product in messages. */
  readonly product: string;
  /** The id of the rows of a name, unlike that of any others; set to `proposed` where there is none. `null`: none. */
  id(name: string, proposed?: string): Promise<string | null>;
  /** Whether a name with an id still has its rows. */
  isWhole(name: string): Promise<boolean>;
  /** What the server may do to the rows of a name, as the beginning of a sentence; `null`: nothing. */
  danger(name: string): Promise<string | null>;
  /** Time of the server of a name, ms since the epoch. */
  now(name: string): Promise<number>;
  readonly leases: StoreLeases;
  /**
   * The rows of a name. A batch is written whole, or not at all, and only while `token` is the newest one of the name:
   * else it rejects with `lease-lost`.
   * @param token of the lease of the name; `null`: to read
   */
  rows(name: string, token: string | null): StoredRows;
  /** Puts rows without a lease, beside the holder of the name: whole or not at all. */
  append(name: string, rows: readonly { readonly key: string; readonly value: Buffer }[]): Promise<void>;
  /**
   * The turns of the partitions of a crawl, to be closed before the store.
   * @param names of the crawl dbs of the partitions, by number
   * @param leaseMs of the write leases on them
   */
  turns(names: readonly string[], leaseMs: number): Turns;
  /** Ends the connections. Rows are to be closed before. */
  close(): Promise<void>;
}

export interface StoredRows extends OrderedRows {
  isEmpty(): Promise<boolean>;
}

/**
 * Leases by the clock of the server, so those of the processes may differ. Each holder gets a token one higher than the
 * last, a fencing token (M. Kleppmann, "How to do distributed locking", 2016), which goes with every batch. So a lease
 * only keeps writers apart, and the token protects the rows whatever clocks and pauses do.
 */
export interface StoreLeases {
  /** Takes a lease that nobody holds; otherwise says who does. */
  take(
    name: string,
    holder: string,
    leaseMs: number,
  ): Promise<{ readonly token: string } | { readonly holder: string }>;
  /** Extends a lease, from now. False: another one has it, or none. */
  keep(name: string, holder: string, leaseMs: number): Promise<boolean>;
  drop(name: string, holder: string): Promise<void>;
}

/** Codes of errors after which a call may succeed later, when the server answers again. */
export const STORE_AWAY: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['redis-unreachable', 'postgres-unreachable']);

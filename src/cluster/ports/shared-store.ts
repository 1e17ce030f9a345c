// cluster/ports/: what several processes share.

import { CrawlError, type ErrorCode } from '../../core/domain/errors.ts';
import type { OrderedRows } from '../../core/ports/ordered-rows.ts';
import type { Turns } from './turns.ts';
import type { CrawlWorkers } from './workers.ts';

/**
 * A server that holds rows under names, for several processes. A name is that of a crawl db: it has the rows, an id,
 * and one write lease with its fencing token. Names are independent of each other, so they may lie on different nodes.
 * Calls reject with `CrawlError`: one of {@link STORE_AWAY} while the server does not answer, `config-invalid` if it
 * does not let this process in; a {@link StoreRefusal} if it takes no writes; `db-moved` (a `MovedError`) if the rows
 * of the name lie elsewhere.
 */
export interface SharedStore {
  /** Name of the product in messages. */
  readonly product: string;
  /** The id of the rows of a name, unlike that of any others. Set to `proposed` if there is none. `null`: none. */
  id(name: string, proposed?: string): Promise<string | null>;
  /** Whether a name with an id still has its rows. */
  isWhole(name: string): Promise<boolean>;
  /** What the server may do to the rows of a name, as the start of a sentence; `null`: nothing. */
  danger(name: string): Promise<string | null>;
  /** Time of the server that has a name, ms since the epoch. */
  now(name: string): Promise<number>;
  readonly leases: StoreLeases;
  /**
   * The rows of a name. A batch is written as a whole or not at all, and only while `token` is the newest one of the
   * name: otherwise it rejects with `lease-lost`.
   * @param token of the lease of the name; `null`: read-only
   */
  rows(name: string, token: string | null): StoredRows;
  /** Puts rows without a lease, beside the holder of the name: all of them or none. */
  append(name: string, rows: readonly { readonly key: string; readonly value: Buffer }[]): Promise<void>;
  /**
   * The turns of the partitions of a crawl, to be closed before the store.
   * @param names of the crawl dbs of the partitions, by number
   * @param leaseMs of the write leases on them
   * @param worker its id; default: a new one
   */
  turns(names: readonly string[], leaseMs: number, worker?: string): Turns;
  /** The workers and partitions of a crawl; `null`: the store has no crawl of this name. Read-only. */
  workers(name: string): Promise<CrawlWorkers | null>;
  /** Ends the connections. Rows must be closed before. */
  close(): Promise<void>;
}

/** One of the servers over which the names of a crawl are spread. */
export interface ServerStore extends SharedStore {
  readonly moves: StoreMoves;
  /** Space that the rows of a name take, bytes. */
  sizeOf(name: string): Promise<number>;
}

export interface StoredRows extends OrderedRows {
  isEmpty(): Promise<boolean>;
}

/**
 * Leases by the clock of the server, so the clocks of the processes may differ. Each holder gets a token one higher
 * than the last, a fencing token (M. Kleppmann, "How to do distributed locking", 2016), which goes with every batch. So
 * a lease only keeps writers apart; the token protects the rows, whatever clocks and pauses do.
 */
export interface StoreLeases {
  /** Takes a lease that is free; otherwise returns its holder. */
  take(
    name: string,
    holder: string,
    leaseMs: number,
  ): Promise<{ readonly token: string } | { readonly holder: string }>;
  /** Extends a lease, counted from now. False: another process has it, or nobody. */
  keep(name: string, holder: string, leaseMs: number): Promise<boolean>;
  drop(name: string, holder: string): Promise<void>;
}

/**
 * Where the rows of a name are. `nowhere`: the name is not known; `here`; `arriving`: on their way to this server,
 * where nobody else sees them; or on another server.
 */
export type Whereabouts = 'nowhere' | 'here' | 'arriving' | MovedTo;

export interface MovedTo {
  /** The other server, by the name that its callers use. */
  readonly to: string;
  /** Token under which they arrived there. */
  readonly token: string;
}

/**
 * Moves the rows of a name from one server to another. They belong to the old server until `leave` has resolved there,
 * and to the new one from then on. Any process that meets the mark that `leave` leaves behind may call `settle`.
 */
export interface StoreMoves {
  whereabouts(name: string): Promise<Whereabouts>;
  /**
   * Makes an empty place for rows with this id. It takes batches under the token that this resolves with, which is
   * greater than `token`; nobody else sees them. Anything left by an earlier call is removed. Rejects with
   * `config-invalid` if the server already has rows of that name.
   * @param from server that has the rows
   */
  receive(
    name: string,
    rows: { readonly id: string | null; readonly token: string; readonly from: string },
  ): Promise<string>;
  /**
   * Ends the time of a name on this server, wholly or not at all. Rejects with `lease-lost` if `token` is not the
   * newest.
   */
  leave(name: string, token: string, how: Leaving): Promise<void>;
  /** Shows rows that have arrived under this token to all, and wants a turn for them. Repeating it changes nothing. */
  settle(name: string, token: string): Promise<void>;
  /** Removes rows that were left behind, or that were to arrive; from then on the name is on the server of `to`. */
  forget(name: string, to: MovedTo): Promise<void>;
  /**
   * Replaces the rows of a name by those of `by`, which has received them, wholly or not at all; then `by` is nowhere.
   * Rejects with `lease-lost` if `token` is not the newest; afterwards it no longer is. Rejects with `db-locked` while
   * the old rows are read.
   * @param token of the lease of `name`
   */
  replace(name: string, token: string, by: string, last: LastAppended): Promise<void>;
}

/** Rows that others append. They are handed over at the end, while nobody can append. */
export interface LastAppended {
  /** Their keys. */
  readonly range: { readonly gte: string; readonly lt: string };
  appended(rows: readonly { readonly key: string; readonly value: Buffer }[]): Promise<void>;
}

export type Leaving = MovedTo & LastAppended;

/**
 * Codes of errors after which a call may succeed later: once the server answers again, or the map of servers is read.
 */
export const STORE_AWAY: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['redis-unreachable', 'postgres-unreachable', 'db-moved'] as const),
]);

/**
 * The server takes no writes at the moment (`disk-full`, `db-readonly`): a fault of the server, not of this process.
 */
export class StoreRefusal extends CrawlError {}

/** Whether to wait for a server: it does not answer, or takes no writes. */
export const isAway = (error: unknown): boolean =>
  error instanceof StoreRefusal || (error instanceof CrawlError && STORE_AWAY.has(error.code));

// store/rows/writing/: batches: records with all rows that follow from them, and the change feed.

import type { FeedEnds } from '../../../core/domain/crawl/change/change-feed.ts';
import { CrawlError } from '../../../core/domain/errors.ts';
import { Lru } from '../../../core/domain/lru.ts';
import type { CrawlDbBatch, CrawlDbCounters } from '../../../core/ports/crawl-db.ts';
import type { ForwardingBatch } from '../../../core/ports/partitions/forwarding.ts';
import { voidShares } from '../codecs/family-rows.ts';
import { COUNTERS_KEY, hostKey, ROW, rowRange } from '../codecs/keys.ts';
import {
  decodeCounters,
  decodeHost,
  encodeCounters,
  encodeHost,
  NO_COUNTERS,
  type StoredCounters,
  type StoredHost,
} from '../codecs/row-codecs.ts';
import { IMPORT_CUT_SHORT, stageImporting } from '../format.ts';
import { lastSent, stageForwarding } from '../forwarding/forwarding-rows.ts';
import { type Cells, cellKey, countersView, encodeCount, readCells } from '../indexes/tallies.ts';
import {
  type NewUrlWatcher,
  type RecordWatcher,
  type RowSink,
  type Rows,
  readMany,
  readRange,
  rowFault,
} from '../rows.ts';
import { readEnds, stageFeed } from './change-log.ts';
import { readsOf, StagedBatch } from './staged-batch.ts';

/** Host rows kept between batches; about half a kilobyte each. */
const CACHED_HOSTS = 8_192;
/** Most characters of a fact that is kept in memory. */
const KEPT_FACT = 65_536;

/**
 * Writes batches one after the other, in the order of the calls. Counters in memory change only after the storage has
 * taken the batch. A failed write may still reach the disk, so the state is unknown after a failure. The writer then
 * refuses all further batches until the db is opened again, which reads the true state.
 */
export class BatchWriter {
  readonly #rows: Rows;
  /** `null`: known to have no row. */
  readonly #hosts = new Lru<StoredHost | null>({ entries: CACHED_HOSTS });
  #counters: StoredCounters;
  /** Read on first use; `null`: a long fact, which is read each time. */
  #facts: Promise<Map<string, string | null>> | null = null;
  /** Read on first use. */
  #spread: Promise<Cells> | null = null;
  #feed: FeedEnds;
  /** The last number of the outbox; read on first use. */
  #lastSent: number | null = null;
  #isImporting = false;
  #last: Promise<void> = Promise.resolve();
  #failure: CrawlError | null = null;
  /** Set once, before the first write. */
  newUrls: NewUrlWatcher | null = null;
  /** As `newUrls`. */
  records: RecordWatcher | null = null;

  private constructor(rows: Rows, counters: StoredCounters, feed: FeedEnds) {
    this.#rows = rows;
    this.#counters = counters;
    this.#feed = feed;
  }

  static async open(rows: Rows): Promise<BatchWriter> {
    return new BatchWriter(rows, await storedCounters(rows), await readEnds(rows));
  }

  /** Reads the counters again if another process writes. */
  async refresh(): Promise<void> {
    this.#counters = await storedCounters(this.#rows);
    this.#feed = await readEnds(this.#rows);
    this.#spread = null;
  }

  counters(): CrawlDbCounters {
    return countersView(this.#counters);
  }

  feedEnds(): FeedEnds {
    return this.#feed;
  }

  write(batch: CrawlDbBatch, durable: boolean): Promise<void> {
    const written = this.#last.then(async () => {
      try {
        await this.#apply(batch, durable);
      } catch (error) {
        throw rowFault(error);
      }
    });
    this.#last = written.catch(() => undefined);
    return written;
  }

  /** Runs a task in turn with the batches. */
  exclusive<Value>(task: () => Promise<Value>): Promise<Value> {
    const done = this.#last.then(task);
    this.#last = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  /** Resolves when all batches so far are written or refused. */
  settled(): Promise<void> {
    return this.#last;
  }

  /** Counts by depth, type, time and so on, as of the last batch; read-only. */
  spread(): Promise<Cells> {
    this.#spread ??= readCells(this.#rows);
    return this.#spread;
  }

  /** Rows in the order of `hosts`; `undefined` for a host without one. */
  async hostRows(hosts: readonly string[]): Promise<(StoredHost | undefined)[]> {
    const cached = hosts.map((host) => this.#hosts.get(host));
    const missing = hosts.filter((_, i) => cached[i] === undefined);
    const read = await readMany(this.#rows, missing.map(hostKey));
    let next = 0;
    return hosts.map((host, i) => {
      const row = cached[i];
      if (row !== undefined) return row ?? undefined;
      const bytes = read[next++];
      return bytes === undefined ? undefined : decodeHost(host, bytes);
    });
  }

  /** The value of a fact. */
  async fact(name: string): Promise<string | undefined> {
    // After a failure it is not known which value is stored.
    const value = this.#failure === null ? (await this.#knownFacts()).get(name) : null;
    return value === null ? storedFact(this.#rows, name) : value;
  }

  async #knownFacts(): Promise<Map<string, string | null>> {
    this.#facts ??= storedFacts(this.#rows);
    const facts = this.#facts;
    return facts.catch((error: unknown) => {
      if (this.#facts === facts) this.#facts = null;
      throw error;
    });
  }

  async #apply(batch: CrawlDbBatch, durable: boolean): Promise<void> {
    if (this.#failure !== null) {
      const { code, message } = this.#failure;
      throw new CrawlError(code, `not written, since an earlier write failed; open the crawl db again: ${message}`, {
        cause: this.#failure,
      });
    }
    if (this.#isImporting && batch.isImporting === undefined) throw new CrawlError('usage-invalid', IMPORT_CUT_SHORT);
    const reads = await readsOf(this.#rows, batch, this.#counters.leased);
    const native = this.#rows.batch();
    try {
      const staged = new StagedBatch(this.#rows, native, reads.leases);
      await staged.stage(batch, reads);
      if (staged.newUrls.length > 0) await this.newUrls?.stage(native, staged.newUrls);
      const onWritten = staged.changes.length > 0 ? await this.records?.stage(native, staged.changes) : undefined;
      if (batch.isImporting !== undefined) stageImporting(native, batch.isImporting);
      const touched = staged.tallies.hosts();
      const rows = await this.hostRows(touched);
      const { counters, hosts } = staged.tallies.apply(
        this.#counters,
        new Map(touched.map((host, i) => [host, rows[i]])),
      );
      for (const [host, row] of hosts) {
        if (row === null) native.del(hostKey(host));
        else native.put(hostKey(host), encodeHost(row));
      }
      for (const key of await voidShares(this.#rows, batch.hostShares ?? [], hosts)) native.del(key);
      native.put(COUNTERS_KEY, encodeCounters(counters));
      const spread = await this.spread();
      const cells = staged.spread.after(spread);
      for (const [cell, count] of cells) {
        if (count === 0) native.del(cellKey(cell));
        else native.put(cellKey(cell), encodeCount(count));
      }
      const feed = batch.feed === undefined ? this.#feed : await stageFeed(this.#rows, native, this.#feed, batch.feed);
      const sent = batch.forwarding === undefined ? null : await this.#stageForwarding(native, batch.forwarding);
      await this.#commit(() => native.write({ sync: durable }));
      onWritten?.();
      const facts = await this.#facts?.catch(() => null);
      for (const [name, value] of Object.entries(batch.meta ?? {})) facts?.set(name, keptFact(value));
      this.#counters = counters;
      this.#feed = feed;
      this.#lastSent = sent ?? this.#lastSent;
      this.#isImporting = batch.isImporting ?? false;
      for (const [cell, count] of cells) {
        if (count === 0) spread.delete(cell);
        else spread.set(cell, count);
      }
      for (const [host, row] of hosts) this.#hosts.set(host, row);
    } finally {
      await native.close();
    }
  }

  async #stageForwarding(sink: RowSink, batch: ForwardingBatch): Promise<number> {
    return stageForwarding(sink, this.#lastSent ?? (await lastSent(this.#rows)), batch);
  }

  async #commit(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      const failure = rowFault(error);
      if (failure instanceof CrawlError) this.#failure = failure;
      throw failure;
    }
  }
}

const keptFact = (value: string): string | null => (value.length > KEPT_FACT ? null : value);

async function storedFacts(rows: Rows): Promise<Map<string, string | null>> {
  const facts = new Map<string, string | null>();
  for await (const batch of readRange(rows, rowRange(ROW.meta))) {
    for (const [key, bytes] of batch) facts.set(key.slice(ROW.meta.length), keptFact(bytes.toString()));
  }
  return facts;
}

/** The value of a fact as it is stored. */
export async function storedFact(rows: Rows, name: string): Promise<string | undefined> {
  return (await readMany(rows, [ROW.meta + name]))[0]?.toString();
}

async function storedCounters(rows: Rows): Promise<StoredCounters> {
  const [bytes] = await readMany(rows, [COUNTERS_KEY]);
  return bytes === undefined ? NO_COUNTERS : decodeCounters(bytes);
}

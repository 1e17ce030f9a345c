import type { CrawlDatum } from '../../../core/domain/crawl/states/datum.ts';
import { urlKey } from '../../../core/domain/url/canonical/url-key.ts';
import type { DomainFamilies } from '../../../core/domain/url/families/stored-families.ts';
import type { CrawlDbBatch, CrawlDbPut, SegmentRow, StoredLinks } from '../../../core/ports/crawl-db.ts';
import { encodeFamilies, encodeShares, familiesKey, sharesKey } from '../codecs/family-rows.ts';
import { dueKey, FORMAT_VERSION_FACT, ROW, recordKey } from '../codecs/keys.ts';
import { decodeRecord, encodeRecord } from '../codecs/record-codec.ts';
import {
  decodeDue,
  decodeLease,
  encodeDue,
  encodeLease,
  encodeLinks,
  encodeSegment,
  isSameDue,
  type LeaseRow,
} from '../codecs/row-codecs.ts';
import { indexRowsOf } from '../indexes/index-rows.ts';
import { type CountedDue, countedDue, SpreadChange, TallyChange } from '../indexes/tallies.ts';
import { KEY_ONLY, type RecordChange, type RowSink, type Rows, readMany } from '../rows.ts';

/** Rows that must be read before a batch can be staged. */
export interface StagedReads {
  /** Leases by URL key, of leased URLs only. */
  readonly leases: Map<string, LeaseRow>;
  /** Stored records of the URLs to be deleted, in their order. */
  readonly deleted: readonly (CrawlDatum | null)[];
}

/** Entries leased at a time: a fetch list may have a hundred thousand. */
const LEASE_WINDOW = 5_000;

/** @param leased number of leases in the db: if there are none, none is looked up */
export async function readsOf(rows: Rows, batch: CrawlDbBatch, leased: number): Promise<StagedReads> {
  const { puts = [], deletes = [], release } = batch;
  const asked = new Set<string>();
  if (leased > 0) {
    for (const { datum, previous, leasedBy } of puts) {
      // A new record cannot be leased.
      if (previous !== null || leasedBy !== undefined) asked.add(datum.url);
    }
    for (const { url } of deletes) asked.add(url);
    for (const url of release?.urls ?? []) asked.add(url);
  }
  const keys = [...asked].map(urlKey);
  const leases = new Map<string, LeaseRow>();
  const found = await readMany(
    rows,
    keys.map((key) => ROW.lease + key),
  );
  for (const [i, bytes] of found.entries()) {
    if (bytes !== undefined) leases.set(keys[i]!, decodeLease(keys[i]!, bytes));
  }
  const records = await readMany(
    rows,
    deletes.map(({ url }) => recordKey(url)),
  );
  return {
    leases,
    deleted: records.map((bytes, i) => (bytes === undefined ? null : decodeRecord(deletes[i]!.url, bytes))),
  };
}

/**
 * Turns a batch into rows, in the order puts, deletes, links, families, shares, facts, leases, releases, segments.
 * Invariant: a record with a `nextFetchAt` has either a due row or a lease; a record without one has no due row.
 */
export class StagedBatch {
  readonly tallies = new TallyChange();
  readonly spread = new SpreadChange();
  /** URLs of puts that had no record before. */
  readonly newUrls: string[] = [];
  /** Records put or deleted, in their order. */
  readonly changes: RecordChange[] = [];
  readonly #rows: Rows;
  readonly #sink: RowSink;
  readonly #leases: Map<string, LeaseRow>;
  /** Records that this batch has changed so far; `null`: deleted. */
  readonly #records = new Map<string, CrawlDatum | null>();
  /** Due rows that a batch with a lease has put or removed before that; `null`: what changes is no longer noted. */
  #due: Map<string, Buffer | null> | null = null;

  constructor(rows: Rows, sink: RowSink, leases: Map<string, LeaseRow>) {
    this.#rows = rows;
    this.#sink = sink;
    this.#leases = leases;
  }

  async stage(batch: CrawlDbBatch, reads: StagedReads): Promise<void> {
    if (batch.lease !== undefined) this.#due = new Map();
    for (const put of batch.puts ?? []) this.#put(put);
    for (const [i, datum] of (batch.deletes ?? []).entries()) this.#delete(datum.url, reads.deleted[i] ?? null);
    for (const links of batch.links ?? []) this.#putLinks(links);
    for (const families of batch.linkFamilies ?? []) this.#putFamilies(families);
    for (const shares of batch.hostShares ?? []) this.#sink.put(sharesKey(shares), encodeShares(shares));
    for (const { host, facts } of batch.hostFacts ?? []) this.tallies.setFacts(host, facts);
    if (batch.lease !== undefined) await this.#leaseAll(batch.lease, batch.release !== undefined);
    for (const url of batch.release?.urls ?? []) this.#release(batch.release!.segment, url);
    for (const row of batch.segments ?? []) this.#putSegment(row);
    for (const id of batch.removeSegments ?? []) this.#sink.del(ROW.segment + id);
    for (const [name, value] of Object.entries(batch.meta ?? {})) this.#putMeta(name, value);
  }

  #put({ datum, previous, leasedBy }: CrawlDbPut): void {
    const key = urlKey(datum.url);
    const staged = this.#records.get(key);
    const before = staged === undefined ? previous : staged;
    this.#records.set(key, datum);
    if (before === null) this.newUrls.push(datum.url);
    this.changes.push({ before, after: datum });
    this.#sink.put(ROW.record + key, encodeRecord(datum));
    this.#moveIndexes(key, before, datum);
    this.tallies.move(datum.url, before?.state ?? null, datum.state);
    const lease = this.#leases.get(key);
    if (lease !== undefined && lease.segment !== leasedBy) {
      if (before === null || !isSameDue(before, datum)) this.#putLease(key, { ...lease, ...dueOf(datum) });
      return;
    }
    if (lease !== undefined) this.#dropLease(key);
    else if (before !== null) {
      if (isSameDue(before, datum)) return;
      this.#dropDue(countedDue(before), key);
    }
    const place = countedDue(datum);
    if (place !== null) this.#putDue(place, key, encodeDue(datum));
  }

  #delete(url: string, stored: CrawlDatum | null): void {
    const key = urlKey(url);
    const staged = this.#records.get(key);
    const before = staged === undefined ? stored : staged;
    if (before === null) return;
    this.#records.set(key, null);
    this.changes.push({ before, after: null });
    this.#sink.del(ROW.record + key);
    this.#sink.del(ROW.links + key);
    if (this.#leases.has(key)) this.#dropLease(key);
    else this.#dropDue(countedDue(before), key);
    this.#moveIndexes(key, before, null);
    this.tallies.move(url, before.state, null);
  }

  #moveIndexes(key: string, before: CrawlDatum | null, after: CrawlDatum | null): void {
    this.spread.move(before, after);
    const old = before === null ? [] : indexRowsOf(before, key);
    const current = after === null ? [] : indexRowsOf(after, key);
    for (const row of old) if (!current.includes(row)) this.#sink.del(row);
    for (const row of current) if (!old.includes(row)) this.#sink.put(row, KEY_ONLY);
  }

  #putLinks({ url, targets }: StoredLinks): void {
    const key = ROW.links + urlKey(url);
    if (targets.length === 0) this.#sink.del(key);
    else this.#sink.put(key, encodeLinks(url, targets));
  }

  #putFamilies(families: DomainFamilies): void {
    const key = familiesKey(families.domain);
    if (families.families.length === 0) this.#sink.del(key);
    else this.#sink.put(key, encodeFamilies(families));
  }

  /**
   * Reads the due rows of a window, and stages its leases. Of these nothing is held beyond the window but the URLs: the
   * list of a round is long.
   * @param isReleasing whether the batch also releases, and so needs to know what it has leased
   */
  async #leaseAll({ segment, entries }: NonNullable<CrawlDbBatch['lease']>, isReleasing: boolean): Promise<void> {
    const changed = this.#due;
    this.#due = null;
    const leased = new Set<string>();
    for (let start = 0; start < entries.length; start += LEASE_WINDOW) {
      const window = entries.slice(start, start + LEASE_WINDOW);
      const keys = window.map(({ url }) => urlKey(url));
      const rows = window.map((entry, i) => dueKey(entry, keys[i]!));
      const stored = await readMany(this.#rows, rows);
      for (const [i, entry] of window.entries()) {
        const staged = changed?.get(rows[i]!);
        const due = staged === undefined ? stored[i] : staged;
        // Leased by another segment, or now due at another time.
        if (due === undefined || due === null || leased.has(entry.url)) continue;
        leased.add(entry.url);
        const key = keys[i]!;
        const lease = { segment, dueAt: entry.dueAt, due };
        this.#dropDue(decodeDue(entry.url, entry.dueAt, due), key);
        this.#sink.put(ROW.lease + key, encodeLease(lease));
        if (isReleasing) this.#leases.set(key, lease);
        this.tallies.lease(1);
      }
    }
  }

  #release(segment: string, url: string): void {
    const key = urlKey(url);
    const lease = this.#leases.get(key);
    if (lease === undefined || lease.segment !== segment) return;
    this.#dropLease(key);
    if (lease.dueAt === null) return;
    this.#putDue(decodeDue(url, lease.dueAt, lease.due), key, Buffer.from(lease.due));
  }

  #putSegment(row: SegmentRow): void {
    this.#sink.put(ROW.segment + row.id, encodeSegment(row));
  }

  #putMeta(name: string, value: string): void {
    if (name === FORMAT_VERSION_FACT) throw new TypeError(`the fact "${name}" is kept by the crawl db itself`);
    this.#sink.put(ROW.meta + name, Buffer.from(value));
  }

  #putLease(key: string, lease: LeaseRow): void {
    this.#leases.set(key, lease);
    this.#sink.put(ROW.lease + key, encodeLease(lease));
  }

  #dropLease(key: string): void {
    this.#leases.delete(key);
    this.#sink.del(ROW.lease + key);
    this.tallies.lease(-1);
  }

  #putDue(place: CountedDue, key: string, due: Buffer): void {
    const row = dueKey(place, key);
    this.#due?.set(row, due);
    this.#sink.put(row, due);
    this.spread.due(place, 1);
  }

  #dropDue(place: CountedDue | null, key: string): void {
    if (place === null) return;
    const row = dueKey(place, key);
    this.#due?.set(row, null);
    this.#sink.del(row);
    this.spread.due(place, -1);
  }
}

function dueOf(datum: CrawlDatum): { dueAt: number | null; due: Buffer } {
  return { dueAt: datum.nextFetchAt, due: encodeDue(datum) };
}

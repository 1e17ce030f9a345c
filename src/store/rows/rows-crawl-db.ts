import type { ChangeRow, FeedEnds } from '../../core/domain/crawl/change/change-feed.ts';
import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { hostRange, type KeyRange } from '../../core/domain/url/canonical/url-key.ts';
import type { HostShares } from '../../core/domain/url/families/family-shares.ts';
import type { DomainFamilies } from '../../core/domain/url/families/stored-families.ts';
import type { ChangeQuery } from '../../core/ports/change-feed.ts';
import type {
  ChangingQuery,
  CrawlDb,
  CrawlDbBatch,
  CrawlDbCounters,
  DueEntry,
  DueOfGroupQuery,
  DueQuery,
  HostRow,
  IndexName,
  Lease,
  ReadMeter,
  ScanQuery,
  SegmentRow,
  Spread,
  StoredLinks,
} from '../../core/ports/crawl-db.ts';
import type { FingerprintTables } from '../../core/ports/near.ts';
import type { Forwarding } from '../../core/ports/partitions/forwarding.ts';
import type { SeenFilter } from '../../core/ports/seen-filter.ts';
import { readFamilies, readShares, scanFamilies } from './codecs/family-rows.ts';
import {
  dueNewRange,
  dueRange,
  FORMAT_VERSION_FACT,
  hostOfKey,
  leaseKey,
  linksKey,
  parseDueKey,
  ROW,
  recordKey,
  rowRange,
  urlOfRow,
} from './codecs/keys.ts';
import { decodeRecord } from './codecs/record-codec.ts';
import { decodeHost, decodeLinks, decodeSegment, dueEntryOf, leaseOf } from './codecs/row-codecs.ts';
import { forwardingOn } from './forwarding/forwarding-rows.ts';
import { dueOfGroup, mostChanging, recordsAtPlaces, recordsOfMarks, scanRange } from './indexes/find-rows.ts';
import { isIndexedState, markRange } from './indexes/index-rows.ts';
import { hostView, spreadView } from './indexes/tallies.ts';
import { countRange, existMany, type Rows, readMany, readRange } from './rows.ts';
import { type BatchWriter, storedFact } from './writing/batch-writer.ts';
import { readChanges } from './writing/change-log.ts';

export interface CrawlDbParts {
  readonly rows: Rows;
  readonly writer: BatchWriter;
  /** Called while the lock is still held. */
  readonly beforeUnlock: () => Promise<void>;
  /** Another process may write meanwhile, so state in memory is read again for each call. */
  readonly isReadOnly: boolean;
  /** Filter of all URLs of the db; `null`: opened without. */
  readonly seenFilter: SeenFilter | null;
  /** Tables of signatures; `null`: opened without. */
  readonly fingerprints: FingerprintTables | null;
}

/** The crawl db on rows of any storage; made by `openCrawlDbOn`. */
export class RowsCrawlDb implements CrawlDb {
  readonly #rows: Rows;
  readonly #writer: BatchWriter;
  readonly #beforeUnlock: () => Promise<void>;
  readonly #isReadOnly: boolean;
  #closing: Promise<void> | null = null;
  readonly seenFilter: SeenFilter | null;
  readonly fingerprints: FingerprintTables | null;
  readonly forwarding: Forwarding;
  readonly dueOfGroup = (query: DueOfGroupQuery): Promise<DueEntry[]> => dueOfGroup(this.#rows, query);

  constructor({ rows, writer, beforeUnlock, isReadOnly, seenFilter, fingerprints }: CrawlDbParts) {
    this.#rows = rows;
    this.#writer = writer;
    this.#beforeUnlock = beforeUnlock;
    this.#isReadOnly = isReadOnly;
    this.seenFilter = seenFilter;
    this.fingerprints = fingerprints;
    this.forwarding = forwardingOn(rows);
  }

  async get(url: string): Promise<CrawlDatum | undefined> {
    return (await this.getMany([url]))[0];
  }

  async getMany(urls: readonly string[]): Promise<(CrawlDatum | undefined)[]> {
    const found = await readMany(this.#rows, urls.map(recordKey));
    return found.map((bytes, i) => (bytes === undefined ? undefined : decodeRecord(urls[i]!, bytes)));
  }

  hasMany(urls: readonly string[]): Promise<boolean[]> {
    return existMany(this.#rows, urls.map(recordKey));
  }

  write(batch: CrawlDbBatch, options: { durable?: boolean } = {}): Promise<void> {
    return this.#writer.write(batch, options.durable ?? false);
  }

  async *due({ until, limit, only, belowScore, meter }: DueQuery): AsyncGenerator<DueEntry, void, undefined> {
    let left = limit ?? Number.POSITIVE_INFINITY;
    if (only !== 'new') {
      for await (const batch of readRange(this.#rows, dueRange(until), limit)) {
        meter?.add('due', batch.length);
        for (const [key, bytes] of batch) {
          left--;
          yield dueEntryOf(key, bytes);
        }
      }
    }
    if (only === 'known' || left <= 0) return;
    for await (const batch of readRange(this.#rows, dueNewRange(belowScore))) {
      meter?.add('due', batch.length);
      for (const [key, bytes] of batch) {
        const entry = dueEntryOf(key, bytes);
        if (entry.dueAt > until) continue;
        if (left-- <= 0) return;
        yield entry;
      }
    }
  }

  async countDue(until: number): Promise<number> {
    let fresh = 0;
    for await (const batch of readRange(this.#rows, rowRange(ROW.dueNew))) {
      for (const [key] of batch) if (parseDueKey(key).dueAt <= until) fresh++;
    }
    return fresh + (await countRange(this.#rows, dueRange(until)));
  }

  async *scan(query: ScanQuery = {}): AsyncGenerator<CrawlDatum, void, undefined> {
    const { state, failing = false, limit = Number.POSITIVE_INFINITY } = query;
    let left = limit;
    if (left <= 0) return;
    for await (const datum of this.#candidates(query)) {
      if (state !== undefined && datum.state !== state) continue;
      if (failing && datum.failures === 0) continue;
      yield datum;
      if (--left <= 0) return;
    }
  }

  /** Superset of the wanted records, from an index if there is one. */
  #candidates(query: ScanQuery): AsyncGenerator<CrawlDatum, void, undefined> {
    const { state, failing = false, limit, meter } = query;
    const range = scanRange(query);
    const met = (index: IndexName) => (rows: number) => meter?.add(index, rows);
    if (state !== undefined && isIndexedState(state)) {
      return recordsOfMarks(this.#rows, markRange(state, range), met('state'));
    }
    if (failing) return recordsOfMarks(this.#rows, markRange('failing', range), met('failing'));
    return this.#records(range, state === undefined ? limit : undefined, met('records'));
  }

  async *#records(
    range: KeyRange | undefined,
    limit: number | undefined,
    onRead: (rows: number) => void,
  ): AsyncGenerator<CrawlDatum, void, undefined> {
    for await (const batch of readRange(this.#rows, rowRange(ROW.record, range), limit)) {
      onRead(batch.length);
      for (const [key, bytes] of batch) yield decodeRecord(urlOfRow(key), bytes);
    }
  }

  async *changing({ limit, meter, ...hosts }: ChangingQuery): AsyncGenerator<CrawlDatum, void, undefined> {
    yield* await mostChanging(this.#rows, scanRange(hosts), limit, meter);
  }

  recordsAtPlaces(host: string, places: readonly number[], meter?: ReadMeter): Promise<CrawlDatum[]> {
    return recordsAtPlaces(this.#rows, rowRange(ROW.record, hostRange(host)), places, (rows) =>
      meter?.add('hosts', rows),
    );
  }

  async spread(): Promise<Spread> {
    await this.#refreshed();
    return spreadView(await this.#writer.spread());
  }

  async counters(): Promise<CrawlDbCounters> {
    await this.#refreshed();
    return this.#writer.counters();
  }

  async *hosts(query: { prefix?: string; limit?: number } = {}): AsyncGenerator<HostRow, void, undefined> {
    const { prefix = '', limit = Number.POSITIVE_INFINITY } = query;
    let left = limit;
    for await (const batch of readRange(this.#rows, rowRange(ROW.host))) {
      for (const [key, bytes] of batch) {
        const host = hostOfKey(key);
        if (!host.startsWith(prefix)) continue;
        if (left-- <= 0) return;
        yield hostView(host, decodeHost(host, bytes));
      }
    }
  }

  async hostRows(hosts: readonly string[]): Promise<(HostRow | undefined)[]> {
    const rows = await this.#writer.hostRows(hosts);
    return rows.map((row, i) => (row === undefined ? undefined : hostView(hosts[i]!, row)));
  }

  async linksOf(urls: readonly string[]): Promise<(readonly string[])[]> {
    const rows = await readMany(this.#rows, urls.map(linksKey));
    return rows.map((bytes, i) => (bytes === undefined ? [] : decodeLinks(urls[i]!, bytes)));
  }

  async *scanLinks(): AsyncGenerator<StoredLinks, void, undefined> {
    for await (const batch of readRange(this.#rows, rowRange(ROW.links))) {
      for (const [key, bytes] of batch) {
        const url = urlOfRow(key);
        yield { url, targets: decodeLinks(url, bytes) };
      }
    }
  }

  linkFamilies(domains: readonly string[]): Promise<(DomainFamilies | undefined)[]> {
    return readFamilies(this.#rows, domains);
  }

  scanLinkFamilies(): AsyncIterable<DomainFamilies> {
    return scanFamilies(this.#rows);
  }

  hostShares(hosts: readonly string[]): Promise<(HostShares | undefined)[]> {
    return readShares(this.#rows, hosts);
  }

  async leases(urls: readonly string[]): Promise<(Lease | undefined)[]> {
    const found = await readMany(this.#rows, urls.map(leaseKey));
    return found.map((bytes, i) => (bytes === undefined ? undefined : leaseOf(urls[i]!, bytes)));
  }

  async *scanLeases(segment?: string): AsyncGenerator<Lease, void, undefined> {
    for await (const batch of readRange(this.#rows, rowRange(ROW.lease))) {
      for (const [key, bytes] of batch) {
        const lease = leaseOf(urlOfRow(key), bytes);
        if (segment === undefined || lease.segment === segment) yield lease;
      }
    }
  }

  async segments(): Promise<SegmentRow[]> {
    const segments: SegmentRow[] = [];
    for await (const batch of readRange(this.#rows, rowRange(ROW.segment))) {
      for (const [key, bytes] of batch) segments.push(decodeSegment(key.slice(ROW.segment.length), bytes));
    }
    // Rows come in the order of ids, which decides between equal times.
    return segments.sort((a, b) => a.createdAt - b.createdAt);
  }

  meta(name: string): Promise<string | undefined> {
    return this.#isReadOnly ? storedFact(this.#rows, name) : this.#writer.fact(name);
  }

  async metas(): Promise<Record<string, string>> {
    const metas: [string, string][] = [];
    for await (const batch of readRange(this.#rows, rowRange(ROW.meta))) {
      for (const [key, bytes] of batch) {
        const name = key.slice(ROW.meta.length);
        if (name !== FORMAT_VERSION_FACT) metas.push([name, bytes.toString()]);
      }
    }
    return Object.fromEntries(metas);
  }

  async *changes(query: ChangeQuery = {}): AsyncGenerator<ChangeRow, void, undefined> {
    await this.#refreshed();
    yield* readChanges(this.#rows, this.#writer.feedEnds(), query);
  }

  async feedEnds(): Promise<FeedEnds> {
    await this.#refreshed();
    return this.#writer.feedEnds();
  }

  /** Waits for the writes under way. Closing again is harmless. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #refreshed(): Promise<void> {
    if (this.#isReadOnly) await this.#writer.refresh();
  }

  async #close(): Promise<void> {
    await this.#writer.settled();
    await this.seenFilter?.close();
    await this.#beforeUnlock();
    await this.#rows.close();
  }
}

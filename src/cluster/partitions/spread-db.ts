import type { FeedEnds } from '../../core/domain/crawl/change/change-feed.ts';
import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import type { DomainFamilies } from '../../core/domain/url/families/stored-families.ts';
import type { PartitionBy } from '../../core/domain/url/hash/partition.ts';
import type { ChangeQuery } from '../../core/ports/change-feed.ts';
import type {
  ChangingQuery,
  CrawlDb,
  CrawlDbCounters,
  DueEntry,
  DueOfGroupQuery,
  DueQuery,
  HostRow,
  Lease,
  ReadMeter,
  ScanQuery,
  SegmentRow,
  Spread,
  StoredLinks,
} from '../../core/ports/crawl-db.ts';
import type { FingerprintTables } from '../../core/ports/near.ts';
import type { Forwarding } from '../../core/ports/partitions/forwarding.ts';
import { mergeSorted } from '../../store/files/sorting/external-sort.ts';
import { joinedByDomain, joinedFamilies } from './joined-families.ts';
import { mergedFacts, summedCounters, summedSpread } from './merged-facts.ts';
import { placing } from './partition-dir.ts';
import {
  byDomain,
  byDueTime,
  byFallingRate,
  byFallingScore,
  byHost,
  byUrl,
  first,
  type SpreadChange,
} from './row-orders.ts';
import { feedsOf, spreadChanges, spreadFeedEnds } from './spread-feed.ts';
import { spreadTables } from './spread-tables.ts';

/** A worker holds each partition, and no batch spans two. */
const NO_FORWARDING: Forwarding = {
  outbox: none,
  inbox: none,
  waiting: async (urls) => urls.map(() => undefined),
  scanWaiting: none,
  marks: async () => ({ lastSent: 0, received: [] }),
};

async function* none(): AsyncGenerator<never, void, undefined> {}

/** A crawl db with its tables of signatures, if it has any. */
export type QueryTables = CrawlDb & { readonly fingerprints?: FingerprintTables | null };

/**
 * The partitions of a spread crawl as one crawl db, read-only. What belongs to a URL, a host or a domain is read from
 * its partition; lists are merged in the order that one crawl db gives them; counts are summed. Each partition is a
 * snapshot of its own. Partitions in which nothing was written yet are left out.
 */
export class SpreadCrawlDb implements CrawlDb {
  readonly forwarding = NO_FORWARDING;
  readonly fingerprints: FingerprintTables | null;
  readonly seenFilter = null;
  readonly #dbs: ReadonlyMap<number, QueryTables>;
  readonly #partitions: number;
  readonly #by: PartitionBy;
  readonly #splits: readonly number[];
  readonly #placeOf: (host: string) => number;

  constructor(
    dbs: ReadonlyMap<number, QueryTables>,
    partitions: number,
    by: PartitionBy = 'domain',
    splits: readonly number[] = [],
  ) {
    this.#dbs = dbs;
    this.#partitions = partitions;
    this.#by = by;
    this.#splits = splits;
    this.#placeOf = placing(by, partitions, splits);
    const tables = [...dbs].flatMap(([partition, { fingerprints }]): [number, FingerprintTables][] =>
      fingerprints == null ? [] : [[partition, fingerprints]],
    );
    this.fingerprints = spreadTables(new Map(tables), by, this.#placeOf);
  }

  /** The crawl dbs of the partitions in which something was written. */
  get all(): ReadonlyMap<number, QueryTables> {
    return this.#dbs;
  }

  /** The partition of a politeness key (`host[:port]`), or of its registrable domain. */
  partitionOf(host: string): number {
    return this.#placeOf(host);
  }

  /** The same partitions, with some methods of the crawl db replaced. */
  with(answers: Partial<CrawlDb>): SpreadCrawlDb {
    return Object.assign(new SpreadCrawlDb(this.#dbs, this.#partitions, this.#by, this.#splits), answers);
  }

  /** The same crawl with the facts of one partition, such as those of its rounds. */
  withFactsOf(partition: number): SpreadCrawlDb {
    const db = this.#dbs.get(partition);
    return this.with({ meta: async (key) => db?.meta(key), metas: async () => (await db?.metas()) ?? {} });
  }

  async write(): Promise<never> {
    throw new CrawlError('db-readonly', 'the partitions of a spread crawl are written by "incrawl work" only');
  }

  async get(url: string): Promise<CrawlDatum | undefined> {
    return this.#ofHost(hostOf(url))?.get(url);
  }

  getMany(urls: readonly string[]): Promise<(CrawlDatum | undefined)[]> {
    return this.#each(urls, hostOf, (db, own) => db.getMany(own));
  }

  async hasMany(urls: readonly string[]): Promise<boolean[]> {
    return (await this.#each(urls, hostOf, (db, own) => db.hasMany(own))).map((isThere) => isThere === true);
  }

  async *due(query: DueQuery): AsyncGenerator<DueEntry, void, undefined> {
    const { only, limit = Number.POSITIVE_INFINITY } = query;
    let left = limit;
    if (only !== 'new') {
      for await (const entry of this.#merged((db) => db.due({ ...query, only: 'known' }), byDueTime)) {
        if (left-- <= 0) return;
        yield entry;
      }
    }
    if (only === 'known') return;
    const rest = Number.isFinite(left) ? { limit: Math.max(0, left) } : {};
    for await (const entry of this.#merged((db) => db.due({ ...query, ...rest, only: 'new' }), byFallingScore)) {
      if (left-- <= 0) return;
      yield entry;
    }
  }

  async countDue(until: number): Promise<number> {
    const counts = await Promise.all(this.#all().map((db) => db.countDue(until)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  scan(query: ScanQuery = {}): AsyncGenerator<CrawlDatum, void, undefined> {
    const { host = query.prefix === undefined ? undefined : hostOf(query.prefix), limit } = query;
    return first(
      limit,
      this.#merged((db) => db.scan(query), byUrl, host),
    );
  }

  async counters(): Promise<CrawlDbCounters> {
    return summedCounters(await Promise.all(this.#all().map((db) => db.counters())));
  }

  /** A partition may keep facts of hosts of other partitions; these are left out. */
  hosts(query: { prefix?: string; limit?: number } = {}): AsyncGenerator<HostRow, void, undefined> {
    const { limit, ...all } = query;
    const ownHosts = async function* (this: SpreadCrawlDb, db: CrawlDb, partition: number) {
      for await (const row of db.hosts(all)) if (this.partitionOf(row.host) === partition) yield row;
    };
    return first(limit, this.#merged(ownHosts.bind(this), byHost));
  }

  hostRows(hosts: readonly string[]): Promise<(HostRow | undefined)[]> {
    return this.#each(hosts, itself, (db, own) => db.hostRows(own));
  }

  async linksOf(urls: readonly string[]): Promise<(readonly string[])[]> {
    const links = await this.#each(urls, hostOf, (db, own) => db.linksOf(own));
    return links.map((each) => each ?? []);
  }

  scanLinks(): AsyncGenerator<StoredLinks, void, undefined> {
    return this.#merged((db) => db.scanLinks(), byUrl);
  }

  async linkFamilies(domains: readonly string[]): Promise<(DomainFamilies | undefined)[]> {
    if (this.#by === 'domain') return this.#each(domains, itself, (db, own) => db.linkFamilies(own));
    const found = await Promise.all(this.#all().map((db) => db.linkFamilies(domains)));
    return domains.map((_, i) => joinedFamilies(found.flatMap((each) => each[i] ?? [])));
  }

  /** Families may have been given to all partitions: those of its own domains count or, if it has none, all of them. */
  scanLinkFamilies(): AsyncGenerator<DomainFamilies, void, undefined> {
    if (this.#by === 'host') return joinedByDomain(this.#merged((db) => db.scanLinkFamilies(), byDomain));
    const ownFamilies = async function* (this: SpreadCrawlDb, db: CrawlDb, partition: number) {
      for await (const families of db.scanLinkFamilies()) {
        if (this.partitionOf(families.domain) === partition) yield families;
      }
    };
    return this.#merged(ownFamilies.bind(this), byDomain);
  }

  hostShares(hosts: readonly string[]): ReturnType<CrawlDb['hostShares']> {
    return this.#each(hosts, itself, (db, own) => db.hostShares(own));
  }

  leases(urls: readonly string[]): Promise<(Lease | undefined)[]> {
    return this.#each(urls, hostOf, (db, own) => db.leases(own));
  }

  scanLeases(segment?: string): AsyncGenerator<Lease, void, undefined> {
    return this.#merged((db) => db.scanLeases(segment), byUrl);
  }

  async segments(): Promise<SegmentRow[]> {
    const rows = await Promise.all(this.#all().map((db) => db.segments()));
    return rows.flat().sort((a, b) => a.createdAt - b.createdAt);
  }

  async meta(key: string): Promise<string | undefined> {
    const values = await Promise.all(this.#all().map((db) => db.meta(key)));
    return mergedFacts(values.map((value) => (value === undefined ? {} : { [key]: value })))[key];
  }

  async metas(): Promise<Readonly<Record<string, string>>> {
    return mergedFacts(await Promise.all(this.#all().map((db) => db.metas())));
  }

  changing(query: ChangingQuery): AsyncGenerator<CrawlDatum, void, undefined> {
    return first(
      query.limit,
      this.#merged((db) => db.changing(query), byFallingRate, query.host),
    );
  }

  async recordsAtPlaces(host: string, places: readonly number[], meter?: ReadMeter): Promise<CrawlDatum[]> {
    return (await this.#ofHost(host)?.recordsAtPlaces(host, places, meter)) ?? [];
  }

  async dueOfGroup(query: DueOfGroupQuery): Promise<DueEntry[]> {
    return (await this.#ofHost(query.host)?.dueOfGroup(query)) ?? [];
  }

  async spread(): Promise<Spread> {
    return summedSpread(await Promise.all(this.#all().map((db) => db.spread())));
  }

  changes(query: ChangeQuery = {}): AsyncGenerator<SpreadChange, void, undefined> {
    return spreadChanges(this.#dbs, this.#feeds, query);
  }

  feedEnds(): Promise<FeedEnds> {
    return spreadFeedEnds(this.#dbs, this.#feeds);
  }

  /** Links that one partition has found and another one has not applied yet. */
  async linksUnderWay(): Promise<number> {
    let links = 0;
    for (const { forwarding } of this.#all()) {
      for await (const parcel of forwarding.outbox()) links += parcel.links.length;
      for await (const { isKnown, item } of forwarding.inbox())
        if (!isKnown && 'links' in item) links += item.links.length;
    }
    return links;
  }

  async close(): Promise<void> {
    await Promise.all(this.#all().map((db) => db.close()));
  }

  get #feeds(): ReturnType<typeof feedsOf> {
    return feedsOf({ partitions: this.#partitions, splits: this.#splits });
  }

  #all(): CrawlDb[] {
    return [...this.#dbs.values()];
  }

  #ofHost(host: string): CrawlDb | undefined {
    return this.#dbs.get(this.partitionOf(host));
  }

  /** Answers in the order of the keys, with one call per partition. */
  async #each<Answer>(
    names: readonly string[],
    hostOfName: (name: string) => string,
    ask: (db: CrawlDb, own: string[]) => Promise<Answer[]>,
  ): Promise<(Answer | undefined)[]> {
    const answers = new Array<Answer | undefined>(names.length).fill(undefined);
    const places = new Map<CrawlDb, number[]>();
    for (const [i, name] of names.entries()) {
      const db = this.#ofHost(hostOfName(name));
      if (db !== undefined) places.set(db, [...(places.get(db) ?? []), i]);
    }
    const asked = [...places].map(async ([db, own]) => {
      const found = await ask(
        db,
        own.map((i) => names[i] as string),
      );
      for (const [j, i] of own.entries()) answers[i] = found[j];
    });
    await Promise.all(asked);
    return answers;
  }

  /** @param host restricts the reading to its partition */
  #merged<Item>(
    read: (db: CrawlDb, partition: number) => AsyncIterable<Item>,
    compare: (a: Item, b: Item) => number,
    host?: string,
  ): AsyncGenerator<Item, void, undefined> {
    const only = host === undefined ? null : this.partitionOf(host);
    const sources = [...this.#dbs].filter(([partition]) => only === null || partition === only);
    return mergeSorted(
      sources.map(([partition, db]) => read(db, partition)),
      compare,
    );
  }
}

const itself = (name: string): string => name;

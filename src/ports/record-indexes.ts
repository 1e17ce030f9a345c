import type { CrawlDatum } from '../domain/crawl/states/datum.ts';

/** Indexes kept with the records, in the same batches, so that queries need no scan. */
export interface RecordIndexes {
  /**
   * Live pages with observed changes, by `changeRateOf`: the highest rate first, at equal rates by key. Membership in
   * the answer is right to a fifth of the rates; the order is exact. A consistent snapshot.
   */
  changing(query: ChangingQuery): AsyncIterable<CrawlDatum>;
  /**
   * The records at places of a host: numbers from 0 on, ascending, in key order. Places beyond the last record are
   * left out. Reads the keys up to the last place.
   */
  recordsAtPlaces(host: string, places: readonly number[], meter?: ReadMeter): Promise<CrawlDatum[]>;
  /** Histograms of the records, kept with every write. */
  spread(): Promise<Spread>;
}

export interface ChangingQuery {
  /** Only this host (`host[:port]`). */
  readonly host?: string;
  /** Only this domain and the hosts below it. */
  readonly domain?: string;
  readonly limit: number;
  readonly meter?: ReadMeter;
}

/** Histograms of the records; empty buckets are absent. */
export interface Spread {
  readonly byDepth: ReadonlyMap<number, number>;
  /** By `countedType`; records without a type are not counted. */
  readonly byType: ReadonlyMap<string, number>;
  /** By failed visits in a row, from 1 on; 100 stands for 100 and more. */
  readonly byFailures: ReadonlyMap<number, number>;
  /** By `intervalBucket`: records with a next visit. */
  readonly byInterval: ReadonlyMap<number, number>;
  /** By `scoreStep`. */
  readonly byScore: ReadonlyMap<number, number>;
  /** The due index (without leased URLs) by `hourOf`: known pages, and new URLs. */
  readonly dueKnown: ReadonlyMap<number, number>;
  readonly dueNew: ReadonlyMap<number, number>;
  /** Visits a day that the intervals of the known pages in the due index require, by `expectedInterval`. */
  readonly visitsPerDay: number;
}

/** Larger depths and failure counts are counted as these. */
export const MAX_COUNTED_DEPTH = 999;
export const MAX_COUNTED_FAILURES = 100;

/** Where a query finds its rows. `records`: a scan of the records; `hosts`: counts of the hosts, and keys. */
export type IndexName = 'records' | 'hosts' | 'due' | 'state' | 'failing' | 'changing';

/** Counts the rows that a query reads, while it reads. */
export interface ReadMeter {
  add(index: IndexName, rows: number): void;
}

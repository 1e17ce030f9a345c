import type { CrawlDatum } from '../domain/crawl/states/datum.ts';

/** What the crawl db keeps beside the records, in the same batches, so that questions need no pass over them. */
export interface RecordIndexes {
  /**
   * Live pages that were seen to change, by `changeRateOf`, the highest rate first and by key where rates are equal.
   * Which pages these are is right to a fifth of their rates; the order among them is exact. A consistent snapshot.
   */
  changing(query: ChangingQuery): AsyncIterable<CrawlDatum>;
  /** Counts kept with every write. */
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

/** How records are spread; cells without any are absent. */
export interface Spread {
  readonly byDepth: ReadonlyMap<number, number>;
  /** By `countedType`; records without a type are not counted. */
  readonly byType: ReadonlyMap<string, number>;
  /** By failed visits in a row, from 1 on; 100 stands for all above. */
  readonly byFailures: ReadonlyMap<number, number>;
  /** By `intervalStep`: records that have a next visit. */
  readonly byInterval: ReadonlyMap<number, number>;
  /** The due index (leased URLs are not in it) by `hourOf`: pages to come back to, and new URLs. */
  readonly dueKnown: ReadonlyMap<number, number>;
  readonly dueNew: ReadonlyMap<number, number>;
}

/** Depths and failures above these are counted with them. */
export const MAX_COUNTED_DEPTH = 999;
export const MAX_COUNTED_FAILURES = 100;

/** Where a query found its rows. `records`: a pass over the records themselves. */
export type IndexName = 'records' | 'due' | 'state' | 'failing' | 'changing';

/** Told by the crawl db what a query reads, as it reads it. */
export interface ReadMeter {
  add(index: IndexName, rows: number): void;
}

import type { CrawlDatum } from '../../../core/domain/crawl/states/datum.ts';

/** Takes the rows of a batch: the storage's own batch. */
export interface RowSink {
  put(key: string, value: Buffer): unknown;
  del(key: string): unknown;
}

/** Adds rows to every batch with URLs that are new to the crawl db. */
export interface NewUrlWatcher {
  stage(sink: RowSink, urls: readonly string[]): Promise<void>;
}

/** A record before and after a batch; `null`: there was, or is, none. */
export interface RecordChange {
  readonly before: CrawlDatum | null;
  readonly after: CrawlDatum | null;
}

/** Adds rows to every batch that changes records. */
export interface RecordWatcher {
  /** Resolves with what is called once the batch is written; a batch that is not leaves no trace. */
  stage(sink: RowSink, changes: readonly RecordChange[]): Promise<() => void>;
}

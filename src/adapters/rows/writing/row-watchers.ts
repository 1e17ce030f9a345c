import type { CrawlDatum } from '../../../domain/crawl/states/datum.ts';

/** Takes the rows of a batch: the storage's own batch. */
export interface RowSink {
  put(key: string, value: Buffer): unknown;
  del(key: string): unknown;
}

/** Adds rows of its own to every batch that brings URLs the crawl db did not have. */
export interface NewUrlWatcher {
  stage(sink: RowSink, urls: readonly string[]): Promise<void>;
}

/** A record as a batch leaves it, and as it was; `null`: there is, or was, none. */
export interface RecordChange {
  readonly before: CrawlDatum | null;
  readonly after: CrawlDatum | null;
}

/** Adds rows of its own to every batch that changes records. */
export interface RecordWatcher {
  stage(sink: RowSink, changes: readonly RecordChange[]): Promise<void>;
}

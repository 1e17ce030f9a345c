import type { AskedDb, CrawlDeps } from '../../operations/deps.ts';
import { recover } from '../../operations/state/recover.ts';
import { readAnyDump } from './any-dump.ts';
import { dumpTexts, importLines, type TransferSummary } from './db-transfer.ts';
import { type MergeSummary, mergeState } from './merge-states.ts';
import type { SkippedLine } from './nutch-dump.ts';
import { type RepartitionOptions, type RepartitionSummary, repartition } from './repartition.ts';

/** Export, import, merge and split of whole crawl dbs. */
export interface TransferOperations {
  /** The crawl db as lines of JSON, without line ends. */
  exportDb(): AsyncIterable<string>;
  /** Imports such lines, or those of a dump of Nutch, into an empty crawl db, or (`merge`) adds them. */
  importDb(lines: AsyncIterable<string>, mode: 'whole' | 'merge'): Promise<ImportSummary>;
  /** Adds the crawl of another state directory to this one. */
  merge(dir: string): Promise<MergeSummary>;
  /** Splits the crawl db into one for each node. */
  repartition(options: RepartitionOptions): Promise<RepartitionSummary>;
}

export interface ImportSummary extends TransferSummary {
  /** URLs of a foreign dump that cannot be crawled; the log names the first of them. */
  readonly skipped: number;
}

/** Skipped URLs that are logged. */
const NAMED = 20;

export function transferOperations({
  dir,
  config,
  runtime,
  segments,
  store,
  asked,
}: Pick<CrawlDeps, 'dir' | 'config' | 'runtime' | 'segments' | 'store'> & { asked(): AskedDb }): TransferOperations {
  const { clock, log, onWork } = runtime;
  return {
    async *exportDb() {
      yield* dumpTexts(await asked().asOne(log), clock.now(), onWork);
    },
    async importDb(lines, mode) {
      const { db } = store();
      let skipped = 0;
      const onSkipped = ({ line, url, reason }: SkippedLine): void => {
        if (++skipped <= NAMED) log.warn(`line ${line}: ${url} is skipped: ${reason}`);
      };
      const summary = await importLines(db, readAnyDump(lines, { now: clock.now(), onSkipped }), mode, onWork);
      // Segments may have come along on disk, or not.
      await recover(db, segments, log);
      return { ...summary, skipped };
    },
    merge: (other) => mergeState(store().db, dir, other, runtime),
    repartition: (options) => repartition(store().db, { by: config.partition.by, ...options }, runtime),
  };
}

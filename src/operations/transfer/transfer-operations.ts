import { counted } from '../../steps/work-meter.ts';
import { recover } from '../care/recover.ts';
import type { CrawlDeps } from '../deps.ts';
import { dumpLines, importLines, readDump, type TransferSummary } from './db-transfer.ts';
import { type MergeSummary, mergeState } from './merge-states.ts';
import { type RepartitionOptions, type RepartitionSummary, repartition } from './repartition.ts';

/** Export, import, merge and split of whole crawl dbs. */
export interface TransferOperations {
  /** The crawl db as lines of JSON, without line ends. */
  exportDb(): AsyncIterable<string>;
  /** Imports such lines into an empty crawl db, or (`merge`) adds them. */
  importDb(lines: AsyncIterable<string>, mode: 'whole' | 'merge'): Promise<TransferSummary>;
  /** Adds the crawl of another state directory to this one. */
  merge(dir: string): Promise<MergeSummary>;
  /** Splits the crawl db into one for each node. */
  repartition(options: RepartitionOptions): Promise<RepartitionSummary>;
}

export function transferOperations({
  dir,
  config,
  runtime,
  segments,
  store,
}: Pick<CrawlDeps, 'dir' | 'config' | 'runtime' | 'segments' | 'store'>): TransferOperations {
  const { clock, log, onWork } = runtime;
  return {
    async *exportDb() {
      const lines = dumpLines(store().db, clock.now());
      for await (const line of counted(lines, onWork, 'exporting rows')) yield JSON.stringify(line);
    },
    async importDb(lines, mode) {
      const { db } = store();
      const summary = await importLines(db, readDump(lines), mode, onWork);
      // Segments may have come along on disk, or not.
      await recover(db, segments, log);
      return summary;
    },
    merge: (other) => mergeState(store().db, dir, other, runtime),
    repartition: (options) => repartition(store().db, { by: config.partition.by, ...options }, runtime),
  };
}

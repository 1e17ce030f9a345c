import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { PartitionHold } from '../../cluster/partitions/partition-stores.ts';
import { requireSpread, sharedPartitions } from '../../cluster/partitions/shared-partitions.ts';
import { openStoreOf } from '../../cluster/workers/open-shared-db.ts';
import type { Config } from '../../core/config/schema.ts';
import { senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { Log } from '../../core/ports/log.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import { nearPlan } from '../../operations/dedup/dedup-settings.ts';
import { segmentsPlace } from '../../operations/state/segments-mark.ts';
import { systemClock } from '../../operations/system/clock.ts';
import { isHalfImported } from '../../store/rows/format.ts';
import { openCrawlDbOn } from '../../store/rows/open-crawl-db.ts';
import type { RowsCrawlDb } from '../../store/rows/rows-crawl-db.ts';
import { readAnyDump } from './any-dump.ts';
import type { TransferSummary } from './db-transfer.ts';
import type { SkippedLine } from './nutch-dump.ts';
import { importPartitioned } from './partition-lines.ts';

export interface ImportSpreadOptions {
  readonly config: Config;
  readonly dir: string;
  readonly log: Log;
  readonly clock?: Pick<Clock, 'now'>;
  readonly onWork?: OnWork;
}

/** Skipped URLs that are logged. */
const NAMED = 20;

/**
 * Imports an export of incrawl, or a dump of Nutch, into a new crawl of `cluster.partitions` partitions, while this
 * process holds all of them. Rejects with `db-locked` where a worker holds one, with `usage-invalid` where the crawl is
 * not empty, and with an error of the store.
 */
export async function importSpread(
  { config, dir: folder, log, clock = systemClock, onWork }: ImportSpreadOptions,
  lines: AsyncIterable<string>,
): Promise<TransferSummary & { readonly skipped: number }> {
  const dir = resolve(folder);
  const { name, leaseMs } = config.cluster;
  const store = await openStoreOf(config, dir);
  const holds: PartitionHold[] = [];
  const dbs: RowsCrawlDb[] = [];
  try {
    mkdirSync(dir, { recursive: true });
    const asked = { store, dir, name, segments: segmentsPlace(config), isImporting: true };
    const { partitions, partitionBy } = config.cluster;
    const spread = await requireSpread({ ...asked, partitions, partitionBy });
    const stores = sharedPartitions({ ...asked, ...spread }, leaseMs);
    const near = nearPlan(config);
    const opened = async (partition: number): Promise<RowsCrawlDb> => {
      const { rows } = holds[partition] as PartitionHold;
      return openCrawlDbOn(rows, { name: `partition ${senderOf(partition)}`, log, ...(near && { near }) });
    };
    for (let partition = 0; partition < spread.partitions; partition++) {
      holds.push(await stores.hold(partition, new AbortController().signal));
    }
    const [first] = holds;
    const isCutShort = first !== undefined && (await isHalfImported(first.rows));
    // The first one last: as long as it is unfinished, all are.
    for (let partition = spread.partitions - 1; partition >= 0; partition--) {
      const db = await opened(partition);
      dbs.unshift(db);
      await (holds[partition] as PartitionHold).begun();
      if (!isCutShort || partition === 0) continue;
      // It may have been whole when the import ended early: what is unfinished is emptied when it is opened.
      await db.write({ isImporting: true });
      dbs[0] = await opened(partition);
    }
    let skipped = 0;
    const onSkipped = ({ line, url, reason }: SkippedLine): void => {
      if (++skipped <= NAMED) log.warn(`line ${line}: ${url} is skipped: ${reason}`);
    };
    const read = readAnyDump(lines, { now: clock.now(), onSkipped });
    const summary = await importPartitioned(dbs, read, { by: spread.by, onWork });
    return { ...summary, skipped };
  } finally {
    for (const db of dbs) await db.close().catch(() => {});
    for (const hold of holds) await hold.release();
    await store.close();
  }
}

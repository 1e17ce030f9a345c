import { join } from 'node:path';
import type { PartitionHold } from '../../cluster/partitions/partition-stores.ts';
import { requireSpread, sharedPartitions } from '../../cluster/partitions/shared-partitions.ts';
import { openStoreOf } from '../../cluster/workers/open-shared-db.ts';
import { senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import { nearPlan } from '../../operations/loop/step-settings.ts';
import { readClusterMark } from '../../operations/state/cluster-mark.ts';
import { configuredFilter } from '../../operations/state/seen-urls.ts';
import { segmentsPlace } from '../../operations/state/segments-mark.ts';
import { temporaryState } from '../../operations/state/state-copy.ts';
import { keepIn, type RepairedDb } from '../../store/leveldb/db-care.ts';
import { copyRows } from '../../store/leveldb/db-snapshot.ts';
import { repairRows } from '../../store/rows/care/repair-rows.ts';
import { checkFormat, hasFormat, migrate } from '../../store/rows/format.ts';
import { openCrawlDbOn } from '../../store/rows/open-crawl-db.ts';
import type { RowsCrawlDb } from '../../store/rows/rows-crawl-db.ts';
import type { CaredPart, RepairableDb } from './repair-part.ts';
import type { StateCareOptions } from './verify-part.ts';

/** The partitions of a shared crawl, each held from its first repair until `use` ends. */
export async function withSharedParts<Value>(
  options: StateCareOptions,
  use: (parts: readonly CaredPart[]) => Promise<Value>,
): Promise<Value> {
  const { config, dir } = options;
  const { name, leaseMs } = config.cluster;
  const store = await openStoreOf(config, dir);
  const holds: PartitionHold[] = [];
  try {
    const asked = { store, dir, name, segments: segmentsPlace(config) };
    const spread = await requireSpread({ ...asked, partitions: readClusterMark(dir)?.partitions ?? 1 });
    const { partitions } = spread;
    const stores = sharedPartitions({ ...asked, ...spread }, leaseMs);
    const parts = Array.from({ length: partitions }, (_, partition): CaredPart => {
      const own = { ...options, dir: stores.dirOf(partition) };
      return {
        dir: own.dir,
        name: partitions === 1 ? '' : senderOf(partition),
        async inCopy(verify) {
          const copy = temporaryState('verify');
          try {
            const rows = stores.look(partition);
            await copyRows(rows, join(copy.dir, 'db'), options.onWork).finally(() => rows.close());
            const shown = `the crawl db of partition ${senderOf(partition)}`;
            return await verify(copy.dir, (text) => text.replaceAll(join(copy.dir, 'db'), shown));
          } finally {
            copy.close();
          }
        },
        async hold() {
          const hold = await stores.hold(partition, new AbortController().signal);
          holds.push(hold);
          return repairableRows(own, hold);
        },
      };
    });
    return await use(parts);
  } finally {
    for (const hold of holds) await hold.release();
    await store.close();
  }
}

/** Repairs the rows in place. A partition without a crawl db is left as it is. */
function repairableRows({ config, dir, log }: StateCareOptions, { rows, token }: PartitionHold): RepairableDb {
  let db: RowsCrawlDb | null = null;
  const open = async (): Promise<RowsCrawlDb> => {
    const [filter, near] = [await configuredFilter(config), nearPlan(config)];
    const features = { ...(filter !== undefined && { seenFilter: filter }), ...(near !== null && { near }) };
    return openCrawlDbOn(rows, { name: dir, log, ...features });
  };
  return {
    token,
    async repair(folder): Promise<RepairedDb | null> {
      if (!(await hasFormat(rows))) return null;
      await migrate(rows, await checkFormat(rows, dir), log);
      return { ...(await repairRows(rows, keepIn(folder), () => {})), rebuilt: false };
    },
    async withDb(use) {
      db ??= await open();
      await use(db);
    },
    close: async () => db?.close(),
  };
}

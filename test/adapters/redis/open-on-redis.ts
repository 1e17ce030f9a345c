import { openRedisStore } from '../../../src/adapters/redis/shared-store.ts';
import { openCrawlDbOn } from '../../../src/adapters/rows/open-crawl-db.ts';
import type { RowsCrawlDb } from '../../../src/adapters/rows/rows-crawl-db.ts';
import { WriteLease } from '../../../src/operations/cluster/write-lease.ts';
import type { StoredRows } from '../../../src/ports/cluster/shared-store.ts';
import { SILENT } from '../leveldb/temporary-db.ts';

/** Rows that may be written; closing them ends lease and connection. */
export async function openRows(url: string, name: string, leaseMs = 30_000, waitMs = 0): Promise<StoredRows> {
  const store = await openRedisStore(url);
  const lease = await WriteLease.take({ store, name, leaseMs, waitMs });
  const rows = store.rows(name, lease.token);
  return Object.assign(rows, {
    async close() {
      await lease.release();
      await store.close();
    },
  });
}

export async function openOnRedis(url: string, name: string, leaseMs?: number): Promise<RowsCrawlDb> {
  return openCrawlDbOn(await openRows(url, name, leaseMs), { name, log: SILENT });
}

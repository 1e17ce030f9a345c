import type { StoredRows } from '../../src/cluster/ports/shared-store.ts';
import { openPostgresStore } from '../../src/cluster/postgres/shared-store.ts';
import { WriteLease } from '../../src/cluster/workers/write-lease.ts';
import type { NearPlan } from '../../src/store/rows/near/fingerprint-tables.ts';
import { openCrawlDbOn } from '../../src/store/rows/open-crawl-db.ts';
import type { RowsCrawlDb } from '../../src/store/rows/rows-crawl-db.ts';
import { SILENT } from '../store/leveldb/temporary-db.ts';

/** Rows in a shared store that may be written; closing them ends lease and connection. */
export async function openRows(url: string, name: string, leaseMs = 30_000, waitMs = 0): Promise<StoredRows> {
  const store = openPostgresStore(url);
  try {
    const lease = await WriteLease.take({ store, name, leaseMs, waitMs });
    const rows = store.rows(name, lease.token);
    const close = rows.close.bind(rows);
    return Object.assign(rows, {
      async close() {
        await close();
        await lease.release();
        await store.close();
      },
    });
  } catch (error) {
    await store.close();
    throw error;
  }
}

export async function openInStore(
  url: string,
  name: string,
  { leaseMs, near }: { readonly leaseMs?: number; readonly near?: NearPlan } = {},
): Promise<RowsCrawlDb> {
  return openCrawlDbOn(await openRows(url, name, leaseMs), { name, log: SILENT, ...(near && { near }) });
}

import { connectRedis } from '../../../src/adapters/redis/connect.ts';
import { RedisRows } from '../../../src/adapters/redis/rows.ts';
import { WriteLease } from '../../../src/adapters/redis/write-lease.ts';
import { openCrawlDbOn } from '../../../src/adapters/rows/open-crawl-db.ts';
import type { RowsCrawlDb } from '../../../src/adapters/rows/rows-crawl-db.ts';
import { SILENT } from '../leveldb/temporary-db.ts';

/** Rows that may be written. */
export async function openRows(url: string, name: string, leaseMs = 30_000, waitMs = 0): Promise<RedisRows> {
  const redis = await connectRedis(url);
  return new RedisRows({ redis, name, lease: await WriteLease.take({ redis, name, leaseMs, waitMs }) });
}

export async function openOnRedis(url: string, name: string, leaseMs?: number): Promise<RowsCrawlDb> {
  return openCrawlDbOn(await openRows(url, name, leaseMs), { name, log: SILENT });
}

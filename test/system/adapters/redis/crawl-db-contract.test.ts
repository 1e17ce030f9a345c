import { afterAll, beforeAll, describe } from 'vitest';
import type { CrawlDb } from '../../../../src/ports/crawl-db.ts';
import { openInStore } from '../../../adapters/open-store.ts';
import { crawlDbContract } from '../../../contracts/crawl-db.contract.ts';
import { NO_REDIS, type RedisServer, startRedis } from './redis-server.ts';

describe.skipIf(NO_REDIS !== null)(`rows in Redis${NO_REDIS === null ? '' : ` (skipped: ${NO_REDIS})`}`, () => {
  let server: RedisServer;
  const names = new WeakMap<CrawlDb, string>();
  let count = 0;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  const open = async (name: string): Promise<CrawlDb> => {
    const db = await openInStore(server.url, name);
    names.set(db, name);
    return db;
  };

  crawlDbContract('Redis', {
    open: () => open(`contract-${count++}`),
    reopen: async (db) => {
      await db.close();
      return open(names.get(db) as string);
    },
  });
});

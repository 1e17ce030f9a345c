import { afterAll, beforeAll, describe } from 'vitest';
import type { CrawlDb } from '../../../../src/core/ports/crawl-db.ts';
import { openInStore } from '../../../cluster/open-store.ts';
import { crawlDbContract } from '../../../contracts/crawl-db.contract.ts';
import { fingerprintTablesContract } from '../../../contracts/fingerprint-tables.contract.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from './postgres-server.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;

describe.skipIf(NO_POSTGRES !== null)(`rows in PostgreSQL${SKIPPED}`, () => {
  let server: PostgresServer;
  const names = new WeakMap<CrawlDb, string>();
  let count = 0;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server?.stop());

  const open = async (name: string): Promise<CrawlDb> => {
    const db = await openInStore(server.url, name);
    names.set(db, name);
    return db;
  };

  crawlDbContract('PostgreSQL', {
    open: () => open(`contract-${count++}`),
    reopen: async (db) => {
      await db.close();
      return open(names.get(db) as string);
    },
  });

  const SIZES = { log: 1, entries: 1, urls: 1, questions: 0 };
  for (const [name, sizes] of [
    ['PostgreSQL', {}],
    ['PostgreSQL, in runs', { sizes: SIZES }],
  ] as const) {
    fingerprintTablesContract(name, async (plan) => {
      const db = await openInStore(server.url, `contract-${count++}`, { near: { ...plan, ...sizes } });
      return { db, tables: db.fingerprints! };
    });
  }
});

import { createMemoryCrawlDb } from '../../../src/adapters/memory/crawl-db.ts';
import { createMemoryFingerprintTables } from '../../../src/adapters/memory/fingerprint-tables.ts';
import { fingerprintTablesContract } from '../../contracts/fingerprint-tables.contract.ts';

fingerprintTablesContract('memory', async (plan) => {
  const db = createMemoryCrawlDb();
  return { db, tables: createMemoryFingerprintTables({ db, ...plan }) };
});

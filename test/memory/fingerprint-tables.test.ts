import { fingerprintTablesContract } from '../contracts/fingerprint-tables.contract.ts';
import { createMemoryCrawlDb } from './crawl-db.ts';
import { createMemoryFingerprintTables } from './fingerprint-tables.ts';

fingerprintTablesContract('memory', async (plan) => {
  const db = createMemoryCrawlDb();
  return { db, tables: createMemoryFingerprintTables({ db, ...plan }) };
});

import type { CrawlDb } from '../../../src/core/ports/crawl-db.ts';
import { crawlDbContract } from '../../contracts/crawl-db.contract.ts';
import { openAt, temporaryDir } from './temporary-db.ts';

const dirs = new WeakMap<CrawlDb, string>();

async function open(dir: string): Promise<CrawlDb> {
  const db = await openAt(dir);
  dirs.set(db, dir);
  return db;
}

crawlDbContract('LevelDB', {
  open: async () => open(await temporaryDir()),
  reopen: async (db) => {
    await db.close();
    return open(dirs.get(db) as string);
  },
});

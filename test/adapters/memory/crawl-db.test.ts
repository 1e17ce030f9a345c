import { createMemoryCrawlDb } from '../../../src/adapters/memory/crawl-db.ts';
import { crawlDbContract } from '../../contracts/crawl-db.contract.ts';

crawlDbContract('memory', { open: async () => createMemoryCrawlDb() });

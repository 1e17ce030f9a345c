import { crawlDbContract } from '../contracts/crawl-db.contract.ts';
import { createMemoryCrawlDb } from './crawl-db.ts';

crawlDbContract('memory', { open: async () => createMemoryCrawlDb() });

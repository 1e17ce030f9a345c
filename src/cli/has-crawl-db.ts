import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Whether a state directory holds a crawl db: one of its own, or the description of one that workers share. */
export const hasCrawlDb = (dir: string): boolean =>
  existsSync(join(dir, 'db')) || existsSync(join(dir, 'cluster.json'));

import { openCrawlDbOn } from '../rows/open-crawl-db.ts';
import type { RowsCrawlDb } from '../rows/rows-crawl-db.ts';
import { removeHolder } from './holder.ts';
import { type LevelCrawlDbOptions, noteHolder, openUnchecked } from './open-rows.ts';

/**
 * Opens or creates a crawl db on LevelDB. Rejects with `CrawlError`: `db-locked` (another process has it; the message
 * names it), `db-version` (a format that is not known), `db-corrupt` (damaged, or some other LevelDB), `disk-full`.
 */
export async function openLevelCrawlDb(options: LevelCrawlDbOptions): Promise<RowsCrawlDb> {
  const { dir } = options;
  const rows = await openUnchecked(options);
  return openCrawlDbOn(rows, {
    ...options,
    name: dir,
    onOpen: () => noteHolder(options),
    onClose: () => removeHolder(dir),
  });
}

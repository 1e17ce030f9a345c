import { join, resolve } from 'node:path';
import { isSpread, readClusterMark } from '../operations/state/cluster-mark.ts';
import { isInStore } from '../operations/state/open-store.ts';
import {
  errorAboutOriginal,
  shadowState,
  snapshotState,
  type TemporaryState,
  withoutShared,
} from '../operations/state/state-copy.ts';
import { requireCrawlDb } from '../operations/state/state-folder.ts';
import { openCrawler } from './open-crawler.ts';
import type { Crawler, CrawlerOptions } from './types.ts';

/**
 * Opens a copy of a state directory as of now; closing it deletes the copy. Nothing of the original is opened for
 * writing, and another process may hold it.
 *
 * Without `dryRun` the copy is read-only: it holds the crawl db and uses the segments of the original. For a dry run it
 * is writable: the code of the real command runs, and its changes are deleted with the copy.
 * @param dryRun `written`: segments that will be written to although they have been applied
 */
export function openSnapshot(
  options: CrawlerOptions,
  dryRun?: { readonly written: readonly string[] },
): Promise<Crawler> {
  return dryRun === undefined ? openToRead(options) : openToWrite(options, dryRun.written);
}

async function openToRead(options: CrawlerOptions): Promise<Crawler> {
  requireCrawlDb(options.dir);
  // The store itself gives readers a snapshot of the rows.
  if (readClusterMark(resolve(options.dir)) !== null) return openCrawler({ ...options, access: 'look' });
  return openIn(options, snapshotState(options.dir), (copy) => ({ snapshotDir: copy }));
}

async function openToWrite(options: CrawlerOptions, written: readonly string[]): Promise<Crawler> {
  const { mustExist, ...onCopy } = options;
  const dir = resolve(options.dir);
  if (mustExist && !isInStore(options.config, dir)) requireCrawlDb(dir);
  if (isSpread(dir)) return openCrawler({ ...options, access: 'look' });
  return openIn(onCopy, shadowState(dir, written), async (copy) => {
    if (readClusterMark(dir) !== null) {
      const { copySharedDb } = await import('../cluster/workers/open-shared-db.ts');
      await copySharedDb({ ...options, dir }, join(copy, 'db'));
    }
    return { dir: copy };
  });
}

/** Opens the copy; errors name the original, since the copy is deleted by then. */
async function openIn(
  options: CrawlerOptions,
  copy: TemporaryState,
  prepare: (copy: string) => Partial<CrawlerOptions> | Promise<Partial<CrawlerOptions>>,
): Promise<Crawler> {
  try {
    const place = await prepare(copy.dir);
    const crawler = await openCrawler({ ...options, config: withoutShared(options.config), ...place });
    return { ...crawler, close: () => crawler.close().finally(copy.close) };
  } catch (error) {
    copy.close();
    throw errorAboutOriginal(options.dir, copy, error);
  }
}

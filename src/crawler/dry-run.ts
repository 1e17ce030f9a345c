import { join, resolve } from 'node:path';
import { readClusterMark } from '../operations/cluster/cluster-mark.ts';
import { errorAboutOriginal, shadowState, snapshotState, withoutShared } from '../operations/state/state-copy.ts';
import { openCrawler } from './open-crawler.ts';
import type { Crawler, CrawlerOptions } from './types.ts';

/**
 * A crawler on a shadow of the state directory: everything it changes is thrown away when it is closed. Of the original
 * nothing is opened for writing, and another process may hold it.
 * @param written segments that will be written to although they are done with
 */
export async function openDryRun(options: CrawlerOptions, written: readonly string[] = []): Promise<Crawler> {
  const shadow = shadowState(options.dir, written);
  try {
    if (readClusterMark(resolve(options.dir)) !== null) {
      const { copySharedDb } = await import('../operations/cluster/open-shared-db.ts');
      await copySharedDb({ ...options, dir: resolve(options.dir) }, join(shadow.dir, 'db'));
    }
    const crawler = await openCrawler({ ...options, dir: shadow.dir, config: withoutShared(options.config) });
    return closingBoth(crawler, shadow.close);
  } catch (error) {
    shadow.close();
    throw errorAboutOriginal(options.dir, shadow, error);
  }
}

/**
 * A crawler for what only reads, on the crawl db as it is at this moment while another process goes on with it, and on
 * the segments.
 */
export async function openSnapshot(options: CrawlerOptions): Promise<Crawler> {
  // Whoever reads rows in Redis sees them as they were when it began.
  if (readClusterMark(resolve(options.dir)) !== null) return openCrawler({ ...options, access: 'look' });
  const snapshot = snapshotState(options.dir);
  try {
    const config = withoutShared(options.config);
    return closingBoth(await openCrawler({ ...options, config, snapshotDir: snapshot.dir }), snapshot.close);
  } catch (error) {
    snapshot.close();
    throw errorAboutOriginal(options.dir, snapshot, error);
  }
}

const closingBoth = (crawler: Crawler, close: () => void): Crawler => ({
  ...crawler,
  close: () => crawler.close().finally(close),
});

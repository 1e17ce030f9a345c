import type { CrawlDatum } from './datum.ts';
import { revived } from './settle.ts';

/**
 * Merges the records of one URL from two crawls. The later visited one wins; depth and referrer come from the shorter
 * path. The operator's settings (seed, fixed interval, metadata) are merged, the later visited record winning.
 */
export function mergeDatum(mine: CrawlDatum, theirs: CrawlDatum): CrawlDatum {
  if (mine.url !== theirs.url)
    throw new TypeError(`records of one URL were expected, got ${mine.url} and ${theirs.url}`);
  const [later, earlier] = (theirs.lastFetchAt ?? -1) > (mine.lastFetchAt ?? -1) ? [theirs, mine] : [mine, theirs];
  const nearer = theirs.depth < mine.depth ? theirs : mine;
  const merged: CrawlDatum = {
    ...later,
    discoveredAt: Math.min(mine.discoveredAt, theirs.discoveredAt),
    depth: nearer.depth,
    referrer: nearer.referrer,
    seed: mine.seed || theirs.seed,
    score: Math.max(mine.score, theirs.score),
    fixedIntervalMs: later.fixedIntervalMs ?? earlier.fixedIntervalMs,
    metadata: { ...earlier.metadata, ...later.metadata },
  };
  // A seed of one crawl may be an orphan in the other.
  return merged.seed && merged.state === 'orphan'
    ? revived(merged, later.lastFetchAt ?? later.discoveredAt, 'seed')
    : merged;
}

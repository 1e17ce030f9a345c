import { Lru } from '../../domain/lru.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';

/** Treatment of new URLs whose path has too many queries already. */
export type BeyondVariants = 'follow' | 'demote' | 'drop';

/** Reason that such URLs are counted under, also kept in the metadata of a record. */
export const TOO_MANY_QUERIES = 'outlinks: too many queries of one path';

/** Score of a demoted URL, as a share of what it would have been. */
export const DEMOTION = 0.1;

/** Queries that a run adds to a path before it counts those in the crawl db: most paths never get there. */
const COUNTED_FROM = 16;
/** Paths remembered; the least recently met is forgotten, and counted again when it comes back. */
const MAX_PATHS = 20_000;

/**
 * Finds new URLs whose path has too many queries (`/list?sort=a&filter=b...`): most often they show the same items in
 * another order. The queries of a path are counted in the crawl db, so that a restart forgets nothing. A path may
 * exceed the limit by {@link COUNTED_FROM} a run, which spares all other paths the count.
 */
export class QueryVariants {
  private readonly db: Pick<CrawlDb, 'scan'>;
  private readonly max: number;
  private readonly paths = new Lru<{ count: number; isExact: boolean }>({ entries: MAX_PATHS });

  /** @param max queries of one path; 0: no limit */
  constructor(db: Pick<CrawlDb, 'scan'>, max: number) {
    this.db = db;
    this.max = max;
  }

  /** Those of the URLs, none of them in the crawl db yet, that come after the first `max` of their path. */
  async beyond(urls: readonly string[]): Promise<ReadonlySet<string>> {
    const excess = new Set<string>();
    if (this.max === 0) return excess;
    for (const url of urls) {
      const mark = url.indexOf('?');
      if (mark >= 0 && (await this.isBeyond(url.slice(0, mark)))) excess.add(url);
    }
    return excess;
  }

  private async isBeyond(path: string): Promise<boolean> {
    let known = this.paths.get(path) ?? { count: 0, isExact: false };
    if (!known.isExact && known.count >= Math.min(COUNTED_FROM, this.max)) {
      known = { count: Math.max(known.count, await this.stored(path)), isExact: true };
    }
    this.paths.set(path, { ...known, count: Math.min(known.count + 1, this.max + 1) });
    return known.count >= this.max;
  }

  private async stored(path: string): Promise<number> {
    let count = 0;
    for await (const _ of this.db.scan({ prefix: `${path}?`, limit: this.max })) count++;
    return count;
  }
}

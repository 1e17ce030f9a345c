import { Lru } from '../../domain/lru.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';

/** What happens to new URLs of a path that has too many queries already. */
export type BeyondVariants = 'follow' | 'demote' | 'drop';

/** What such URLs are counted under, and the reason kept in a record's metadata. */
export const TOO_MANY_QUERIES = 'outlinks: too many queries of one path';

/** Score of a demoted URL, as a share of what it would have been. */
export const DEMOTION = 0.1;

/** A path is counted in the crawl db only when this run has added so many to it: most paths never get there. */
const COUNTED_FROM = 16;
/** Paths remembered; the one met least lately is forgotten, and counted again when it comes back. */
const MAX_PATHS = 20_000;

/**
 * Tells new URLs of paths that have too many queries (`/list?sort=a&filter=b...`), which most often show the same items
 * in another order. Queries of a path are those in the crawl db, so that a restart forgets nothing; a path may exceed
 * the limit by {@link COUNTED_FROM} a run, which spares all others a look into the db.
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

  /** Which of these URLs, none of them in the crawl db yet, come after the first `max` of their path. */
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

import { DEFAULT_HOT_URLS, HotUrls } from '../../domain/url/hot-urls.ts';
import type { SeenUrls, SeenUrlsStats } from '../../ports/seen-urls.ts';

export interface SeenUrlsOptions {
  /** `CrawlDb.hasMany`: the truth that is asked about whatever the cache does not know. */
  readonly hasMany: (urls: readonly string[]) => Promise<boolean[]>;
  /** Known URLs held in memory; default 65,536. */
  readonly cacheSize?: number;
}

/** Exact: a cache of hot URLs over batched reads of the crawl db. Only known URLs are cached, so "new" always costs a read. */
export function createSeenUrls({ hasMany, cacheSize = DEFAULT_HOT_URLS }: SeenUrlsOptions): SeenUrls {
  const hot = new HotUrls(cacheSize);
  let probes = 0;
  let cacheHits = 0;
  let reads = 0;
  /** Raised by every removal: what was read before one may be gone and must not be cached after it. */
  let removals = 0;

  async function lookUp(urls: readonly string[]): Promise<Map<string, boolean>> {
    const before = removals;
    const found = await hasMany(urls);
    reads += urls.length;
    const known = new Map<string, boolean>();
    for (const [i, url] of urls.entries()) {
      if (found[i] && removals === before) hot.add(url);
      // Added while the read was under way.
      known.set(url, found[i] === true || hot.has(url));
    }
    return known;
  }

  return {
    async probe(urls) {
      probes += urls.length;
      const answers = urls.map((url) => hot.has(url));
      const misses = new Set<string>();
      for (let i = 0; i < urls.length; i++) if (!answers[i]) misses.add(urls[i]!);
      if (misses.size === 0) {
        cacheHits += urls.length;
        return answers;
      }
      const known = await lookUp([...misses]);
      for (let i = 0; i < urls.length; i++) {
        if (answers[i]) cacheHits++;
        else answers[i] = known.get(urls[i]!) === true;
      }
      return answers;
    },
    add(urls) {
      for (const url of urls) hot.add(url);
    },
    remove(urls) {
      if (urls.length > 0) removals++;
      for (const url of urls) hot.remove(url);
    },
    stats: (): SeenUrlsStats => ({ probes, cacheHits, reads }),
  };
}

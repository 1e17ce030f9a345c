import { UrlBytes } from '../../../core/domain/url/cache/url-bytes.ts';
import { HotUrls, type UrlCache } from '../../../core/domain/url/cache/weighted-urls.ts';
import { digestUrls } from '../../../core/domain/url/hash/url-digest.ts';
import type { Log } from '../../../core/ports/log.ts';
import { NO_SEEN_STATS, type SeenFilter, type SeenUrls, type SeenUrlsStats } from '../../../core/ports/seen-filter.ts';

export interface SeenUrlsOptions {
  /** `CrawlDb.hasMany`: decides on URLs that cache and filter leave open. */
  readonly hasMany: (urls: readonly string[]) => Promise<boolean[]>;
  /** Default: the 65,536 most recently used URLs. */
  readonly cache?: UrlCache;
  /** Contains every URL of the crawl db: a URL that it lacks is new, without a read. It is updated elsewhere. */
  readonly filter?: Pick<SeenFilter, 'probe'>;
  /**
   * `bloom`: positives of the filter are not confirmed, which loses as many new URLs as the filter has false positives.
   */
  readonly trust?: 'exact' | 'bloom';
  /** As of {@link UrlBytes}: a stranger could keep URLs of others out. Default: 0. */
  readonly seed?: number;
  readonly log?: Log;
}

/**
 * Cache of hot URLs, then the digests of known ones, then the filter, then batched reads of the crawl db. Exact: only
 * known URLs are cached, and positives of the filter are looked up. If the filter fails, the crawl db is read instead.
 *
 * Reads at random are dear beyond their time: LevelDB moves a table down a level once it was read in vain a hundred
 * times, for which it writes ten others anew.
 */
export function createSeenUrls(options: SeenUrlsOptions): SeenUrls {
  const { hasMany, cache = new HotUrls(), filter, trust = 'exact', seed, log } = options;
  const counts: { -readonly [Key in keyof SeenUrlsStats]: number } = { ...NO_SEEN_STATS };
  /** Raised by every removal: a URL that was read before a removal may be gone, and must not be cached after it. */
  let removals = 0;
  /** 1 for each known URL that was met. */
  const met = new UrlBytes(undefined, seed);

  /** Looks up the `urls` at `positions`, sets `known` for those found, and returns the number of the others. */
  async function lookUp(urls: readonly string[], positions: readonly number[], known: boolean[]): Promise<number> {
    if (positions.length === 0) return 0;
    const before = removals;
    const asked = positions.map((position) => urls[position] as string);
    const found = await hasMany(asked);
    counts.reads += asked.length;
    let unknown = 0;
    for (const [i, url] of asked.entries()) {
      if (found[i] && removals === before) {
        cache.add(url);
        met.set(url, 1);
      }
      if (!found[i]) unknown++;
      // It may have been added while the read was under way.
      known[positions[i] as number] = found[i] === true || cache.has(url);
    }
    return unknown;
  }

  /** Verdict of the filter on each; `null`: it failed. */
  async function filtered(urls: readonly string[]): Promise<Uint8Array | null> {
    if (filter === undefined) return null;
    try {
      return await filter.probe(digestUrls(urls));
    } catch (error) {
      if (counts.filterFaults++ === 0) {
        log?.warn('the filter of seen URLs failed; the crawl db is read instead', { error: String(error) });
      }
      return null;
    }
  }

  async function resolve(urls: readonly string[]): Promise<boolean[]> {
    const known = new Array<boolean>(urls.length).fill(true);
    const perhaps = await filtered(urls);
    if (perhaps === null) {
      await lookUp(urls, [...urls.keys()], known);
      return known;
    }
    const asked: number[] = [];
    for (let i = 0; i < urls.length; i++) {
      if (perhaps[i] === 0) {
        counts.filterNew++;
        // It may have been added while the filter was read.
        known[i] = cache.has(urls[i] as string);
      } else if (trust === 'exact') asked.push(i);
      else counts.trusted++;
    }
    counts.falsePositives += await lookUp(urls, asked, known);
    return known;
  }

  return {
    async probe(urls) {
      counts.probes += urls.length;
      const answers = new Array<boolean>(urls.length);
      const places: number[] = [];
      for (let i = 0; i < urls.length; i++) {
        answers[i] = cache.has(urls[i] as string) || met.get(urls[i] as string) === 1;
        if (!answers[i]) places.push(i);
      }
      counts.cacheHits += urls.length - places.length;
      if (places.length === 0) return answers;
      const missed = places.map((place) => urls[place] as string);
      // Each URL once; callers with many URLs have mostly removed duplicates.
      const distinct = [...new Set(missed)];
      const known = await resolve(distinct);
      if (distinct.length === missed.length) {
        for (let i = 0; i < places.length; i++) answers[places[i] as number] = known[i] as boolean;
        return answers;
      }
      const isKnown = new Map(distinct.map((url, i) => [url, known[i] as boolean]));
      for (const place of places) answers[place] = isKnown.get(urls[place] as string) as boolean;
      return answers;
    },
    add(urls) {
      for (const url of urls) {
        cache.add(url);
        met.set(url, 1);
      }
    },
    remove(urls) {
      if (urls.length > 0) removals++;
      for (const url of urls) {
        cache.remove(url);
        met.set(url, 0);
      }
    },
    stats: () => ({ ...counts }),
  };
}

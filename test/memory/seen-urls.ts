import { NO_SEEN_STATS, type SeenUrls } from '../../src/core/ports/seen-filter.ts';

/** The reference: reads the crawl db for every URL. */
export function createMemorySeenUrls(options: {
  readonly hasMany: (urls: readonly string[]) => Promise<boolean[]>;
}): SeenUrls {
  let probes = 0;
  return {
    async probe(urls) {
      probes += urls.length;
      return options.hasMany(urls);
    },
    add() {},
    remove() {},
    stats: () => ({ ...NO_SEEN_STATS, probes, reads: probes }),
  };
}

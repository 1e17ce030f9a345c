import type { HostSitemaps } from '../../steps/fetch/sitemaps/read-sitemaps.ts';
import type { ReadmitSummary } from '../../steps/summaries.ts';
import { type ReadmitDeps, readmitByName } from './readmitting.ts';
import { type SitemapDeps, sitemapsOf } from './sitemaps.ts';

/** Discovery of URLs beside seeds and the links of fetched pages. */
export interface DiscoveryOperations {
  /**
   * Reads the sitemaps of origins (`https://example.org`) or of hosts; default: the seed hosts. The scheme of a host is
   * that of its known pages, else https. New URLs enter like outlinks. `lastmod` brings the next visit of known pages
   * forward, as far as it has proven right on the host.
   */
  sitemaps(origins?: readonly string[], options?: { readonly signal?: AbortSignal }): Promise<HostSitemaps[]>;
  /**
   * Admits links of all stored pages by the present URL rules, without a request. `crawl` and `updatedb` do so
   * themselves after the rules have changed.
   */
  readmitLinks(options?: { readonly signal?: AbortSignal }): Promise<ReadmitSummary>;
}

export function discoveryOperations(deps: SitemapDeps & ReadmitDeps): DiscoveryOperations {
  return {
    async sitemaps(origins, { signal } = {}) {
      const read = await sitemapsOf(deps, origins, signal);
      await deps.store().saveSeenStats();
      return read;
    },
    readmitLinks: (options = {}) => readmitByName(deps, options),
  };
}

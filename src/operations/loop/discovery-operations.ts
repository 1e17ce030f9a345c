import type { HostSitemaps } from '../../steps/fetch/sitemaps.ts';
import type { ReadmitSummary } from '../../steps/summaries.ts';
import type { CrawlDeps } from '../deps.ts';
import { readmitByName } from './readmitting.ts';
import { sitemapsOf } from './sitemaps.ts';

/** Ways by which URLs enter beside seeds and the links of fetched pages. */
export interface DiscoveryOperations {
  /**
   * Reads the sitemaps of origins (`https://example.org`), or of hosts, whose known pages tell the scheme (else https);
   * default: the hosts of the seeds. New URLs enter like outlinks, `lastmod` brings known pages forward as far as it
   * has proven right on the host.
   */
  sitemaps(origins?: readonly string[], options?: { readonly signal?: AbortSignal }): Promise<HostSitemaps[]>;
  /**
   * Judges the links of all stored pages by the URL rules of today, without a request; new URLs enter. `crawl` and
   * `updatedb` do so by themselves where rules have changed since.
   */
  readmitLinks(options?: { readonly signal?: AbortSignal }): Promise<ReadmitSummary>;
}

export function discoveryOperations(deps: CrawlDeps): DiscoveryOperations {
  return {
    async sitemaps(origins, { signal } = {}) {
      const read = await sitemapsOf(deps, origins, signal);
      await deps.store().saveSeenStats();
      return read;
    },
    readmitLinks: (options = {}) => readmitByName(deps, options),
  };
}

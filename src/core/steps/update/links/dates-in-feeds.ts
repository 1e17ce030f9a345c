import { areDatesUseless, hintTrust, withHint } from '../../../domain/crawl/discovery/sitemap-hint.ts';
import { boundsFor, type SettlePolicy } from '../../../domain/crawl/revisit/next-visit.ts';
import { hostOf } from '../../../domain/url/canonical/url-key.ts';
import { type CrawlDb, type CrawlDbPut, NO_HOST_FACTS } from '../../../ports/crawl-db.ts';
import type { Outlink } from '../../../ports/segment-store.ts';
import type { UrlChain } from '../../url-chain.ts';

/** A page that may be a feed or a sitemap, and its links. */
export interface DatedLinks {
  readonly url: string;
  /** When they were read, ms since the epoch. */
  readonly at: number;
  readonly outlinks: readonly Outlink[];
}

export interface DatesDeps {
  readonly db: Pick<CrawlDb, 'getMany' | 'leases' | 'hostRows'>;
  readonly urls: UrlChain;
  readonly seedHosts: ReadonlySet<string>;
  readonly policy: SettlePolicy;
}

/** Dates looked up of one feed, at most: newest entries come first. */
const MAX_DATES = 500;

/**
 * Known pages that a visited feed, or a sitemap that was visited like a page, says to be newer than their last visit:
 * each as far forward as dates have proven right on its host. A feed is an authority on its own host alone.
 * @param isTaken URLs that this batch writes for another reason, and need no hint
 */
export async function datesInFeeds(
  deps: DatesDeps,
  pages: readonly DatedLinks[],
  isTaken: (url: string) => boolean,
): Promise<CrawlDbPut[]> {
  const dates = new Map<string, { readonly lastmod: number; readonly at: number }>();
  for (const page of pages) {
    for (const [url, lastmod] of datesOf(deps, page)) if (!isTaken(url)) dates.set(url, { lastmod, at: page.at });
  }
  if (dates.size === 0) return [];
  const urls = [...dates.keys()];
  const hosts = [...new Set(urls.map(hostOf))];
  const [records, leases] = [await deps.db.getMany(urls), await deps.db.leases(urls)];
  const rows = await deps.db.hostRows(hosts);
  const trust = new Map(hosts.map((host, i) => [host, hintTrust(rows[i]?.facts ?? NO_HOST_FACTS)]));
  return urls.flatMap((url, i): CrawlDbPut[] => {
    const [previous, date] = [records[i], dates.get(url)];
    if (previous === undefined || date === undefined || leases[i] !== undefined) return [];
    const { minIntervalMs } = boundsFor(previous, deps.policy);
    const datum = withHint(previous, date.lastmod, trust.get(hostOf(url)) ?? 0, date.at, minIntervalMs);
    return datum === null ? [] : [{ datum, previous }];
  });
}

function datesOf({ urls, seedHosts }: DatesDeps, { url: from, at, outlinks }: DatedLinks): Map<string, number> {
  const host = hostOf(from);
  const dates = new Map<string, number>();
  for (const { url: link, rel, lastModifiedAt } of outlinks) {
    if (lastModifiedAt === undefined || (rel !== 'feed' && rel !== 'sitemap')) continue;
    if (dates.size >= MAX_DATES) break;
    const { url } = urls.apply(link, { from, depth: 1, seedHosts, scope: 'outlink' });
    if (url !== null && hostOf(url) === host) dates.set(url, lastModifiedAt);
  }
  return areDatesUseless([...dates.values()], at) ? new Map() : dates;
}

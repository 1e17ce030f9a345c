import type { CrawlState } from '../../domain/crawl/states/datum.ts';
import { topLevelDomain } from '../../domain/url/canonical/top-level-domain.ts';
import type { CrawlDb, StateCounts } from '../../ports/crawl-db.ts';

export const GROUPINGS = ['host', 'domain', 'tld'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface GroupView {
  readonly name: string;
  readonly hosts: number;
  readonly urls: number;
  readonly byState: StateCounts;
}

/** URLs by host, registrable domain or top-level domain, most first. Reads one row a host. */
export async function groupHosts(
  db: Pick<CrawlDb, 'hosts'>,
  grouping: Grouping,
  domainOf: (host: string) => string,
): Promise<GroupView[]> {
  const nameOf = { host: (host: string) => host, domain: domainOf, tld: topLevelDomain }[grouping];
  const groups = new Map<string, { hosts: number; urls: number; byState: Partial<Record<CrawlState, number>> }>();
  for await (const { host, urls, byState } of db.hosts()) {
    if (urls === 0) continue;
    const name = nameOf(host);
    let group = groups.get(name);
    if (group === undefined) {
      group = { hosts: 0, urls: 0, byState: {} };
      groups.set(name, group);
    }
    group.hosts++;
    group.urls += urls;
    for (const [state, count] of Object.entries(byState) as [CrawlState, number][]) {
      group.byState[state] = (group.byState[state] ?? 0) + count;
    }
  }
  return [...groups]
    .map(([name, group]) => ({ name, ...group }))
    .sort((a, b) => b.urls - a.urls || (a.name < b.name ? -1 : 1));
}

import type { FamilyCounts } from '../../core/domain/url/families/family-shares.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { DbStats } from '../../core/steps/records/stats.ts';
import { readWaitingHosts } from '../../core/steps/update/like-urls/family-books.ts';

/** A family of like URLs that is full, and the results of its visits. */
export interface FullFamily extends Pick<FamilyCounts, 'entered' | 'visits' | 'worthwhile'> {
  readonly family: string;
  /** Pages with links waiting for it, as far as remembered. */
  readonly pages: number;
}

export interface LikeUrlsWaiting {
  /** Hosts with waiting links. */
  readonly hosts: number;
  /** Those that most pages wait for, of up to {@link HOSTS_READ} of these hosts. */
  readonly families: readonly FullFamily[];
}

const HOSTS_READ = 100;
const FAMILIES_SHOWN = 5;

/** Counts of a crawl db, and what its URLs are waiting for. */
export interface StatsView extends DbStats {
  /** `null`: no link waits for a family of like URLs. */
  readonly likeUrls: LikeUrlsWaiting | null;
}

/** The families of like URLs that links are waiting for; `null` without any. */
export async function likeUrlsWaiting(db: Pick<CrawlDb, 'meta' | 'hostShares'>): Promise<LikeUrlsWaiting | null> {
  const hosts = [...(await readWaitingHosts(db)).keys()];
  if (hosts.length === 0) return null;
  const shares = (await db.hostShares(hosts.slice(0, HOSTS_READ))).filter((each) => each !== undefined);
  const families = shares.flatMap(({ waiting, families: known }) => {
    const counts = new Map(known.map((each) => [each.name, each]));
    return waiting.flatMap(({ family, pages }): FullFamily[] => {
      const of = family === null ? undefined : counts.get(family.name);
      if (of === undefined) return [];
      const { name, entered, visits, worthwhile } = of;
      return [{ family: name, entered, visits, worthwhile, pages: pages.length }];
    });
  });
  return { hosts: hosts.length, families: families.sort((a, b) => b.pages - a.pages).slice(0, FAMILIES_SHOWN) };
}

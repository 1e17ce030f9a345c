import type { ChangeBelief } from '../../domain/crawl/change/change-belief.ts';
import { type ChangeCount, crawlPrior, hostPrior, NO_CHANGE_COUNT } from '../../domain/crawl/change/change-prior.ts';
import type { SettlePolicy } from '../../domain/crawl/revisit/next-visit.ts';
import type { CrawlDb, HostFacts } from '../../ports/crawl-db.ts';

/** Fact in the crawl db: major changes seen and time watched, ms, over all pages. */
export const CHANGES_KEY = 'schedule.changes';

/** `null` before the first round of a schedule with a belief. */
export async function openChangeCount(db: Pick<CrawlDb, 'meta'>): Promise<ChangeCount | null> {
  const stored = await db.meta(CHANGES_KEY);
  if (stored === undefined) return null;
  const [changes = Number.NaN, watchedMs = Number.NaN] = stored.split(' ').map(Number);
  return changes >= 0 && watchedMs >= 0 ? { changes, watchedMs } : null;
}

/** The count after a round that adds `seen`. */
export function changeCountFacts(
  { schedule }: SettlePolicy,
  count: ChangeCount | null,
  seen: ChangeCount,
): Record<string, string> {
  if (schedule.worth === undefined || (count !== null && seen.watchedMs === 0)) return {};
  const { changes, watchedMs } = count ?? NO_CHANGE_COUNT;
  return { [CHANGES_KEY]: `${changes + seen.changes} ${watchedMs + seen.watchedMs}` };
}

/** The policy with what the whole crawl lets expect of a page without evidence of its own. */
export const withCrawlPrior = (policy: SettlePolicy, crawl: ChangeCount | null): SettlePolicy =>
  policy.schedule.worth === undefined ? policy : { ...policy, prior: crawlPrior(crawl ?? NO_CHANGE_COUNT) };

/** The policy with what a host lets expect of its pages. Segments of older versions have no counts of their hosts. */
export function withHostPrior(policy: SettlePolicy, facts: HostFacts | undefined): SettlePolicy {
  if (policy.prior === undefined || !((facts?.watchedMs ?? 0) > 0)) return policy;
  return { ...policy, prior: hostPrior(policy.prior, facts as HostFacts) };
}

/** Belief about a visited page without evidence of its own; `null` where no schedule with a belief has run. */
export async function expectedOfCrawl(db: Pick<CrawlDb, 'meta'>): Promise<ChangeBelief | null> {
  const crawl = await openChangeCount(db);
  return crawl && crawlPrior(crawl);
}

import { NO_BELIEF, needMs } from '../../domain/crawl/change/change-belief.ts';
import { dueDecision } from '../../domain/crawl/hazard/due-decision.ts';
import { hotGroups } from '../../domain/crawl/hazard/expectation.ts';
import { groupOf } from '../../domain/crawl/hazard/page-group.ts';
import { expectedInterval, isDueByHazard } from '../../domain/crawl/revisit/due.ts';
import { clamp, type SettlePolicy, spreadOf } from '../../domain/crawl/revisit/next-visit.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { CrawlDb, DueEntry } from '../../ports/crawl-db.ts';
import { openExpectations } from '../facts/expected-changes.ts';
import { aheadOf, openRuns } from '../facts/runs.ts';
import { openWatchedHosts } from '../facts/watched-hosts.ts';
import { boundsReader } from '../generate/bounds-reader.ts';
import { isBroughtForward } from '../generate/hazard-due.ts';
import { KnownExpectations } from '../generate/known-expectations.ts';

/** A known page to come: its next visit, ms since the epoch, and the time between the further ones, ms. */
export interface VisitAhead {
  readonly url: string;
  readonly state: DueEntry['state'];
  readonly at: number;
  readonly again: number;
}

type AheadDb = Pick<CrawlDb, 'due' | 'dueOfGroup' | 'meta' | 'hostRows' | 'get'>;

/** Pages of a group read ahead of the forecast, at most. */
const MOST_OF_GROUP = 1_000;

export interface AheadTerms {
  readonly now: number;
  readonly end: number;
  /** Known pages, in any order; those due after the end may be among them. */
  readonly entries: AsyncIterable<DueEntry>;
}

/**
 * The visits that `generate` would make of known pages, were nothing found from now on: a page of a quiet group waits,
 * one of a group that has changed comes before its time.
 */
export async function* visitsAhead(
  db: AheadDb,
  policy: SettlePolicy,
  { now, end, entries }: AheadTerms,
): AsyncGenerator<VisitAhead> {
  const expectations = await openExpectations(db, policy.schedule, now);
  if (expectations === null) {
    for await (const entry of entries) yield asStored(entry);
    return;
  }
  const known = new KnownExpectations(db, expectations);
  const boundsOf = boundsReader(db, policy);
  const runs = await openRuns(db);
  const terms = { aheadMs: runs === null ? 0 : aheadOf(runs) };
  const hot = await hotOf(db, known, now, policy.maxIntervalMs);
  const isHot = ({ url }: DueEntry): boolean => hot.get(hostOf(url))?.has(groupOf(url)) ?? false;
  const ahead = async (entry: DueEntry): Promise<VisitAhead> => {
    if (!isDueByHazard(entry) || isBroughtForward(entry)) return asStored(entry);
    const { url, state, dueAt, belief, weight } = entry;
    const lastFetchAt = entry.lastFetchAt as number;
    const bounds = await boundsOf(url);
    // Ahead of its time generate looks at pages of groups alone that have changed.
    const lookAt = isHot(entry) ? now : Math.max(now, dueAt);
    const expected = known.ofPage(url, lastFetchAt, lookAt);
    const page = { belief, weight, lastFetchAt, spread: spreadOf(url) };
    const { due, waitUntil } = dueDecision(page, expected, { ...bounds, ...terms, now: lookAt });
    const interval = needMs(belief ?? NO_BELIEF, expected.rate, weight) * page.spread;
    const again = clamp(interval, bounds.minIntervalMs, bounds.maxIntervalMs);
    return { url, state, at: due === null ? waitUntil : lookAt, again };
  };
  for await (const window of known.windows(entries)) for (const entry of window) yield await ahead(entry);
  for (const [host, groups] of hot) {
    for (const [group, gainMs] of groups) {
      for (const entry of await db.dueOfGroup({ host, group, after: end, limit: MOST_OF_GROUP })) {
        if (entry.dueAt > end + gainMs) break;
        yield await ahead(entry);
      }
    }
  }
}

const asStored = (entry: DueEntry): VisitAhead => ({
  ...{ url: entry.url, state: entry.state, at: entry.dueAt, again: expectedInterval(entry) },
});

/** Groups whose clocks are ahead of the calendar, by host, and by how much at most, ms. */
async function hotOf(
  db: AheadDb,
  known: KnownExpectations,
  now: number,
  maxIntervalMs: number,
): Promise<ReadonlyMap<string, ReadonlyMap<number, number>>> {
  const hosts = [...(await openWatchedHosts(db))].flatMap(([host, { isHot }]) => (isHot ? [host] : []));
  await known.read(hosts);
  return new Map(hosts.map((host) => [host, hotGroups(known.of(host), now - maxIntervalMs)]));
}

import {
  type ChangeGamma,
  chanceWithin,
  changeGamma,
  expectedPeriodMs,
  NO_BELIEF,
} from '../../domain/crawl/change/change-belief.ts';
import { type HostExpectation, meanRateOfGroup } from '../../domain/crawl/hazard/expectation.ts';
import { hazardBetween } from '../../domain/crawl/hazard/host-clock.ts';
import { groupOf } from '../../domain/crawl/hazard/page-group.ts';
import { isLive } from '../../domain/crawl/revisit/due.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { CrawlDb, DueEntry } from '../../ports/crawl-db.ts';
import { openExpectedSoFar } from '../facts/expected-changes.ts';

/** What is estimated of one page. */
export interface PageEstimate {
  /** Probability that its copy lacks no substantive change. */
  readonly fresh: number;
  /** Time between two substantive changes, ms. */
  readonly periodMs: number;
}

/**
 * Estimates by the mean rates of the pages around, where decisions go by rates whose weight is the time alone: for a
 * figure each page counts for itself.
 */
export interface PageEstimates {
  /** `null`: not a page that has been fetched. */
  of(entry: DueEntry): Promise<PageEstimate | null>;
}

/** `null`: no schedule with a belief has run. */
export async function openPageEstimates(
  db: Pick<CrawlDb, 'meta' | 'hostRows'>,
  now: number,
): Promise<PageEstimates | null> {
  const expectations = await openExpectedSoFar(db, now);
  if (expectations === null) return null;
  const hosts = new Map<string, HostExpectation>();
  const hostExpected = async (host: string): Promise<HostExpectation> => {
    const known = hosts.get(host);
    if (known !== undefined) return known;
    if (hosts.size >= MAX_HOSTS) hosts.clear();
    const [row] = await db.hostRows([host]);
    const expected = expectations(row?.facts);
    hosts.set(host, expected);
    return expected;
  };
  return {
    async of(entry) {
      const { url, lastFetchAt, belief } = entry;
      if (!isLive(entry) || lastFetchAt === null) return null;
      const expected = await hostExpected(hostOf(url));
      const group = groupOf(url);
      const gamma = changeGamma(belief ?? NO_BELIEF, meanRateOfGroup(expected, group, now), now - lastFetchAt);
      return estimateOf(gamma, hazardBetween(expected.clock, group, lastFetchAt, now));
    },
  };
}

/** Hosts remembered: a clock has up to 6 KB. */
const MAX_HOSTS = 5_000;

const estimateOf = (gamma: ChangeGamma, hazardMs: number): PageEstimate => ({
  fresh: 1 - chanceWithin(gamma, hazardMs),
  periodMs: expectedPeriodMs(gamma),
});

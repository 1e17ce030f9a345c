import { murmur3 } from '../../../../page/near/hashes.ts';
import { rateOfInterval } from '../change/change-belief.ts';
import { groupOfClock, type HostClock, hazardBetween, mostGain, visitsLately } from './host-clock.ts';
import { type ChangeLevel, CRAWL_WEIGHT, HOST_WEIGHT, meanRateOfLevel, NO_LEVEL, rateOfLevel } from './level.ts';

/** Groups of a host at most. Few folders change apart; as many are as good as one group a folder (decision 005). */
export const GROUPS = 32;

/** The folder of a URL: its path up to the last slash, e.g. `/docs/guide/`. */
export function folderOf(url: string): string {
  const path = url.indexOf('/', url.indexOf('://') + 3);
  if (path < 0) return '/';
  const query = url.indexOf('?', path);
  const end = query < 0 ? url.length : query;
  return url.slice(path, url.lastIndexOf('/', end - 1) + 1);
}

/** Number of the group of a page among those of its host, 0 to 31: pages of one folder are in one group. */
export const groupOf = (url: string): number => murmur3(folderOf(url)) % GROUPS;

/** What is expected of the pages of a host. */
export interface HostExpectation {
  readonly clock: HostClock;
  /** Rate at which its pages are expected to change before any evidence of the host, changes per ms. */
  readonly above: number;
}

/** What is expected of one page. */
export interface PageExpectation {
  readonly group: number;
  /** Of pages like it, changes per ms. */
  readonly rate: number;
  /** Time of the clock of its group from then until now, ms. */
  readonly hazardMs: number;
}

/**
 * Rate at which a page of an unknown host is expected to change, changes per ms.
 * @param firstIntervalMs the interval that an unknown page of an unknown crawl is to have, ms
 */
export const crawlRate = (crawl: ChangeLevel, firstIntervalMs: number, now: number): number =>
  rateOfLevel(crawl, rateOfInterval(firstIntervalMs), CRAWL_WEIGHT, now);

/** Rate expected of the pages of a group, changes per ms. */
export function rateOfGroup({ clock, above }: HostExpectation, group: number, now: number): number {
  const host = rateOfLevel(clock.level, above, HOST_WEIGHT, now);
  return rateOfLevel(groupOfClock(clock, group)?.level ?? NO_LEVEL, host, HOST_WEIGHT, now);
}

/** As {@link rateOfGroup}, for figures: the mean over the pages rather than over the time. */
export function meanRateOfGroup({ clock, above }: HostExpectation, group: number, now: number): number {
  const host = meanRateOfLevel(clock.level, above, now);
  return meanRateOfLevel(groupOfClock(clock, group)?.level ?? NO_LEVEL, host, now);
}

/** What is expected of a page that was last visited at `lastAt`. */
export function expectedOf(host: HostExpectation, url: string, lastAt: number, now: number): PageExpectation {
  const group = groupOf(url);
  return { group, rate: rateOfGroup(host, group, now), hazardMs: hazardBetween(host.clock, group, lastAt, now) };
}

/** Groups some of whose pages may be due before their time, and by how much at most, ms. */
export function hotGroups({ clock }: HostExpectation, since: number): ReadonlyMap<number, number> {
  const hot = new Map<number, number>();
  for (const { number } of clock.groups) {
    const gain = mostGain(clock, number, since);
    if (gain > 0) hot.set(number, gain);
  }
  return hot;
}

/** Pages of a group that are visited before it is looked at again: 4, 4, 8, 16 .. */
const FIRST_LOOKS = 4;
export const looksAllowed = (clock: HostClock, group: number, now: number): number =>
  Math.max(FIRST_LOOKS, visitsLately(clock, group, now));

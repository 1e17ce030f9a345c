import { type HostExpectation, hotGroups } from '../../domain/crawl/hazard/expectation.ts';
import { nextLookAt } from '../../domain/crawl/hazard/sentinels.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';

/** Fact in the crawl db: hosts some of whose pages may be due before their time in the due index. */
const HOSTS_KEY = 'schedule.hosts';
/** Hosts kept; the ones noted longest ago go first. Their pages are visited when they are due by themselves. */
const MAX_HOSTS = 1_000;

export interface WatchedHost {
  /** Whether a group of it has a clock that is ahead of the calendar. */
  readonly isHot: boolean;
  /** When a group of it is to be looked at, ms since the epoch; `null`: never. */
  readonly lookAt: number | null;
}

/** Those noted longest ago first. */
export type WatchedHosts = ReadonlyMap<string, WatchedHost>;

export async function openWatchedHosts(db: Pick<CrawlDb, 'meta'>): Promise<WatchedHosts> {
  const stored = await db.meta(HOSTS_KEY);
  if (stored === undefined) return new Map();
  const hosts = JSON.parse(stored) as [host: string, isHot: 0 | 1, lookAt: number | null][];
  return new Map(hosts.map(([host, isHot, lookAt]) => [host, { isHot: isHot === 1, lookAt }]));
}

/** The fact after hosts were visited or looked at. */
export function watchedHostFacts(
  known: WatchedHosts,
  changed: ReadonlyMap<string, HostExpectation>,
  maxIntervalMs: number,
  now: number,
): Readonly<Record<string, string>> {
  if (changed.size === 0) return {};
  const hosts = new Map(known);
  for (const [host, expected] of changed) {
    hosts.delete(host);
    const isHot = hotGroups(expected, now - maxIntervalMs).size > 0;
    const lookAt = nextLookAt(expected, maxIntervalMs, now);
    if (isHot || lookAt !== null) hosts.set(host, { isHot, lookAt });
  }
  const kept = [...hosts].slice(-MAX_HOSTS);
  const rows = kept.map(([host, { isHot, lookAt }]) => [host, Number(isHot), lookAt && Math.ceil(lookAt)]);
  return { [HOSTS_KEY]: JSON.stringify(rows) };
}

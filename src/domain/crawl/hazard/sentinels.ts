import { DAY_MS } from '../../time.ts';
import { type HostExpectation, rateOfGroup } from './expectation.ts';
import type { PageGroup } from './host-clock.ts';

/** Gap between looks at a group, in square roots of (days x changes): the optimum for cost 1/gap against delay gap. */
const ROOT_FACTOR = 4;
/** Looks cost at most this share of what visits at the cap cost. */
const MOST_SHARE = 0.15;
/** Pages of a group chosen at a time. */
const MOST = 2;

/**
 * Longest time without a look at a group, ms: of a group that nobody has looked at for so long some pages are visited
 * for the others.
 * @param rate expected of its pages, changes per ms
 */
export function gapBetweenLooks({ pages }: Pick<PageGroup, 'pages'>, rate: number, maxIntervalMs: number): number {
  const root = (ROOT_FACTOR / Math.sqrt(pages * rate * DAY_MS)) * DAY_MS;
  return Math.max(root, maxIntervalMs / (MOST_SHARE * pages));
}

/** Groups of a host that were not looked at for too long, and how many of their pages are to be visited for that. */
export function groupsToLookAt(host: HostExpectation, maxIntervalMs: number, now: number): ReadonlyMap<number, number> {
  const looks = new Map<number, number>();
  for (const group of host.clock.groups) {
    if (group.pages === 0) continue;
    const gap = gapBetweenLooks(group, rateOfGroup(host, group.number, now), maxIntervalMs);
    const sinceMs = Math.min(maxIntervalMs, now - group.lookedAt);
    if (sinceMs >= gap) looks.set(group.number, Math.min(MOST, Math.max(1, Math.floor(sinceMs / gap))));
  }
  return looks;
}

/**
 * When the first group of a host is to be looked at, ms since the epoch; `null`: visits at the cap are often enough.
 */
export function nextLookAt(host: HostExpectation, maxIntervalMs: number, now: number): number | null {
  let next: number | null = null;
  for (const group of host.clock.groups) {
    if (group.pages === 0) continue;
    const gap = gapBetweenLooks(group, rateOfGroup(host, group.number, now), maxIntervalMs);
    if (gap > maxIntervalMs) continue;
    next = Math.min(next ?? Number.POSITIVE_INFINITY, group.lookedAt + gap);
  }
  return next;
}

import type { Policy } from './policies.ts';
import type { Page, World } from './worlds.ts';

export interface Outcome {
  readonly policy: string;
  /** Mean share of pages whose copy lacks no major change, after the warm-up. */
  readonly freshness: number;
  /** Mean time since the first major change that a copy lacks, days; 0 for a fresh copy. */
  readonly age: number;
  /** Share of the budget's fetches that were made. */
  readonly used: number;
  /** Share of fetches that found no major change. */
  readonly wasted: number;
  /** Estimates within twice the true period, of pages with at least 3 major changes. */
  readonly periods: number | null;
}

export interface Plan {
  /** Fetches a day. */
  readonly budget: number;
  readonly roundsPerDay: number;
  /** Days of warm-up, not counted. */
  readonly learningDays: number;
}

/** Position in a page's history. */
interface Track {
  next: number;
  low: number;
  high: number;
  hasMinor: boolean;
  /** First major change that the copy lacks; `null`: it is fresh. */
  staleSince: number | null;
}

/** Runs a policy on a world with a fetch budget, round by round, and measures freshness exactly. */
export function simulate(world: World, policy: Policy, plan: Plan): Outcome {
  const { budget, roundsPerDay, learningDays } = plan;
  const tracks: Track[] = world.pages.map(() => ({
    next: 0,
    low: 0,
    high: 0,
    hasMinor: false,
    staleSince: null,
  }));
  let staleDays = 0;
  let ageDays = 0;
  let fetches = 0;
  let wasted = 0;
  let allowance = 0;
  const account = (track: Track, until: number): void => {
    const from = Math.max(track.staleSince ?? until, learningDays);
    if (track.staleSince === null || until <= from) return;
    staleDays += until - from;
    ageDays += ((until - track.staleSince) ** 2 - (from - track.staleSince) ** 2) / 2;
  };
  // Discovery is not measured: all pages are known, and fresh, on the first day.
  for (let page = 0; page < tracks.length; page++) policy.onFetch(page, { day: 0, outcome: 'new', distance: null });
  for (let round = 1; round < world.days * roundsPerDay; round++) {
    const day = round / roundsPerDay;
    allowance += budget / roundsPerDay;
    const count = Math.floor(allowance);
    allowance -= count;
    for (const index of best(world.pages.length, count, (page) => policy.rank(page, day))) {
      const page = world.pages[index] as Page;
      const track = tracks[index] as Track;
      advance(page, track, day);
      account(track, Math.min(day, page.goneAt));
      if (track.staleSince === null) wasted++;
      fetches++;
      policy.onFetch(index, { day, ...seen(page, track, day) });
      Object.assign(track, { low: 0, high: 0, hasMinor: false, staleSince: null });
    }
  }
  for (const [index, track] of tracks.entries()) {
    const page = world.pages[index] as Page;
    advance(page, track, world.days);
    account(track, Math.min(world.days, page.goneAt));
  }
  const pageDays = world.pages.reduce(
    (sum, page) => sum + Math.max(0, Math.min(page.goneAt, world.days) - learningDays),
    0,
  );
  return {
    policy: policy.name,
    freshness: 1 - staleDays / pageDays,
    age: ageDays / pageDays,
    used: fetches / Math.floor(budget * world.days),
    wasted: wasted / Math.max(1, fetches),
    periods: periodShare(world, policy),
  };
}

/** Pages with the highest ranks; those of rank negative infinity are left out. */
function best(pages: number, count: number, rank: (page: number) => number): number[] {
  const ranked: { page: number; rank: number }[] = [];
  for (let page = 0; page < pages; page++) {
    const value = rank(page);
    if (value !== Number.NEGATIVE_INFINITY) ranked.push({ page, rank: value });
  }
  ranked.sort((a, b) => (a.rank === b.rank ? a.page - b.page : b.rank > a.rank ? 1 : -1));
  return ranked.slice(0, count).map(({ page }) => page);
}

function advance(page: Page, track: Track, day: number): void {
  for (
    let change = page.changes[track.next];
    change !== undefined && change.day <= day;
    change = page.changes[++track.next]
  ) {
    track.low ^= change.low;
    track.high ^= change.high;
    if (change.isMajor) track.staleSince ??= change.day;
    else track.hasMinor = true;
  }
}

function seen(
  page: Page,
  track: Track,
  day: number,
): { outcome: 'modified' | 'unchanged' | 'gone'; distance: number | null } {
  if (day >= page.goneAt) return { outcome: 'gone', distance: null };
  const isChanged = track.staleSince !== null || track.hasMinor || page.isNoisy;
  if (!isChanged) return { outcome: 'unchanged', distance: null };
  // A word that differs on every fetch turns no bit in two cases of three, one in the others.
  const noise = page.isNoisy && (day * 7) % 1 < 0.33 ? 1 : 0;
  return { outcome: 'modified', distance: ones(track.low ^ noise) + ones(track.high) };
}

function ones(word: number): number {
  let left = word >>> 0;
  let count = 0;
  for (; left !== 0; left &= left - 1) count++;
  return count;
}

function periodShare(world: World, policy: Policy): number | null {
  let asked = 0;
  let good = 0;
  for (const [index, page] of world.pages.entries()) {
    const majors = page.changes.filter((change) => change.isMajor).length;
    const estimate = policy.period(index);
    if (estimate === null) return null;
    if (majors < 3 || page.goneAt < world.days) continue;
    asked++;
    const ratio = estimate * page.rate;
    if (ratio >= 0.5 && ratio <= 2) good++;
  }
  return good / Math.max(1, asked);
}

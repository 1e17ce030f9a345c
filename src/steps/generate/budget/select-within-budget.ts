import type { CrawlDb, DueEntry } from '../../../ports/crawl-db.ts';
import { CapCounter } from '../../update/cap-counter.ts';
import { type Candidate, type CapCounts, type Caps, Selection } from '../fetch-list.ts';
import { TOUCHED_SHARE } from './touched-urls.ts';

export interface BudgetDeps {
  readonly db: CrawlDb;
  readonly hostOf: (url: string) => string;
  readonly domainOf: (host: string) => string;
  /** `null`: not to be selected (counted by the caller). */
  readonly candidate: (entry: DueEntry, rank: number) => Candidate | null;
  /** Order of new URLs. */
  readonly rankNew: (entry: DueEntry) => number;
  /** What coming back to a page is worth now. */
  readonly rankKnown: (entry: DueEntry) => number;
  readonly minIntervalMs: number;
  /** The operator's least time between two visits of a page; absent: `minIntervalMs` for all. */
  readonly minIntervalOf?: (url: string) => Promise<number>;
  /** Pages that go first, whatever they are worth. */
  readonly touched: readonly DueEntry[];
  readonly onReject?: (candidate: Candidate, cap: keyof CapCounts) => void;
}

export interface BudgetSelection {
  readonly chosen: Candidate[];
  readonly due: number;
  /** Of those that are due. */
  readonly rejected: Readonly<CapCounts>;
}

/**
 * Candidates compared for each fetch of the budget, so that a round's cost goes with the budget and not with the db.
 */
const LOOKED_AT_PER_FETCH = 10;
const LOOKED_AT_MORE = 2_000;
/** Pages due before long that are looked at for each fetch, when less is due than the budget allows. */
const AHEAD_PER_FETCH = 2;

/**
 * The best `budget` URLs. `newShare` of it belongs to new URLs, what they leave to pages to come back to, and the other
 * way round. When less is due than the budget allows, pages that will be due next come early: the price of a visit
 * falls by that, and later rounds have enough.
 */
export async function selectWithinBudget(
  deps: BudgetDeps,
  now: number,
  until: number,
  caps: Caps,
  budget: number,
  newShare: number,
): Promise<BudgetSelection> {
  const limit = LOOKED_AT_PER_FETCH * budget + LOOKED_AT_MORE;
  const rejected: CapCounts = { hostCap: 0, domainCap: 0, topN: 0 };
  // What would only have come early is passed over by nobody.
  const onReject = (candidate: Candidate, cap: keyof CapCounts): void => {
    if (candidate.entry.dueAt > until) return;
    rejected[cap]++;
    deps.onReject?.(candidate, cap);
  };
  const known = new Selection({ ...caps, topN: budget }, onReject);
  const ahead = new Set<string>();
  for (const entry of deps.touched.slice(0, Math.ceil(budget * TOUCHED_SHARE))) {
    const candidate = deps.candidate(entry, Number.POSITIVE_INFINITY);
    ahead.add(entry.url);
    if (candidate !== null) known.add(candidate);
  }
  const fresh = new Selection({ ...caps, topN: budget }, onReject);
  let due = ahead.size;
  const isOneOfTooMany = (entry: DueEntry, counter: CapCounter): boolean => {
    const host = deps.hostOf(entry.url);
    if (!counter.hasEnoughOf(host)) return false;
    const cap = caps.maxPerHost > 0 ? 'hostCap' : 'domainCap';
    onReject({ entry, host, domain: deps.domainOf(host), rank: 0 }, cap);
    return true;
  };
  // Only what may be selected counts: else what rules keep out, and what stays due for that, would hide all that comes
  // after it.
  let compared = 0;
  const newCounts = new CapCounter(caps, LOOKED_AT_PER_FETCH, deps.domainOf);
  for await (const entry of deps.db.due({ until, only: 'new' })) {
    if (newCounts.counted >= limit) break;
    if (ahead.has(entry.url)) continue;
    due++;
    if (compared >= limit && isOneOfTooMany(entry, newCounts)) continue;
    const candidate = deps.candidate(entry, deps.rankNew(entry));
    if (candidate === null) continue;
    compared++;
    newCounts.count(candidate.host);
    fresh.add(candidate);
  }
  let looked = 0;
  const knownCounts = new CapCounter(caps, LOOKED_AT_PER_FETCH, deps.domainOf);
  const admitted = new CapCounter(caps, AHEAD_PER_FETCH, deps.domainOf);
  for await (const entry of deps.db.due({ until: Number.MAX_SAFE_INTEGER, only: 'known' })) {
    const isDue = entry.dueAt <= until;
    if (looked >= limit && (!isDue || knownCounts.counted >= limit)) break;
    if (ahead.has(entry.url)) continue;
    if (!isDue && admitted.counted >= AHEAD_PER_FETCH * budget) break;
    if (isDue) {
      due++;
      if (looked >= limit && isOneOfTooMany(entry, knownCounts)) continue;
    } else {
      looked++;
      if (!(await mayComeEarly(deps, entry, now))) continue;
    }
    const candidate = deps.candidate(entry, isDue && entry.isFixed ? Number.POSITIVE_INFINITY : deps.rankKnown(entry));
    if (candidate === null) continue;
    if (isDue) {
      looked++;
      knownCounts.count(candidate.host);
    }
    // Many that could not be had must not hide what comes after them.
    if (entry.unansweredAt === null) admitted.count(candidate.host);
    known.add(candidate);
  }
  const ofFresh = Math.ceil((budget - ahead.size) * newShare);
  return { chosen: shared(fresh.finish(), known.finish(), caps, budget, ofFresh, onReject), due, rejected };
}

/** Failures, refusals and vanished pages wait for their time, and so does what the operator pinned. */
async function mayComeEarly(deps: BudgetDeps, entry: DueEntry, now: number): Promise<boolean> {
  const { failures, unansweredAt, state, isFixed, lastFetchAt } = entry;
  if (failures > 0 || unansweredAt !== null || state === 'gone' || isFixed || lastFetchAt === null) return false;
  return lastFetchAt + ((await deps.minIntervalOf?.(entry.url)) ?? deps.minIntervalMs) <= now;
}

/**
 * Takes from both lists, each best first: `ofFresh` of the one, the rest of the other, then whatever is left, under the
 * caps of both.
 */
function shared(
  fresh: readonly Candidate[],
  known: readonly Candidate[],
  caps: Caps,
  budget: number,
  ofFresh: number,
  onReject: (candidate: Candidate, cap: keyof CapCounts) => void,
): Candidate[] {
  const chosen: Candidate[] = [];
  const perHost = new Map<string, number>();
  const perDomain = new Map<string, number>();
  const take = (from: readonly Candidate[], start: number, upTo: number): number => {
    let at = start;
    for (let taken = 0; at < from.length && taken < upTo && chosen.length < budget; at++) {
      const candidate = from[at] as Candidate;
      const { host, domain } = candidate;
      const ofHost = perHost.get(host) ?? 0;
      const ofDomain = perDomain.get(domain) ?? 0;
      if (caps.maxPerHost > 0 && ofHost >= caps.maxPerHost) {
        onReject(candidate, 'hostCap');
        continue;
      }
      if (caps.maxPerDomain > 0 && ofDomain >= caps.maxPerDomain) {
        onReject(candidate, 'domainCap');
        continue;
      }
      perHost.set(host, ofHost + 1);
      perDomain.set(domain, ofDomain + 1);
      chosen.push(candidate);
      taken++;
    }
    return at;
  };
  const freshAt = take(fresh, 0, ofFresh);
  const knownAt = take(known, 0, budget - chosen.length);
  const left = [...fresh.slice(take(fresh, freshAt, budget)), ...known.slice(take(known, knownAt, budget))];
  for (const candidate of left) onReject(candidate, 'topN');
  return chosen;
}

// core/domain/crawl/revisit/: when a page is due: bounds, budgets, the contract of fetch schedules.

import { DAY_MS } from '../../time.ts';

/**
 * Account of the fetch budget, in fetches per day: a token bucket with a capacity of one day, and a limit per UTC day.
 */
export interface BudgetAccount {
  /** Time of the last update, ms since the epoch. */
  readonly at: number;
  /** Tokens in the bucket, fetches with fraction. */
  readonly saved: number;
  /** Days since the epoch, and the fetches made on that day. */
  readonly day: number;
  readonly spentToday: number;
  /** Fetches made since the account was opened; it never decreases. */
  readonly spent: number;
}

/**
 * The account at `now`; `null`: a new account, with a full bucket. A clock that was set back earns nothing, and the
 * account goes on from there.
 */
export function accountAt(account: BudgetAccount | null, perDay: number, now: number): BudgetAccount {
  const day = Math.floor(now / DAY_MS);
  if (account === null) return { at: now, saved: perDay, day, spentToday: 0, spent: 0 };
  const earned = (Math.max(0, now - account.at) * perDay) / DAY_MS;
  return {
    at: now,
    saved: Math.min(perDay, account.saved + earned),
    day,
    spentToday: day === account.day ? account.spentToday : 0,
    spent: account.spent,
  };
}

/** Whole fetches allowed now: the tokens, and never more than `perDay` on one day. */
export function allowance({ saved, spentToday }: BudgetAccount, perDay: number): number {
  // A fraction that is missing by rounding alone is granted.
  return Math.max(0, Math.floor(Math.min(saved, perDay - spentToday) + 1e-6));
}

export function spend(account: BudgetAccount, fetches: number): BudgetAccount {
  const { saved, spentToday, spent } = account;
  return { ...account, saved: Math.max(0, saved - fetches), spentToday: spentToday + fetches, spent: spent + fetches };
}

/** Reads an account back from JSON; `null` for anything else. */
export function parseAccount(text: string | undefined): BudgetAccount | null {
  if (text === undefined) return null;
  try {
    const { at, saved, day, spentToday, spent } = JSON.parse(text) as BudgetAccount;
    return [at, saved, day, spentToday, spent].every(Number.isFinite) ? { at, saved, day, spentToday, spent } : null;
  } catch {
    return null;
  }
}

/** Visits to the pages of a host that rounds have taken on one UTC day. */
export interface FetchesOfDay {
  /** Days since the epoch. */
  readonly day: number;
  readonly fetches: number;
}

/** A bound of the visits to the pages of a host on a UTC day. */
export interface DayBound {
  readonly fetchesPerDay: number;
  /** Where it is set, for messages: `hosts[0].fetchesPerDay`. */
  readonly name: string;
}

/** The bound of a host; `undefined`: it has none. */
export type DayBoundOf = (host: string) => DayBound | undefined;

const dayOf = (at: number): number => Math.floor(at / DAY_MS);

/** Visits on the UTC day of `now`. */
export const fetchesToday = (known: FetchesOfDay | null, now: number): number =>
  known !== null && known.day === dayOf(now) ? known.fetches : 0;

/** Visits that the bound still allows on the UTC day of `now`. */
export const fetchesLeft = (known: FetchesOfDay | null, { fetchesPerDay }: DayBound, now: number): number =>
  Math.max(0, fetchesPerDay - fetchesToday(known, now));

export const withFetches = (known: FetchesOfDay | null, fetches: number, now: number): FetchesOfDay => ({
  day: dayOf(now),
  fetches: fetchesToday(known, now) + fetches,
});

/** Without visits taken at `at` that did not come about. A day that is over is left as it is. */
export function withoutFetches(known: FetchesOfDay | null, fetches: number, at: number): FetchesOfDay | null {
  if (known === null || known.day !== dayOf(at)) return known;
  return { ...known, fetches: Math.max(0, known.fetches - fetches) };
}

/** Start of the next UTC day, ms since the epoch. */
export const nextDayAt = (now: number): number => (dayOf(now) + 1) * DAY_MS;

/** Such as `hosts[0].fetchesPerDay: 50 of 50 asked today`. */
export const spentText = ({ name, fetchesPerDay }: DayBound, fetches: number): string =>
  `${name}: ${fetches} of ${fetchesPerDay} asked today`;

/**
 * The budget of a crawl in several partitions. Fetches are granted to the holder of a partition when it asks for them,
 * and what is granted counts as spent: so whatever dies, no more is fetched than the budget has.
 */
export interface BudgetBook {
  /** When partitions began to ask, after a time in which none did, ms since the epoch. */
  readonly startedAt: number;
  /** Of the whole crawl. */
  readonly account: BudgetAccount;
  /** By the number of the partition. */
  readonly partitions: Readonly<Record<string, PartitionShare>>;
}

interface PartitionShare {
  /** Fetches made before its last claim, as {@link BudgetAccount.spent} of the partition counts them. */
  readonly spent: number;
  /** What `spent` may rise to. */
  readonly granted: number;
  /** Fetches that are kept for the partition, with fraction; part of the account. */
  readonly kept: number;
  /** How much of what is distributed belongs to it, relative to others; 1 at the beginning. */
  readonly weight: number;
  /** Due URLs that it was granted no fetch for. */
  readonly wants: number;
  /** Worth of an average visit lately, page-days. */
  readonly price: number | null;
  /** Time of its last claim, ms since the epoch. */
  readonly at: number;
  /** Fencing token of the holder that made it. */
  readonly token: number;
}

/** What the holder of a partition says when it asks for fetches. */
interface Claim extends Pick<PartitionShare, 'spent' | 'price' | 'token'> {
  readonly partition: number;
  /** URLs that are due; as many as the budget has a day where they were not counted to the end. */
  readonly due: number;
  /** URLs that may come early, if the budget has fetches that nothing else needs. */
  readonly early: number;
  /** Fetches that it uses before it asks again, at most. */
  readonly most: number;
}

interface BudgetTerms {
  /** Fetches a day of the whole crawl. */
  readonly perDay: number;
  readonly partitions: number;
  readonly now: number;
  readonly seen: SeenPartitions;
}

/** Partitions as the claimant sees them. */
export interface SeenPartitions {
  /** They have nothing to fetch. */
  readonly idle: ReadonlySet<number>;
  /** URLs have been sent to them: what they want is not known yet. */
  readonly awaited: ReadonlySet<number>;
}

export interface Settlement {
  readonly book: BudgetBook;
  /** What `spent` of the partition may rise to. */
  readonly granted: number;
  /** Part of the partition in the budget, 0 to 1. */
  readonly share: number;
  /** Due URLs of the partition wait, while fetches are kept for others, which may leave them. */
  readonly isHeldBack: boolean;
}

/** Nothing is kept for a partition that has not asked for so long, ms: it has nothing to fetch, or no holder. */
export const FORGET_MS = 10 * 60_000;
/**
 * Weight moves by the square root of price over mean price with as many visits as the partition has in a day: steps are
 * damped, as a price is known after the visits, and follow what is visited, not the time that goes by.
 */
const GAIN = 0.5;
const WEIGHTS = { least: 0.1, most: 10 } as const;
/** Halvings after which the level of a distribution is known to the last digit. */
const HALVINGS = 60;
/** A fraction that is missing by rounding alone. */
const ROUNDING = 1e-6;

/**
 * Settles a claim. What the budget allows is distributed by weight over the partitions that have URLs due, and the
 * claimant is granted its part; parts of others are kept for them. What no due URL needs goes to pages that come early.
 * The weight of a partition whose visits win more than the average grows, and that of others falls, until all win the
 * same: the best division of a budget whose wins diminish (equal marginal values). What was granted and not spent is
 * taken back first. `null`: a later holder of the partition has made a claim, so this one has lost it.
 */
export function settleBudget(
  stored: BudgetBook | null,
  { partition, spent, due, early, most, price, token }: Claim,
  { perDay, partitions, now, seen }: BudgetTerms,
): Settlement | null {
  const isResumed = stored === null || isQuiet(stored, now);
  const startedAt = isResumed ? now : stored.startedAt;
  const known = stored?.partitions[partition];
  const before = known === undefined || known.token === NEW_SHARE.token ? undefined : known;
  if (before !== undefined && before.token > token) return null;
  const opened = accountAt(stored?.account ?? null, perDay, now);
  const account = before === undefined ? opened : settled(opened, before, spent, perDay);
  const free = Math.max(0, Math.min(account.saved, perDay - account.spentToday));
  const storedOf = (each: number): PartitionShare => {
    const share = stored?.partitions[each] ?? NEW_SHARE;
    return isResumed ? { ...share, kept: 0 } : share;
  };
  const all = Array.from({ length: partitions }, (_, each) => storedOf(each).weight);
  const weights = all.reduce((sum, weight) => sum + weight, 0);
  const shares = new Map<number, PartitionShare>();
  for (let each = 0; each < partitions; each++) {
    if (each === partition) continue;
    const other = storedOf(each);
    const isForgotten = seen.idle.has(each) || Math.abs(now - Math.max(other.at, startedAt)) > FORGET_MS;
    if (isForgotten) shares.set(each, { ...other, kept: 0, wants: 0 });
    // The needs of a partition that has not claimed yet are unknown: its part is kept for it.
    else if (other.at >= startedAt && !seen.awaited.has(each)) shares.set(each, other);
    else shares.set(each, { ...other, wants: Math.max(other.kept, other.wants, (free * other.weight) / weights) });
  }
  const asking = { ...storedOf(partition), spent, granted: spent, wants: due, price, token, at: now };
  const visits = before === undefined ? 0 : spent - before.spent;
  const days = (visits * weights) / (perDay * asking.weight);
  const weight =
    price === null ? asking.weight : moved(asking.weight, price / meanPrice([...shares.values(), asking], now), days);
  shares.set(partition, { ...asking, weight });
  const share = weight / (weights - asking.weight + weight);
  const left = distribute(shares, free);

  const own = shares.get(partition) as PartitionShare;
  const ofDue = Math.min(due, most, Math.floor(own.kept + ROUNDING));
  // Something is left only where no due URL waits.
  const ofEarly = Math.min(early, most - ofDue, Math.floor(left * share + ROUNDING));
  const granted = ofDue + ofEarly;
  shares.set(partition, {
    ...own,
    kept: Math.max(0, own.kept - ofDue),
    granted: spent + granted,
    wants: due - ofDue,
  });
  // Less than a whole one is left of its own where it is granted fewer than it could use.
  const isKeptForOthers = [...shares.values()].some(({ kept }) => kept + ROUNDING >= 1);
  return {
    book: { startedAt, account: spend(account, granted), partitions: Object.fromEntries(shares) },
    granted: spent + granted,
    share,
    isHeldBack: ofDue < Math.min(due, most) && isKeptForOthers,
  };
}

/** The share of a partition that has never made a claim: tokens of holders are higher. */
const NEW_SHARE: PartitionShare = {
  ...{ spent: 0, granted: 0, kept: 0, weight: 1, wants: 0, price: null },
  ...{ at: Number.MIN_SAFE_INTEGER, token: 0 },
};

/** Whether no partition has asked for so long that the crawl stood still. */
const isQuiet = ({ partitions }: BudgetBook, now: number): boolean =>
  Object.values(partitions).every(({ at }) => Math.abs(now - at) > FORGET_MS);

/** The account after what a partition has not used was taken back, or what it has used beyond was charged. */
function settled(account: BudgetAccount, before: PartitionShare, spent: number, perDay: number): BudgetAccount {
  const unused = before.granted - spent;
  if (unused <= 0) return spend(account, -unused);
  // Fetches of an earlier day are in no count of this one.
  const isOfToday = accountAt(null, perDay, before.at).day === account.day;
  const spentToday = isOfToday ? Math.max(0, account.spentToday - unused) : account.spentToday;
  return { ...account, saved: Math.min(perDay, account.saved + unused), spentToday };
}

/** Mean of the prices of the last day, at least one. */
function meanPrice(shares: readonly PartitionShare[], now: number): number {
  const prices = shares.flatMap(({ price, at }) => (price !== null && Math.abs(now - at) < DAY_MS ? [price] : []));
  return prices.reduce((sum, price) => sum + price, 0) / prices.length;
}

function moved(weight: number, ratio: number, days: number): number {
  const exponent = GAIN * Math.min(1, Math.max(0, days));
  return Math.min(WEIGHTS.most, Math.max(WEIGHTS.least, weight * ratio ** exponent));
}

/**
 * Keeps `free` fetches for the partitions that have URLs due: by weight, each at most what it wants and at least what
 * was kept for it before (max-min fairness, as water fills vessels). Returns what is left.
 */
function distribute(shares: Map<number, PartitionShare>, free: number): number {
  const sumOf = (part: (share: PartitionShare) => number): number =>
    [...shares.values()].reduce((sum, share) => sum + part(share), 0);
  const keptOf = ({ kept, wants }: PartitionShare): number => Math.min(kept, wants);
  const before = sumOf(keptOf);
  const scale = before > free ? free / before : 1;
  const atLevel =
    (level: number) =>
    (share: PartitionShare): number =>
      Math.min(share.wants, Math.max(keptOf(share) * scale, level * share.weight));
  let [low, high] = [0, free / WEIGHTS.least];
  for (let halving = 0; halving < HALVINGS; halving++) {
    const level = (low + high) / 2;
    if (sumOf(atLevel(level)) <= free) low = level;
    else high = level;
  }
  for (const [each, share] of shares) shares.set(each, { ...share, kept: atLevel(low)(share) });
  return Math.max(0, free - sumOf(({ kept }) => kept));
}

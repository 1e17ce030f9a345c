import { lateAfterMs } from '../../domain/crawl/hazard/due-decision.ts';
import {
  accountAt,
  allowance,
  type BudgetAccount,
  parseAccount,
  spend,
} from '../../domain/crawl/revisit/budget-shares.ts';
import type { SettlePolicy } from '../../domain/crawl/revisit/next-visit.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';

/**
 * Facts in the crawl db: the account of a budget by the day, and the fetches a day of the last round ("0": no limit).
 */
const ACCOUNT = 'budget.account';
const PER_DAY = 'budget.perDay';

export interface FetchBudget {
  /** Fetches that the round may make. */
  readonly budget: number;
  readonly account: BudgetAccount | null;
  /** Fetches a day; `null`: the budget is of each run. */
  readonly perDay: number | null;
}

interface FetchBudgetOptions {
  readonly budget: number;
  readonly budgetPerDay: number;
}

/** The budget of a round; `null`: there is no limit. */
export async function openFetchBudget(
  db: CrawlDb,
  options: FetchBudgetOptions,
  now: number,
): Promise<FetchBudget | null> {
  const { budget, budgetPerDay } = options;
  if (budget === 0 && budgetPerDay === 0) return null;
  if (budgetPerDay === 0) return { budget, account: null, perDay: null };
  const account = accountAt(parseAccount(await db.meta(ACCOUNT)), budgetPerDay, now);
  return { budget: budget > 0 ? budget : allowance(account, budgetPerDay), account, perDay: budgetPerDay };
}

/** Facts to write with the leases of the round. */
export function fetchBudgetFacts(
  fetchBudget: FetchBudget | null,
  fetches: number,
  options: FetchBudgetOptions,
): Record<string, string> {
  if (fetchBudget === null) return { [PER_DAY]: '0' };
  return {
    [PER_DAY]: String(options.budgetPerDay > 0 ? options.budgetPerDay : fetchBudget.budget),
    ...(fetchBudget.account === null ? {} : { [ACCOUNT]: JSON.stringify(spend(fetchBudget.account, fetches)) }),
  };
}

/** Facts to write when this number of URLs joins a round under a daily budget. */
export async function chargedFacts(db: Pick<CrawlDb, 'meta'>, fetches: number): Promise<Record<string, string>> {
  const account = parseAccount(await db.meta(ACCOUNT));
  return account === null ? {} : { [ACCOUNT]: JSON.stringify(spend(account, fetches)) };
}

/** Fetches made under a daily budget since there is one. */
export async function spentSoFar(db: Pick<CrawlDb, 'meta'>): Promise<number> {
  return parseAccount(await db.meta(ACCOUNT))?.spent ?? 0;
}

export interface BudgetView {
  /** Fetches a day. */
  readonly perDay: number;
  /** Fetches of this UTC day so far; `null` for a budget of each run. */
  readonly spentToday: number | null;
}

/** The budget of the last round as people see it; `null`: no limit. */
export async function budgetView(db: CrawlDb, now: number): Promise<BudgetView | null> {
  const perDay = await limitPerDay(db);
  if (perDay === null) return null;
  const account = parseAccount(await db.meta(ACCOUNT));
  return { perDay, spentToday: account === null ? null : accountAt(account, perDay, now).spentToday };
}

/** Fetches a day that the last round was limited to; `null`: no limit. */
async function limitPerDay(db: Pick<CrawlDb, 'meta'>): Promise<number | null> {
  const perDay = Number((await db.meta(PER_DAY)) ?? 0);
  return perDay > 0 ? perDay : null;
}

/** The budgets of several partitions as one; `null` where one of them has no limit. */
export function summedBudget(views: readonly (BudgetView | null)[]): BudgetView | null {
  let perDay = 0;
  let spentToday: number | null = null;
  for (const view of views) {
    if (view === null) return null;
    perDay += view.perDay;
    if (view.spentToday !== null) spentToday = (spentToday ?? 0) + view.spentToday;
  }
  return views.length === 0 ? null : { perDay, spentToday };
}

/** Fact in the crawl db. */
const PRICE = 'schedule.price';
/** Weight of a round in the moving average. */
const GAIN = 0.1;

/**
 * The policy under the budget in force: a page is due when a visit to it is worth the average visit, at the latest
 * after 1.5 times what round robin would take.
 */
export async function withVisitPrice(
  db: Pick<CrawlDb, 'meta' | 'counters'>,
  policy: SettlePolicy,
): Promise<SettlePolicy> {
  const perDay = await limitPerDay(db);
  if (perDay === null || policy.schedule.goesByHazard !== true) return policy;
  const { urls } = await db.counters();
  const maxIntervalMs = Math.max(policy.maxIntervalMs, lateAfterMs(urls, perDay));
  return { ...policy, price: await storedPrice(db), maxIntervalMs };
}

/** The worth of an average visit lately, stale days; `null` before the first. */
export async function storedPrice(db: Pick<CrawlDb, 'meta'>): Promise<number | null> {
  const stored = Number((await db.meta(PRICE)) ?? Number.NaN);
  return stored > 0 ? stored : null;
}

/** The price after a round chose visits to known pages that are worth so much each. */
export function visitPriceFacts(price: number | null, worths: readonly number[]): Record<string, string> {
  if (worths.length === 0) return {};
  const mean = worths.reduce((sum, worth) => sum + worth, 0) / worths.length;
  const next = price === null ? mean : price + GAIN * (mean - price);
  return next > 0 ? { [PRICE]: String(next) } : {};
}

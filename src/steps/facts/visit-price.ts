import type { SettlePolicy } from '../../domain/crawl/revisit/next-visit.ts';
import { DAY_MS } from '../../domain/time.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import { limitPerDay } from './fetch-budget.ts';

/** Fact in the crawl db. */
const PRICE = 'schedule.price';
/** Weight of a round in the moving average. */
const GAIN = 0.1;

export interface VisitPrice {
  /** The policy with the price and the longest interval under the budget in force. */
  readonly policy: SettlePolicy;
  /** Moving average of the worth of a visit, page-days; `null` before the first. */
  readonly price: number | null;
}

/**
 * Under a budget a page is due when a visit to it is worth the average visit. The longest interval is the time in which
 * the budget visits every URL three times: max(30 d, 3 N / B) with N URLs and B fetches a day.
 */
export async function openVisitPrice(db: CrawlDb, policy: SettlePolicy): Promise<VisitPrice> {
  const price = await storedPrice(db);
  const perDay = await limitPerDay(db);
  if (perDay === null || policy.schedule.worth === undefined) return { policy, price };
  const { urls } = await db.counters();
  const maxIntervalMs = Math.max(30 * DAY_MS, ((3 * urls) / perDay) * DAY_MS, policy.maxIntervalMs);
  return { policy: { ...policy, price, maxIntervalMs }, price };
}

/** The worth of an average visit lately, page-days; `null` before the first. */
export async function storedPrice(db: Pick<CrawlDb, 'meta'>): Promise<number | null> {
  const stored = Number((await db.meta(PRICE)) ?? Number.NaN);
  return stored > 0 ? stored : null;
}

/** The price after a round in which `visits` to known pages were worth `worth` in all. */
export function visitPriceFacts({ price }: VisitPrice, visits: number, worth: number): Record<string, string> {
  if (visits === 0) return {};
  const mean = worth / visits;
  const next = price === null ? mean : price + GAIN * (mean - price);
  return next > 0 ? { [PRICE]: String(next) } : {};
}

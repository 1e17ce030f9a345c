import { lateAfterMs } from '../../domain/crawl/hazard/visit-worth.ts';
import type { SettlePolicy } from '../../domain/crawl/revisit/next-visit.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import { limitPerDay } from './fetch-budget.ts';

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

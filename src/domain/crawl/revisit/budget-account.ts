// domain/crawl/revisit/: when a page is due: bounds, budgets, the contract of fetch schedules.
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
  /** Fetches made since the account was opened; it never decreases. Absent in accounts of 0.1.0. */
  readonly spent?: number;
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
    spent: account.spent ?? 0,
  };
}

/** Whole fetches allowed now: the tokens, and never more than `perDay` on one day. */
export function allowance({ saved, spentToday }: BudgetAccount, perDay: number): number {
  // A fraction that is missing by rounding alone is granted.
  return Math.max(0, Math.floor(Math.min(saved, perDay - spentToday) + 1e-6));
}

export function spend(account: BudgetAccount, fetches: number): BudgetAccount {
  const { saved, spentToday, spent = 0 } = account;
  return { ...account, saved: Math.max(0, saved - fetches), spentToday: spentToday + fetches, spent: spent + fetches };
}

/** Reads an account back from JSON; `null` for anything else. */
export function parseAccount(text: string | undefined): BudgetAccount | null {
  if (text === undefined) return null;
  try {
    const { at, saved, day, spentToday, spent = 0 } = JSON.parse(text) as BudgetAccount;
    return [at, saved, day, spentToday, spent].every(Number.isFinite) ? { at, saved, day, spentToday, spent } : null;
  } catch {
    return null;
  }
}

import { DAY_MS } from '../../time.ts';

/**
 * Fetches a day, given out evenly: what a round may spend. A token bucket that holds a day's worth, with an account per
 * UTC day.
 */
export interface BudgetAccount {
  /** When the account was last brought up to date, ms since the epoch. */
  readonly at: number;
  /** Fetches saved up, with fraction. */
  readonly saved: number;
  /** Days since the epoch, and what was spent on this one. */
  readonly day: number;
  readonly spentToday: number;
}

/**
 * The account at `now`; `null`: there was none, and a day's worth is there at once. A clock that was set back gives
 * nothing, and goes on from there.
 */
export function accountAt(account: BudgetAccount | null, perDay: number, now: number): BudgetAccount {
  const day = Math.floor(now / DAY_MS);
  if (account === null) return { at: now, saved: perDay, day, spentToday: 0 };
  const earned = (Math.max(0, now - account.at) * perDay) / DAY_MS;
  return {
    at: now,
    saved: Math.min(perDay, account.saved + earned),
    day,
    spentToday: day === account.day ? account.spentToday : 0,
  };
}

/** Whole fetches that may be made now: what is saved up, and never more than `perDay` on one day. */
export function allowance({ saved, spentToday }: BudgetAccount, perDay: number): number {
  // What a fraction lacks for the sake of rounding alone is not held back.
  return Math.max(0, Math.floor(Math.min(saved, perDay - spentToday) + 1e-6));
}

export function spend(account: BudgetAccount, fetches: number): BudgetAccount {
  return { ...account, saved: Math.max(0, account.saved - fetches), spentToday: account.spentToday + fetches };
}

/** Reads an account back from JSON; `null` for anything else. */
export function parseAccount(text: string | undefined): BudgetAccount | null {
  if (text === undefined) return null;
  try {
    const { at, saved, day, spentToday } = JSON.parse(text) as BudgetAccount;
    return [at, saved, day, spentToday].every(Number.isFinite) ? { at, saved, day, spentToday } : null;
  } catch {
    return null;
  }
}

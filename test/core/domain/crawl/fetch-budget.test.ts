import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  accountAt,
  allowance,
  type BudgetAccount,
  parseAccount,
  spend,
} from '../../../../src/core/domain/crawl/revisit/budget-shares.ts';
import { DAY_MS, MINUTE_MS } from '../../../../src/core/domain/time.ts';

describe('a budget by the day', () => {
  it('has a day’s worth at first, and earns it evenly from then on', () => {
    const first = accountAt(null, 100, 5 * DAY_MS);
    expect(allowance(first, 100)).toBe(100);
    const spent = spend(first, 100);
    expect([spent.spent, spend(spent, 5).spent]).toEqual([100, 105]);
    expect(allowance(accountAt(spent, 100, 5.25 * DAY_MS), 100)).toBe(0);
    expect(allowance(accountAt(spent, 100, 6 * DAY_MS), 100)).toBe(100);
    const later = spend(accountAt(spent, 100, 6 * DAY_MS), 100);
    expect(allowance(accountAt(later, 100, 7.25 * DAY_MS), 100)).toBe(100);
    const rounds = spend(accountAt(later, 100, 7 * DAY_MS), 100);
    expect([0.25, 0.5, 0.75].map((part) => allowance(accountAt(rounds, 100, (8 + part) * DAY_MS), 100))).toEqual([
      100, 100, 100,
    ]);
  });

  it('saves up no more than a day’s worth, and gives nothing for a clock that was set back', () => {
    const empty = spend(accountAt(null, 10, 0), 10);
    expect(allowance(accountAt(empty, 10, 30 * DAY_MS), 10)).toBe(10);
    expect(allowance(accountAt(empty, 10, -5 * DAY_MS), 10)).toBe(0);
  });

  it('goes on from where the clock was set back to, however far it was ahead', () => {
    const ahead = spend(accountAt(null, 10, 5_000 * DAY_MS), 10);
    const corrected = spend(accountAt(ahead, 10, 100 * DAY_MS), 0);
    expect(allowance(corrected, 10)).toBe(0);
    expect(allowance(accountAt(corrected, 10, 100.5 * DAY_MS), 10)).toBe(5);
  });

  it('is never exceeded on a day, and spent over many', () => {
    const pauses = fc.array(fc.integer({ min: MINUTE_MS, max: DAY_MS / 2 }), { minLength: 20, maxLength: 200 });
    fc.assert(
      fc.property(pauses, fc.integer({ min: 1, max: 5_000 }), (steps, perDay) => {
        let account: BudgetAccount | null = null;
        let now = 1_000 * DAY_MS;
        let total = 0;
        const byDay = new Map<number, number>();
        for (const pause of steps) {
          account = accountAt(account, perDay, now);
          const fetches = allowance(account, perDay);
          account = parseAccount(JSON.stringify(spend(account, fetches))) as BudgetAccount;
          total += fetches;
          const day = Math.floor(now / DAY_MS);
          byDay.set(day, (byDay.get(day) ?? 0) + fetches);
          now += pause;
        }
        for (const fetches of byDay.values()) expect(fetches).toBeLessThanOrEqual(perDay);
        const days = (now - 1_000 * DAY_MS) / DAY_MS;
        expect(total).toBeGreaterThanOrEqual(Math.floor(perDay * (days - 1)) - perDay * 0.5 - 1);
      }),
    );
  });

  it('reads an account that is none as none', () => {
    for (const text of [undefined, '', '{}', 'null', '{"at":1,"saved":"x"}']) expect(parseAccount(text)).toBeNull();
  });
});

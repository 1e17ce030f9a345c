import { describe, expect, it } from 'vitest';
import { type CrawlDatum, newDatum, type Visit, type VisitOutcome } from '../../src/domain/crawl/datum.ts';
import { accountOfVisits, replayVisits } from '../../src/domain/crawl/replay.ts';
import { createFixedSchedule } from '../../src/domain/crawl/schedules/fixed.ts';

const DAY = 86_400_000;
const bounds = { minIntervalMs: 3_600_000, maxIntervalMs: 90 * DAY };

/** A page visited every ten days, with these outcomes. */
function page(outcomes: readonly VisitOutcome[]): CrawlDatum {
  const visits = outcomes.map(
    (outcome, i): Visit => ({
      at: i * 10 * DAY,
      outcome,
      distance: outcome === 'modified' ? 9 : null,
      elapsedMs: i === 0 ? null : 10 * DAY,
      bytes: outcome === 'modified' || outcome === 'new' ? 1_000 : 0,
      intervalMs: 10 * DAY,
    }),
  );
  return { ...newDatum({ url: 'https://a.example/', now: 0, intervalMs: DAY }), visits };
}

const history = page(['new', 'unchanged-304', 'modified', 'unchanged-digest', 'modified']);

describe('replay', () => {
  it('accounts for what really happened: a change lies half way between the visits around it', () => {
    expect(accountOfVisits(history)).toEqual({
      fetches: 4,
      found: 2,
      changes: 2,
      staleMs: 10 * DAY,
      spanMs: 40 * DAY,
      bytes: 2_000,
    });
  });

  it.each([
    // Changes on days 15 and 35.
    [5, { fetches: 8, found: 2, staleMs: 0 }],
    [10, { fetches: 4, found: 2, staleMs: 10 * DAY }],
    [40, { fetches: 1, found: 2, staleMs: 25 * DAY }],
    [60, { fetches: 0, found: 0, staleMs: 25 * DAY }],
  ])('a fixed interval of %s days', (days, expected) => {
    expect(replayVisits(history, createFixedSchedule({ intervalMs: days * DAY }), bounds)).toMatchObject(expected);
  });

  it('pays for changed and unchanged fetches what they cost', () => {
    expect(replayVisits(history, createFixedSchedule({ intervalMs: 5 * DAY }), bounds)?.bytes).toBe(2_000);
  });

  it('has nothing to tell of a page without two answers', () => {
    expect(accountOfVisits(page(['new']))).toBeNull();
    expect(accountOfVisits(page(['new', 'failed', 'failed']))).toBeNull();
    expect(replayVisits(page([]), createFixedSchedule({ intervalMs: DAY }), bounds)).toBeNull();
  });
});

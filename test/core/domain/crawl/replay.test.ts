import { describe, expect, it } from 'vitest';
import type { IntervalRule, SettlePolicy } from '../../../../src/core/domain/crawl/revisit/next-visit.ts';
import { accountOfVisits, replayVisits } from '../../../../src/core/domain/crawl/revisit/replay.ts';
import type { FetchSchedule, ScheduleVisit } from '../../../../src/core/domain/crawl/revisit/schedule.ts';
import {
  ADAPTIVE_DEFAULTS,
  createAdaptiveSchedule,
  createFixedSchedule,
} from '../../../../src/core/domain/crawl/schedules/nutch-schedules.ts';
import {
  type CrawlDatum,
  newDatum,
  type Visit,
  type VisitOutcome,
} from '../../../../src/core/domain/crawl/states/datum.ts';
import { DAY_MS, HOUR_MS } from '../../../../src/core/domain/time.ts';

const under = (schedule: FetchSchedule, intervalRules: readonly IntervalRule[] = []): SettlePolicy => ({
  schedule,
  intervalRules,
  minIntervalMs: HOUR_MS,
  maxIntervalMs: 90 * DAY_MS,
  retryIntervalMs: DAY_MS,
  maxRetryIntervalMs: DAY_MS,
  goneIntervalsMs: [],
});

/** A page visited every ten days, with these outcomes. */
function page(outcomes: readonly VisitOutcome[]): CrawlDatum {
  const visits = outcomes.map(
    (outcome, i): Visit => ({
      at: i * 10 * DAY_MS,
      outcome,
      distance: outcome === 'modified' ? 9 : null,
      elapsedMs: i === 0 ? null : 10 * DAY_MS,
      bytes: outcome === 'modified' || outcome === 'new' ? 1_000 : 0,
      intervalMs: 10 * DAY_MS,
    }),
  );
  return { ...newDatum({ url: 'https://a.example/', now: 0, intervalMs: DAY_MS }), visits };
}

const history = page(['new', 'unchanged-304', 'modified', 'unchanged-digest', 'modified']);

describe('replay', () => {
  it('accounts for the stored visits: a change lies half way between the visits around it', () => {
    expect(accountOfVisits(history)).toEqual({
      fetches: 4,
      found: 2,
      changes: 2,
      staleMs: 10 * DAY_MS,
      spanMs: 40 * DAY_MS,
      bytes: 2_000,
    });
  });

  it.each([
    // Changes on days 15 and 35.
    [5, { fetches: 8, found: 2, staleMs: 0 }],
    [10, { fetches: 4, found: 2, staleMs: 10 * DAY_MS }],
    [40, { fetches: 1, found: 2, staleMs: 25 * DAY_MS }],
    [60, { fetches: 0, found: 0, staleMs: 25 * DAY_MS }],
  ])('a fixed interval of %s days', (days, expected) => {
    expect(replayVisits(history, under(createFixedSchedule({ intervalMs: days * DAY_MS })))).toMatchObject(expected);
  });

  it('counts the mean bytes of changed and unchanged fetches', () => {
    expect(replayVisits(history, under(createFixedSchedule({ intervalMs: 5 * DAY_MS })))?.bytes).toBe(2_000);
  });

  it('keeps the bounds of the host or type, and the interval that the operator has fixed', () => {
    const often = createFixedSchedule({ intervalMs: DAY_MS });
    const fetches = (datum: CrawlDatum, ...rules: IntervalRule[]) => replayVisits(datum, under(often, rules))?.fetches;
    const rule = { of: 'a.example', minIntervalMs: 10 * DAY_MS, maxIntervalMs: null };
    expect(fetches(history)).toBe(40);
    expect(fetches(history, rule)).toBe(4);
    expect(fetches({ ...history, contentType: 'text/html' }, { ...rule, of: 'text/*' })).toBe(4);
    expect(fetches({ ...history, fixedIntervalMs: 20 * DAY_MS }, rule)).toBe(2);
  });

  it("comes when the schedule says, not at its interval: Nutch's moves towards the change", () => {
    const options = { ...ADAPTIVE_DEFAULTS, intervalMs: 10 * DAY_MS };
    // From day 10 on, without a change: 14 days less 0.3 x 10, then 21 (the time since the first visit) less 0.3 x 21.
    const unchanged = page(['new', 'unchanged-304', 'unchanged-304', 'unchanged-304', 'unchanged-304']);
    expect(replayVisits(unchanged, under(createAdaptiveSchedule(options)))?.fetches).toBe(3);
  });

  it('asks the schedule as updatedb does, and tells it the largest of the changes since the visit before', () => {
    const calls: ScheduleVisit[] = [];
    const everyTwentyDays: FetchSchedule = {
      name: 'calls',
      initialIntervalMs: 20 * DAY_MS,
      onVisit(memory, visit) {
        calls.push(visit);
        return { memory, nextFetchAt: visit.now + 20 * DAY_MS, terms: [] };
      },
    };
    const start = 3 * DAY_MS;
    // The ring has lost the first visits: the oldest that is left says nothing about what came after it.
    const distances = [40, null, 3, 9, null, null, null, 7];
    const outcomes = [
      'modified',
      'unchanged-304',
      'modified',
      'modified',
      'unchanged-304',
      'unchanged-digest',
      'failed',
      'modified',
    ];
    const datum = page(outcomes as VisitOutcome[]);
    const visits = datum.visits.map((visit, i) => ({
      ...visit,
      at: start + visit.at,
      distance: distances[i] as number | null,
      elapsedMs: (visit.outcome === 'modified' ? 10 : 4) * DAY_MS,
    }));
    const account = replayVisits({ ...datum, visits }, under(everyTwentyDays));
    expect(
      calls.map(({ now, elapsedMs, outcome, evidence, distance, changedAt }) => ({
        ...{
          day: (now - start) / DAY_MS,
          days: elapsedMs === null ? null : elapsedMs / DAY_MS,
          outcome,
          evidence,
          distance,
        },
        ...{ changed: changedAt === null ? null : (changedAt - start) / DAY_MS },
      })),
    ).toEqual([
      { day: 0, days: null, outcome: 'new', evidence: 'first', distance: null, changed: 0 },
      // Changes on days 15, 25 and 65.
      { day: 20, days: 20, outcome: 'modified', evidence: 'distance', distance: 3, changed: 20 },
      { day: 40, days: 20, outcome: 'modified', evidence: 'distance', distance: 9, changed: 40 },
      { day: 60, days: 20, outcome: 'unchanged', evidence: 'digest', distance: null, changed: 40 },
    ]);
    expect(account).toEqual({
      ...{ fetches: 3, found: 2, changes: 3, spanMs: 70 * DAY_MS, bytes: 2_000 },
      staleMs: (5 + 15 + 5) * DAY_MS,
    });
    expect(accountOfVisits({ ...datum, visits })).toEqual({
      ...{ fetches: 6, found: 3, changes: 3, spanMs: 70 * DAY_MS, bytes: 3_000, staleMs: 15 * DAY_MS },
    });
  });

  it('of several changes at once the largest counts, in either order, and one of unknown size for none', () => {
    const seen = (...distances: (number | null)[]): number | null | undefined => {
      const calls: (number | null)[] = [];
      const datum = page(['new', ...distances.map((): VisitOutcome => 'modified'), 'unchanged-304']);
      const visits = datum.visits.map((visit, i) => ({ ...visit, distance: distances[i - 1] ?? null }));
      const once: FetchSchedule = {
        name: 'once',
        initialIntervalMs: DAY_MS,
        onVisit(memory, { now, distance }) {
          calls.push(distance);
          return { memory, nextFetchAt: now + 10 * distances.length * DAY_MS, terms: [] };
        },
      };
      replayVisits({ ...datum, visits }, under(once));
      return calls[1];
    };
    expect([seen(9, 3), seen(3, 9), seen(null, 4), seen(4, null), seen(null, null)]).toEqual([9, 9, 4, 4, null]);
  });

  it('fetches that find no change cost nothing where none is known', () => {
    const changing = page(['new', 'modified', 'modified']);
    expect(replayVisits(changing, under(createFixedSchedule({ intervalMs: 2 * DAY_MS })))?.bytes).toBe(2_000);
  });

  it('has no account of a page without two answers', () => {
    expect(accountOfVisits(page(['new']))).toBeNull();
    expect(accountOfVisits(page(['new', 'failed', 'failed']))).toBeNull();
    expect(replayVisits(page(['new']), under(createFixedSchedule({ intervalMs: DAY_MS })))).toBeNull();
    expect(replayVisits(page([]), under(createFixedSchedule({ intervalMs: DAY_MS })))).toBeNull();
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NO_BELIEF } from '../../../../src/core/domain/crawl/change/change-belief.ts';
import type { FetchSchedule, ScheduleVisit } from '../../../../src/core/domain/crawl/revisit/schedule.ts';
import { createFreshnessSchedule } from '../../../../src/core/domain/crawl/schedules/freshness.ts';
import {
  ADAPTIVE_DEFAULTS,
  createAdaptiveSchedule,
  createFixedSchedule,
} from '../../../../src/core/domain/crawl/schedules/nutch-schedules.ts';
import {
  createSimilaritySchedule,
  SIMILARITY_DEFAULTS,
} from '../../../../src/core/domain/crawl/schedules/similarity.ts';
import type { ScheduleMemory } from '../../../../src/core/domain/crawl/states/datum.ts';
import { DAY_MS } from '../../../../src/core/domain/time.ts';

const days = (n: number): number => n * DAY_MS;
const memoryOf = (intervalDays: number): ScheduleMemory => ({ intervalMs: days(intervalDays), belief: null });

function visitAt(now: number, part: Partial<ScheduleVisit>): ScheduleVisit {
  return {
    now,
    elapsedMs: DAY_MS,
    outcome: 'unchanged',
    evidence: 'digest',
    distance: null,
    changedAt: null,
    lastModifiedAt: null,
    ...part,
  };
}

const modifiedBy = (distance: number): Partial<ScheduleVisit> => ({
  outcome: 'modified',
  evidence: 'distance',
  distance,
});

describe('similarity schedule', () => {
  const wide = createSimilaritySchedule({ ...SIMILARITY_DEFAULTS, maxIntervalMs: days(1000) });

  it('moves from 30 d through 42, 58.8, 47.04, 37.632, 45.1584, 63.22176 d for h = 0, 0, 10, 10, 2, 0', () => {
    let memory = memoryOf(30);
    const seen = [0, 0, 10, 10, 2, 0].map((distance) => {
      memory = wide.onVisit(memory, visitAt(0, modifiedBy(distance))).memory;
      return memory.intervalMs / DAY_MS;
    });
    for (const [i, expected] of [42, 58.8, 47.04, 37.632, 45.1584, 63.22176].entries()) {
      expect(seen[i]).toBeCloseTo(expected, 5);
    }
  });

  it.each([
    [0, 42],
    [1, 39],
    [2, 36],
    [3, 30],
    [4, 30],
    [5, 30],
    [6, 24],
    [32, 24],
  ])('a distance of %i bits takes 30 d to %f d', (distance, expected) => {
    const decision = wide.onVisit(memoryOf(30), visitAt(0, modifiedBy(distance)));
    expect(decision.memory.intervalMs / DAY_MS).toBeCloseTo(expected, 6);
  });

  it('treats every rung that says unchanged as similarity 1, and a change without signatures as similarity 0', () => {
    for (const evidence of ['conditional', 'headers', 'digest'] as const) {
      expect(wide.onVisit(memoryOf(10), visitAt(0, { evidence })).memory.intervalMs).toBe(days(14));
    }
    const blind = wide.onVisit(memoryOf(10), visitAt(0, { outcome: 'modified', distance: null }));
    expect(blind.memory.intervalMs).toBe(days(8));
  });

  it('keeps the interval when another body came and the signature was made by other rules', () => {
    const resigned = visitAt(0, { outcome: 'modified', evidence: 'resigned', distance: null });
    expect(wide.onVisit(memoryOf(10), resigned).memory.intervalMs).toBe(days(10));
    const adaptive = createAdaptiveSchedule({ ...ADAPTIVE_DEFAULTS, syncDelta: false });
    expect(adaptive.onVisit(memoryOf(10), resigned).memory.intervalMs).toBe(days(10));
    const belief = { ...NO_BELIEF, changes: 2, watchedMs: days(30) };
    expect(createFreshnessSchedule().onVisit({ intervalMs: 1, belief }, resigned).memory.belief).toEqual(belief);
  });

  it('keeps the start interval on the first visit', () => {
    const first = wide.onVisit(memoryOf(30), visitAt(5, { outcome: 'new', evidence: 'first', elapsedMs: null }));
    expect(first.nextFetchAt).toBe(5 + days(30));
  });

  it('stays within its bounds', () => {
    const narrow = createSimilaritySchedule({
      ...SIMILARITY_DEFAULTS,
      minIntervalMs: days(9),
      maxIntervalMs: days(11),
    });
    expect(narrow.onVisit(memoryOf(10), visitAt(0, {})).memory.intervalMs).toBe(days(11));
    expect(narrow.onVisit(memoryOf(10), visitAt(0, modifiedBy(64))).memory.intervalMs).toBe(days(9));
  });
});

describe("adaptive schedule (Nutch's rule)", () => {
  const plain = createAdaptiveSchedule({ ...ADAPTIVE_DEFAULTS, syncDelta: false });
  const synced = createAdaptiveSchedule();

  it('takes 30 d to 24 d when modified and to 42 d when not', () => {
    expect(plain.onVisit(memoryOf(30), visitAt(0, { outcome: 'modified' })).memory.intervalMs).toBe(days(24));
    expect(plain.onVisit(memoryOf(30), visitAt(0, {})).memory.intervalMs).toBe(days(42));
  });

  it('fetched on day 100, modified on day 60, unchanged, interval 30 d: 42 d, next on day 130', () => {
    const decision = synced.onVisit(memoryOf(30), visitAt(days(100), { changedAt: days(60) }));
    expect(decision.memory.intervalMs).toBe(days(42));
    expect(decision.nextFetchAt).toBe(days(130));
  });

  it('raises the interval to the time since the last change', () => {
    const decision = synced.onVisit(memoryOf(30), visitAt(days(100), { changedAt: 0 }));
    expect(decision.memory.intervalMs).toBe(days(100));
    expect(decision.nextFetchAt).toBe(days(170));
  });

  it.each([1, 7, 30])('settles around 0.6 of an exact change period of %i d', (period) => {
    let memory = memoryOf(period);
    let now = 0;
    let lastSeen = 0;
    const intervals: number[] = [];
    for (let visit = 0; visit < 600; visit++) {
      now += memory.intervalMs;
      const version = Math.floor(now / days(period));
      memory = plain.onVisit(memory, visitAt(now, { outcome: version === lastSeen ? 'unchanged' : 'modified' })).memory;
      lastSeen = version;
      if (visit >= 200) intervals.push(memory.intervalMs / days(period));
    }
    const mean = intervals.reduce((a, b) => a + b, 0) / intervals.length;
    expect(mean).toBeGreaterThan(0.5);
    expect(mean).toBeLessThan(0.72);
  });
});

describe('every schedule', () => {
  const schedules: FetchSchedule[] = [
    createFixedSchedule({ intervalMs: DAY_MS }),
    createAdaptiveSchedule(),
    createSimilaritySchedule(),
  ];
  const visits = fc.record({
    outcome: fc.constantFrom('new' as const, 'modified' as const, 'unchanged' as const),
    evidence: fc.constantFrom('conditional' as const, 'headers' as const, 'digest' as const, 'distance' as const),
    distance: fc.option(fc.integer({ min: 0, max: 64 })),
    gapMs: fc.integer({ min: 0, max: 400 * DAY_MS }),
  });

  it.each(schedules.map((schedule) => [schedule.name, schedule] as const))(
    '%s gives a finite, positive interval after any history, and its arithmetic',
    (_name, schedule) => {
      fc.assert(
        fc.property(fc.array(visits, { minLength: 1, maxLength: 40 }), (history) => {
          let memory: ScheduleMemory = { intervalMs: schedule.initialIntervalMs, belief: null };
          let now = 1_700_000_000_000;
          let changedAt: number | null = null;
          for (const { gapMs, ...visit } of history) {
            now += gapMs;
            if (visit.outcome !== 'unchanged') changedAt = now;
            const decision = schedule.onVisit(memory, visitAt(now, { ...visit, elapsedMs: gapMs, changedAt }));
            expect(Number.isFinite(decision.nextFetchAt)).toBe(true);
            expect(decision.memory.intervalMs).toBeGreaterThan(0);
            expect(decision.terms.length).toBeGreaterThan(0);
            memory = decision.memory;
          }
        }),
        { numRuns: 60 },
      );
    },
  );
});

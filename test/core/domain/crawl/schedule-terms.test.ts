import { describe, expect, it } from 'vitest';
import { NO_BELIEF } from '../../../../src/core/domain/crawl/change/change-belief.ts';
import {
  type FetchSchedule,
  isTelling,
  type ScheduleTerm,
  type ScheduleVisit,
} from '../../../../src/core/domain/crawl/revisit/schedule.ts';
import { createFreshnessSchedule, FRESHNESS_DEFAULTS } from '../../../../src/core/domain/crawl/schedules/freshness.ts';
import {
  ADAPTIVE_DEFAULTS,
  createAdaptiveSchedule,
  createFixedSchedule,
} from '../../../../src/core/domain/crawl/schedules/nutch-schedules.ts';
import {
  createSimilaritySchedule,
  SIMILARITY_DEFAULTS,
} from '../../../../src/core/domain/crawl/schedules/similarity.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../src/core/domain/time.ts';

const NOW = Date.UTC(2026, 0, 10);
const memory = { intervalMs: 10 * DAY_MS, belief: null };
const visit = (part: Partial<ScheduleVisit> = {}): ScheduleVisit => ({
  ...{ now: NOW, elapsedMs: DAY_MS, outcome: 'unchanged', evidence: 'digest', distance: null },
  ...{ changedAt: null, lastModifiedAt: null, ...part },
});
const changed = (distance: number | null, part: Partial<ScheduleVisit> = {}): ScheduleVisit =>
  visit({ outcome: 'modified', evidence: distance === null ? 'digest' : 'distance', distance, ...part });
const ms = (label: string, value: number): ScheduleTerm => ({ label, value, unit: 'ms' });

it.each<[ScheduleVisit['outcome'], ScheduleVisit['evidence'], boolean]>([
  ['new', 'first', false],
  ['unchanged', 'conditional', true],
  ['unchanged', 'headers', true],
  ['unchanged', 'digest', true],
  ['modified', 'distance', true],
  ['modified', 'resigned', false],
  ['modified', 'partial', false],
  ['unchanged', 'partial', false],
])('whether a visit tells of changes: %s by %s, %s', (outcome, evidence, expected) => {
  expect(isTelling({ outcome, evidence })).toBe(expected);
});

it.each([
  [createFixedSchedule({ intervalMs: 3 * DAY_MS }), 'fixed', 3 * DAY_MS],
  [createAdaptiveSchedule(), 'adaptive', 30 * DAY_MS],
  [createSimilaritySchedule(), 'similarity', 30 * DAY_MS],
  [createFreshnessSchedule(), 'freshness', 7 * DAY_MS],
])('a schedule has its name and the interval of unknown pages: $name', (schedule, name, intervalMs) => {
  expect(schedule).toMatchObject({ name, initialIntervalMs: intervalMs });
  expect(schedule.goesByHazard ?? false).toBe(name === 'freshness');
});

it('the fixed schedule keeps its interval and what others have learnt', () => {
  const known = { ...memory, belief: NO_BELIEF };
  expect(createFixedSchedule({ intervalMs: 3 * DAY_MS }).onVisit(known, visit())).toEqual({
    memory: { intervalMs: 3 * DAY_MS, belief: NO_BELIEF },
    nextFetchAt: NOW + 3 * DAY_MS,
    terms: [ms('fixed interval', 3 * DAY_MS)],
  });
});

describe('the arithmetic of the adaptive schedule', () => {
  const before = ms('interval before', 10 * DAY_MS);
  const factor = (outcome: string, value: number): ScheduleTerm => ({ label: `factor (${outcome})`, value });
  const moved = (value: number): ScheduleTerm => ms('moved towards the change by', value);

  it.each<[name: string, seen: ScheduleVisit, days: number, ahead: number, more: ScheduleTerm[]]>([
    ['unchanged, and never seen to change', visit(), 14, 0, [factor('unchanged', 1.4)]],
    ['changed now', changed(3, { changedAt: NOW }), 8, 0, [factor('modified', 0.8), moved(0)]],
    [
      'changed not long ago',
      visit({ changedAt: NOW - 10 * DAY_MS }),
      14,
      3,
      [factor('unchanged', 1.4), moved(3 * DAY_MS)],
    ],
    [
      'changed as long ago as the interval',
      visit({ changedAt: NOW - 14 * DAY_MS }),
      14,
      4.2,
      [factor('unchanged', 1.4), moved(4.2 * DAY_MS)],
    ],
    [
      'changed long ago',
      visit({ changedAt: NOW - 20 * DAY_MS }),
      20,
      6,
      [factor('unchanged', 1.4), ms('raised to time since change', 20 * DAY_MS), moved(6 * DAY_MS)],
    ],
  ])('%s', (_name, seen, days, ahead, more) => {
    expect(createAdaptiveSchedule().onVisit(memory, seen)).toEqual({
      memory: { intervalMs: days * DAY_MS, belief: null },
      nextFetchAt: NOW + (days - ahead) * DAY_MS,
      terms: [before, ...more, ms('interval', days * DAY_MS)],
    });
  });

  it('goes by the outcome alone without the time of the change, and keeps to its bounds', () => {
    const bounds = { minIntervalMs: 9 * DAY_MS, maxIntervalMs: 11 * DAY_MS };
    const narrow = createAdaptiveSchedule({ ...ADAPTIVE_DEFAULTS, ...bounds, syncDelta: false });
    const interval = (seen: ScheduleVisit): number => narrow.onVisit(memory, seen).memory.intervalMs / DAY_MS;
    expect([visit({ changedAt: 0 }), changed(64)].map(interval)).toEqual([11, 9]);
    expect(narrow.onVisit(memory, visit({ changedAt: 0 })).terms).toHaveLength(3);
  });
});

describe('the arithmetic of the similarity schedule', () => {
  const distance = (value: number): ScheduleTerm => ({ label: 'Hamming distance', value, unit: 'bits' });
  const likeness = (evidence: string, value: number): ScheduleTerm => ({ label: `similarity (${evidence})`, value });

  it.each<[name: string, seen: ScheduleVisit, days: number, more: ScheduleTerm[]]>([
    ['unchanged', visit(), 14, [likeness('digest', 1), { label: 'factor', value: expect.closeTo(1.4, 9) }]],
    ['another page', changed(64), 8, [distance(64), likeness('distance', 0), { label: 'factor', value: 0.8 }]],
    [
      'half another page',
      changed(3),
      10,
      [distance(3), likeness('distance', 0.5), { label: 'factor (1.10, held by hysteresis)', value: 1 }],
    ],
    ['nothing to compare', changed(null), 8, [likeness('digest', 0), { label: 'factor', value: 0.8 }]],
    ['signed by other rules', changed(null, { evidence: 'resigned' }), 10, [{ label: 'factor', value: 1 }]],
  ])('%s', (_name, seen, days, more) => {
    expect(createSimilaritySchedule().onVisit(memory, seen)).toEqual({
      memory: { intervalMs: days * DAY_MS, belief: null },
      nextFetchAt: NOW + days * DAY_MS,
      terms: [ms('interval before', 10 * DAY_MS), ...more, ms('interval', days * DAY_MS)],
    });
  });

  it('holds an interval whose factor lies in the band, its edges included', () => {
    const interval = (hysteresis: number): number =>
      createSimilaritySchedule({ ...SIMILARITY_DEFAULTS, hysteresis }).onVisit(memory, visit()).memory.intervalMs;
    expect([0.39, 0.4].map((each) => interval(each) / DAY_MS)).toEqual([14, 10]);
  });
});

describe('the arithmetic of the freshness schedule', () => {
  const schedule: FetchSchedule = createFreshnessSchedule();
  const labels = (seen: ScheduleVisit, belief: typeof NO_BELIEF | null = null): string[] =>
    schedule.onVisit({ ...memory, belief }, seen).terms.map(({ label }) => label);
  const term = (seen: ScheduleVisit, label: string): ScheduleTerm | undefined =>
    schedule.onVisit(memory, seen).terms.find((each) => each.label === label);
  const learnt = [
    'substantive changes seen, older ones count less',
    'a change of pages like it is expected every',
    'a change of this page is expected every',
  ];
  const pays = 'a visit pays at a chance of a change of';

  it('names what was seen, learnt and expected', () => {
    expect(labels(visit())).toEqual([
      ...['time since the last visit', 'unchanged, by', ...learnt, pays, 'that is after'],
    ]);
    expect(labels(changed(3))).toEqual([
      ...['time since the last visit', 'changed, by', 'Hamming distance', ...learnt, pays, 'that is after'],
    ]);
    expect(labels(changed(null))).toEqual([
      ...['time since the last visit', 'changed, by', ...learnt, pays, 'that is after'],
    ]);
    const times = schedule.onVisit(memory, visit()).terms.filter(({ unit }) => unit === 'ms');
    expect(times.map(({ label }) => label)).toEqual([
      ...['time since the last visit', learnt[1], learnt[2], 'that is after'],
    ]);
    expect(term(visit(), 'unchanged, by')?.value).toBe('digest');
    expect(term(changed(3), 'changed, by')?.value).toBe('distance');
    expect(term(changed(3), 'Hamming distance')).toEqual({ label: 'Hamming distance', value: 3, unit: 'bits' });
    const first = visit({ outcome: 'new', evidence: 'first', elapsedMs: null });
    expect(term(first, 'seen')?.value).toBe('for the first time');
    expect(term(first, 'time since the last visit')).toEqual(ms('time since the last visit', 0));
    expect(term(visit(), 'time since the last visit')).toEqual(ms('time since the last visit', DAY_MS));
  });

  it('names weight, spread, price and what a change brings only where they count', () => {
    expect(term(visit(), 'weight of the page')).toBeUndefined();
    expect(term(visit({ weight: 2 }), 'weight of the page')?.value).toBe(2);
    expect(term(visit({ spread: 1.23456 }), 'spread over time, by the URL')?.value).toBe(1.23);
    expect(term(visit({ price: 0.45678 }), 'price of a visit under the budget, stale days')?.value).toBe(0.457);
    expect(term(visit({ price: 1 }), pays)).toBeUndefined();
    const [one, two] = [1, 2].map((weight) => term(visit({ weight }), pays)?.value as number);
    expect(two).toBeCloseTo((one as number) / 2, 3);
    expect(labels(visit(), { ...NO_BELIEF, newUrls: 50, changes: 1 })).toContain('new URLs that a change brings');
  });

  it('expects of a page what pages like it show', () => {
    const rate = 1 / (5 * DAY_MS);
    expect(term(visit({ rate }), learnt[1] as string)).toEqual(ms(learnt[1] as string, 5 * DAY_MS));
    const interval = (seen: ScheduleVisit): number => schedule.onVisit(memory, seen).memory.intervalMs;
    expect(interval(visit({ rate }))).toBeLessThan(interval(visit({ rate: rate / 10 })));
    const first = { outcome: 'new', evidence: 'first', elapsedMs: null } as const;
    expect(interval(visit({ ...first, spread: 1.1 })) / interval(visit(first))).toBeCloseTo(1.1, 6);
    expect(interval(visit({ ...first, weight: 2 }))).toBeLessThan(interval(visit(first)));
    expect(interval(visit({ ...first, price: 0.001 }))).toBeLessThan(interval(visit({ ...first, price: 5 })));
  });

  it('keeps to its bounds', () => {
    const narrow = { ...FRESHNESS_DEFAULTS, minIntervalMs: 5 * DAY_MS, maxIntervalMs: 6 * DAY_MS };
    const interval = (rate: number, price: number | null = null): number =>
      createFreshnessSchedule(narrow).onVisit(memory, visit({ rate, price })).memory.intervalMs / DAY_MS;
    expect([interval(1 / HOUR_MS), interval(1e-6 / DAY_MS)]).toEqual([5, 6]);
    expect(interval(1e-6 / DAY_MS, 1)).toBe(6);
  });

  it('takes the first interval that was set, and believes it', () => {
    const first = visit({
      outcome: 'new',
      evidence: 'first',
      elapsedMs: null,
      startIntervalMs: 2 * DAY_MS,
      spread: 1.1,
    });
    const { terms, ...decided } = schedule.onVisit(memory, first);
    const belief = { ...NO_BELIEF, mostMs: 2 * DAY_MS };
    expect(decided).toEqual({ memory: { intervalMs: 2 * DAY_MS, belief }, nextFetchAt: NOW + 2 * DAY_MS });
    expect(terms.at(-1)).toEqual(ms('first interval, as set', 2 * DAY_MS));
  });

  it.each<[name: string, seen: ScheduleVisit]>([
    ['the first one', visit({ outcome: 'new', evidence: 'first', elapsedMs: null })],
    ['one at the time of the one before', visit({ elapsedMs: 0 })],
    ['one that was learnt from already', visit({ isRepeated: true })],
    ['one by other rules', changed(null, { evidence: 'resigned' })],
  ])('learns nothing of a visit that shows nothing: %s', (_name, seen) => {
    const decided = schedule.onVisit({ ...memory, belief: NO_BELIEF }, seen);
    expect(decided.memory.belief).toBe(NO_BELIEF);
    expect('seen' in decided).toBe(false);
    expect(schedule.onVisit(memory, seen).memory.belief).toBeNull();
  });

  it('learns from others how much was seen and expected', () => {
    const still = schedule.onVisit(memory, visit());
    expect(still.seen).toMatchObject({ changes: 0 });
    expect(Object.keys(still.seen ?? {}).sort()).toEqual(['ageMs', 'changes', 'expected']);
    expect(schedule.onVisit(memory, changed(40)).seen?.changes).toBeGreaterThan(0.5);
    expect(still.memory.belief?.watchedMs).toBeGreaterThan(0);
  });

  it('believes the date of a change, unless the host has lied or made it for the answer', () => {
    const learns = (part: Partial<ScheduleVisit>) =>
      schedule.onVisit(memory, changed(40, { elapsedMs: 10 * DAY_MS, ...part })).memory.belief;
    const undated = learns({});
    expect(learns({ lastModifiedAt: NOW - 9 * DAY_MS })).not.toEqual(undated);
    expect(learns({ lastModifiedAt: NOW - MINUTE_MS })).not.toEqual(undated);
    expect(learns({ lastModifiedAt: NOW - MINUTE_MS + 1 })).toEqual(undated);
    expect(learns({ lastModifiedAt: NOW - 9 * DAY_MS, isHostTrusted: false })).toEqual(undated);
  });

  it('weighs a change by the ratios that it was given', () => {
    const change = (ratio: number): number => {
      const schedule = createFreshnessSchedule({ ...FRESHNESS_DEFAULTS, likelihoodRatios: [ratio] });
      return schedule.onVisit(memory, changed(0)).memory.belief?.changes ?? 0;
    };
    expect(change(0.01)).toBeLessThan(change(100));
  });

  it('takes the change of another content for a larger one', () => {
    const change = (isContentOther: boolean): number =>
      schedule.onVisit(memory, changed(0, { isContentOther })).seen?.changes ?? 0;
    expect(change(true)).toBeGreaterThan(change(false));
    expect(schedule.onVisit(memory, changed(0)).seen?.changes).toBe(change(false));
  });
});

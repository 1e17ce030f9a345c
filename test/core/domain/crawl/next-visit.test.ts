import { describe, expect, it } from 'vitest';
import { NO_BELIEF } from '../../../../src/core/domain/crawl/change/change-belief.ts';
import { INLINK_WEIGHT_KEY } from '../../../../src/core/domain/crawl/discovery/inlinks.ts';
import { rateOfGroup } from '../../../../src/core/domain/crawl/hazard/expectation.ts';
import { NO_CLOCK } from '../../../../src/core/domain/crawl/hazard/host-clock.ts';
import {
  boundsFor,
  dueFacts,
  expectedInterval,
  FIRST_INTERVAL_KEY,
  isDrift,
  isDueByHazard,
  isLive,
  isNewUrl,
  nextVisit,
  replayLastVisit,
  type SettlePolicy,
  scheduledAnew,
  spreadOf,
  TurnTooLate,
  weightOf,
  widestBounds,
} from '../../../../src/core/domain/crawl/revisit/next-visit.ts';
import type { FetchSchedule, ScheduleVisit } from '../../../../src/core/domain/crawl/revisit/schedule.ts';
import {
  type CrawlDatum,
  type CrawlState,
  newDatum,
  type ScheduleMemory,
  type Visit,
  type VisitOutcome,
} from '../../../../src/core/domain/crawl/states/datum.ts';
import { DAY_MS, HOUR_MS } from '../../../../src/core/domain/time.ts';

const NOW = Date.UTC(2026, 0, 10);
const URL = 'http://h.example/a/b.html';
const SEEN = { changes: 0.5, paying: 0.1, watchedMs: DAY_MS } as never;

/** A schedule that notes what it is told, and answers with a pause and an interval. */
function noting(pauseMs: number, intervalMs = pauseMs, more: object = {}) {
  const calls: { readonly memory: ScheduleMemory; readonly visit: ScheduleVisit }[] = [];
  const schedule: FetchSchedule = {
    name: 'noting',
    initialIntervalMs: 3 * DAY_MS,
    onVisit(memory, visit) {
      calls.push({ memory, visit });
      const terms = [{ label: 'pause', value: pauseMs }];
      return { memory: { ...memory, intervalMs }, nextFetchAt: visit.now + pauseMs, terms, ...more };
    },
  };
  return { schedule, calls };
}

const under = (schedule: FetchSchedule, more: Partial<SettlePolicy> = {}): SettlePolicy => ({
  schedule,
  ...{ minIntervalMs: HOUR_MS, maxIntervalMs: 90 * DAY_MS, retryIntervalMs: DAY_MS, maxRetryIntervalMs: DAY_MS },
  goneIntervalsMs: [],
  ...more,
});
const page = (part: Partial<CrawlDatum> = {}): CrawlDatum => ({
  ...newDatum({ url: URL, now: NOW - 30 * DAY_MS, intervalMs: DAY_MS, depth: 1 }),
  ...part,
});
const visited = (outcome: VisitOutcome, part: Partial<Visit> = {}): Visit => ({
  ...{ at: NOW, outcome, distance: null, elapsedMs: DAY_MS, bytes: 10, intervalMs: DAY_MS },
  ...part,
});
const VISIT: ScheduleVisit = {
  ...{ now: NOW, elapsedMs: DAY_MS, outcome: 'unchanged', evidence: 'digest', distance: null },
  ...{ changedAt: null, lastModifiedAt: null },
};

describe('the next visit', () => {
  it('is asked of the schedule with weight, price, rate and spread of the page', () => {
    const { schedule, calls } = noting(DAY_MS);
    const expected = { clock: NO_CLOCK, above: 1 / (5 * DAY_MS) };
    nextVisit(page({ metadata: { weight: 2 } }), VISIT, under(schedule, { price: 0.3, expected }));
    nextVisit(page(), VISIT, under(schedule));
    const common = { ...VISIT, spread: spreadOf(URL), startIntervalMs: null };
    expect(calls.map(({ visit }) => visit)).toEqual([
      { ...common, weight: 2, price: 0.3, rate: rateOfGroup(expected, 0, NOW) },
      { ...common, weight: 1, price: null },
    ]);
    expect(Object.hasOwn(calls[1]!.visit, 'rate')).toBe(false);
    expect(calls[1]!.memory).toEqual({ intervalMs: DAY_MS, belief: null });
  });

  it.each<[string, unknown, number | null, number | null]>([
    ['a first visit', 5 * HOUR_MS, null, 5 * HOUR_MS],
    ['a later visit', 5 * HOUR_MS, DAY_MS, null],
    ['none', undefined, null, null],
    ['zero', 0, null, null],
    ['text', '5', null, null],
  ])('the interval that its seed names begins with a first visit: %s', (_, named, elapsedMs, expected) => {
    const { schedule, calls } = noting(DAY_MS);
    const metadata = named === undefined ? {} : { [FIRST_INTERVAL_KEY]: named };
    expect(FIRST_INTERVAL_KEY).toBe('seed.interval');
    nextVisit(page({ metadata: metadata as never }), { ...VISIT, elapsedMs }, under(schedule));
    expect([calls[0]?.visit.startIntervalMs, calls[0]?.memory.intervalMs]).toEqual([expected, expected ?? DAY_MS]);
  });

  it('keeps within the bounds, and says so', () => {
    const next = (pauseMs: number, intervalMs: number, part: Partial<CrawlDatum> = {}) =>
      nextVisit(page(part), VISIT, under(noting(pauseMs, intervalMs).schedule));
    const asked = (value: number) => ({ label: 'pause', value });
    expect(next(2.4 * DAY_MS + 0.5, 2 * DAY_MS)).toEqual({
      memory: { intervalMs: 2 * DAY_MS, belief: null },
      nextFetchAt: NOW + 2.4 * DAY_MS + 1,
      terms: [asked(2.4 * DAY_MS + 0.5)],
    });
    expect(next(60_000, 30_000)).toEqual({
      memory: { intervalMs: HOUR_MS, belief: null },
      nextFetchAt: NOW + HOUR_MS,
      terms: [asked(60_000), { label: 'bounded to', value: HOUR_MS, unit: 'ms' }],
    });
    expect(next(100 * DAY_MS, 99 * DAY_MS)).toMatchObject({
      memory: { intervalMs: 90 * DAY_MS },
      nextFetchAt: NOW + 90 * DAY_MS,
      terms: [asked(100 * DAY_MS), { label: 'bounded to', value: 90 * DAY_MS, unit: 'ms' }],
    });
    // What the operator has fixed is beyond all bounds.
    expect(next(DAY_MS, 2 * DAY_MS, { fixedIntervalMs: 60_000.4 })).toEqual({
      memory: { intervalMs: 2 * DAY_MS, belief: null },
      nextFetchAt: NOW + 60_000,
      terms: [asked(DAY_MS), { label: 'fixed by the operator', value: 60_000.4, unit: 'ms' }],
    });
  });

  it('passes on what the visit has shown of changes', () => {
    expect(nextVisit(page(), VISIT, under(noting(DAY_MS, DAY_MS, { seen: SEEN }).schedule)).seen).toBe(SEEN);
    expect(Object.hasOwn(nextVisit(page(), VISIT, under(noting(DAY_MS).schedule)), 'seen')).toBe(false);
  });

  it('is computed anew from a visit with another belief', () => {
    const before = [visited('new', { at: NOW - 2 * DAY_MS }), visited('unchanged-304', { at: NOW - DAY_MS })];
    const visits = [...before, visited('modified', { elapsedMs: null })];
    const datum = page({ visits, state: 'fetched', changedAt: NOW - DAY_MS, nextFetchAt: 1, dueBy: 'touch' });
    const belief = { ...NO_BELIEF, changes: 2 };
    const { schedule, calls } = noting(5 * DAY_MS, 4 * DAY_MS);
    const expected = { ...datum, schedule: { intervalMs: 4 * DAY_MS, belief } };
    expect(scheduledAnew(datum, belief, NOW + 7, under(schedule))).toEqual({
      ...expected,
      ...{ nextFetchAt: NOW + 7 + 5 * DAY_MS, dueBy: 'schedule' },
      visits: [...before, { ...visits[2], intervalMs: 4 * DAY_MS }],
    });
    expect(calls[0]).toMatchObject({
      memory: { intervalMs: DAY_MS, belief },
      visit: { ...VISIT, now: NOW + 7, elapsedMs: 0, changedAt: NOW - DAY_MS, isRepeated: true },
    });
    scheduledAnew({ ...datum, visits: [visited('modified', { elapsedMs: 9 })] }, belief, NOW, under(schedule));
    expect(calls[1]?.visit.elapsedMs).toBe(9);
    for (const each of [
      { ...datum, visits: [] },
      { ...datum, fixedIntervalMs: DAY_MS },
    ]) {
      expect(scheduledAnew(each, belief, NOW, under(schedule))).toEqual({
        ...each,
        schedule: { intervalMs: DAY_MS, belief },
      });
    }
  });
});

describe('the arithmetic of the last visit', () => {
  it.each<[VisitOutcome, ScheduleVisit['outcome'], ScheduleVisit['evidence']]>([
    ['new', 'new', 'first'],
    ['modified', 'modified', 'distance'],
    ['unchanged-304', 'unchanged', 'conditional'],
    ['unchanged-headers', 'unchanged', 'headers'],
    ['unchanged-digest', 'unchanged', 'digest'],
  ])('%s is replayed as %s by %s', (last, outcome, evidence) => {
    const { schedule, calls } = noting(DAY_MS);
    const before = [visited('failed'), visited('unchanged-304', { intervalMs: 7 * HOUR_MS })];
    const visits = [...before, visited(last, { distance: 6, at: NOW - 5 })];
    const replayed = replayLastVisit(page({ visits, changedAt: 3 }), under(schedule), 4);
    expect(replayed?.nextFetchAt).toBe(NOW - 5 + DAY_MS);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({
      memory: { intervalMs: 7 * HOUR_MS },
      visit: {
        ...{ now: NOW - 5, elapsedMs: DAY_MS, outcome, evidence, distance: 6, changedAt: 3, lastModifiedAt: 4 },
        isRepeated: true,
      },
    });
  });

  it.each<[VisitOutcome, ScheduleVisit['evidence'], number]>([
    ['modified', 'digest', 1],
    ['modified', 'resigned', 2],
    ['modified', 'partial', 3],
    ['unchanged-digest', 'partial', 3],
    ['unchanged-304', 'conditional', 1],
  ])('%s without a distance: by the evidence that gives the stored interval, %s', (outcome, evidence, days) => {
    const calls: string[] = [];
    const DAYS: Partial<Record<string, number>> = { digest: 1, resigned: 2, partial: 3, conditional: 1 };
    const schedule: FetchSchedule = {
      name: 'by evidence',
      initialIntervalMs: DAY_MS,
      onVisit(memory, visit) {
        calls.push(visit.evidence);
        const intervalMs = (DAYS[visit.evidence] ?? 9) * DAY_MS;
        return { memory: { ...memory, intervalMs }, nextFetchAt: visit.now + intervalMs, terms: [] };
      },
    };
    const visits = [visited('new'), visited(outcome, { intervalMs: days * DAY_MS })];
    expect(replayLastVisit(page({ visits }), under(schedule), null)?.memory.intervalMs).toBe(days * DAY_MS);
    expect(calls).toEqual(evidence === 'conditional' ? ['conditional'] : ['digest', 'resigned', 'partial']);
    // None gives it: the first is shown.
    const other = [visited('new'), visited(outcome, { intervalMs: 50 * DAY_MS })];
    expect(replayLastVisit(page({ visits: other }), under(schedule), null)?.memory.intervalMs).toBe(DAY_MS);
  });

  it('begins at the interval that the seed names, or at the first of the schedule', () => {
    const first = (metadata: CrawlDatum['metadata']): number | undefined => {
      const { schedule, calls } = noting(DAY_MS);
      replayLastVisit(page({ visits: [visited('new')], metadata }), under(schedule), null);
      return calls[0]?.memory.intervalMs;
    };
    expect([first({}), first({ [FIRST_INTERVAL_KEY]: 5 })]).toEqual([3 * DAY_MS, 5]);
  });

  it('there is none without a visit that reached the schedule, and a fixed interval needs none', () => {
    const { schedule, calls } = noting(DAY_MS);
    expect(replayLastVisit(page(), under(schedule), null)).toBeNull();
    expect(replayLastVisit(page({ visits: [visited('new'), visited('failed')] }), under(schedule), null)).toBeNull();
    const fixed = page({ visits: [visited('unchanged-304')], fixedIntervalMs: 5.4 });
    expect(replayLastVisit(fixed, under(schedule), null)).toEqual({
      memory: fixed.schedule,
      nextFetchAt: NOW + 5,
      terms: [{ label: 'fixed by the operator', value: 5.4, unit: 'ms' }],
    });
    expect(calls).toEqual([]);
  });
});

describe('bounds of a page', () => {
  const general = { minIntervalMs: 10, maxIntervalMs: 1_000 };
  const rules = [
    { of: 'h.example', minIntervalMs: 5, maxIntervalMs: 50 },
    { of: 'image/*', minIntervalMs: 20, maxIntervalMs: 2_000 },
  ];

  it('those of its URL go before those of its host, and these before the general ones', () => {
    const policy = under(noting(1).schedule, general);
    const boundsOfUrl = (url: string) => (url === URL ? { minIntervalMs: 7, maxIntervalMs: null } : undefined);
    expect(boundsFor(page(), policy)).toMatchObject(general);
    expect(boundsFor(page(), { ...policy, intervalRules: rules })).toEqual({ minIntervalMs: 5, maxIntervalMs: 50 });
    expect(boundsFor(page(), { ...policy, intervalRules: rules, boundsOfUrl })).toEqual({
      ...{ minIntervalMs: 7, maxIntervalMs: 1_000 },
    });
    const other = page({ url: 'http://h.example/other' });
    expect(boundsFor(other, { ...policy, intervalRules: rules, boundsOfUrl }).maxIntervalMs).toBe(50);
  });

  it('the widest of all', () => {
    expect(widestBounds([], general)).toEqual(general);
    expect(widestBounds(rules, general)).toEqual({ minIntervalMs: 5, maxIntervalMs: 2_000 });
  });
});

describe('what is read of a record', () => {
  it.each<[CrawlDatum['metadata'], number]>([
    [{}, 1],
    [{ weight: 2 }, 2],
    [{ weight: '3' }, 3],
    [{ [INLINK_WEIGHT_KEY]: 0.5 }, 0.5],
    [{ weight: 2, [INLINK_WEIGHT_KEY]: 3 }, 6],
    [{ weight: 0 }, 1],
    [{ weight: -2 }, 1],
    [{ weight: 'much' }, 1],
    [{ weight: '1e999' }, 1],
  ])('the weight of %j: %s', (metadata, weight) => {
    expect(weightOf(metadata)).toBe(weight);
  });

  it('times that differ by a twentieth of the interval are drift', () => {
    expect([5, -5, 5.01, -5.01, 0].map((difference) => isDrift(difference, 100))).toEqual([
      ...[true, true, false, false, true],
    ]);
  });

  it('a spread of 0.9 to 1.1 by the URL', () => {
    const spreads = Array.from({ length: 1_000 }, (_, i) => spreadOf(`http://h.example/${i}`));
    expect(Math.min(...spreads)).toBeGreaterThanOrEqual(0.9);
    expect(Math.min(...spreads)).toBeLessThan(0.905);
    expect(Math.max(...spreads)).toBeLessThanOrEqual(1.1);
    expect(Math.max(...spreads)).toBeGreaterThan(1.095);
    expect(spreadOf('http://h.example/7')).toBe(spreads[7]);
  });

  it.each<[string, Partial<CrawlDatum>, boolean]>([
    ['due since its discovery', { nextFetchAt: 5 }, true],
    ['due before it', { nextFetchAt: 4 }, true],
    ['due later', { nextFetchAt: 6 }, false],
    ['without a time', { nextFetchAt: null }, false],
    ['visited', { nextFetchAt: 5, visits: [visited('failed')] }, false],
    ['fetched', { nextFetchAt: 5, state: 'fetched' }, false],
  ])('a URL is new: %s', (_, part, expected) => {
    const datum = page({ discoveredAt: 5, state: 'unfetched', ...part });
    expect([isNewUrl(datum), dueFacts(datum).isNew]).toEqual([expected, expected]);
  });

  it.each<[CrawlState, boolean]>([
    ['fetched', true],
    ['notmodified', true],
    ['duplicate', true],
    ['unfetched', false],
    ['gone', false],
    ['redir_temp', false],
    ['parse_failed', false],
  ])('%s is a live page: %s', (state, expected) => {
    expect(isLive({ state })).toBe(expected);
  });

  it.each<[string, Partial<CrawlDatum>, boolean]>([
    ['a page that was answered', {}, true],
    ['gone', { state: 'gone' }, false],
    ['failing', { failures: 1 }, false],
    ['fixed', { fixedIntervalMs: 1 }, false],
    ['denied since', { visits: [visited('new'), visited('denied')] }, false],
    ['never fetched', { lastFetchAt: null }, false],
  ])('due by the clock of its group: %s', (_, part, expected) => {
    const datum = page({ state: 'fetched', lastFetchAt: NOW, visits: [visited('new')], ...part });
    expect(isDueByHazard(dueFacts(datum))).toBe(expected);
  });

  it.each<[CrawlState, number, number, number]>([
    ['fetched', 0, DAY_MS, DAY_MS],
    ['fetched', 0, 10, 1_000],
    ['fetched', 1, DAY_MS, Number.POSITIVE_INFINITY],
    ['gone', 0, DAY_MS, Number.POSITIVE_INFINITY],
  ])(
    'the interval to come of a page that is %s, failed %s times, %s ms: %s',
    (state, failures, intervalMs, expected) => {
      expect(expectedInterval({ state, failures, intervalMs })).toBe(expected);
    },
  );

  it('what selection reads', () => {
    const belief = { ...NO_BELIEF, changes: 1 };
    const datum = page({
      ...{ state: 'fetched', score: 3, depth: 2, lastFetchAt: 8, failures: 2, metadata: { weight: 4 } },
      ...{
        schedule: { intervalMs: 6, belief },
        visits: [visited('new'), visited('new'), visited('failed', { at: 9 })],
      },
    });
    const facts = {
      ...{ url: URL, state: 'fetched', score: 3, depth: 2, intervalMs: 6, lastFetchAt: 8, failures: 2 },
      ...{ isNew: false, isFixed: false, belief, weight: 4, unansweredAt: 9 },
    };
    expect(dueFacts(datum)).toEqual(facts);
    expect(dueFacts({ ...datum, fixedIntervalMs: 7 })).toEqual({ ...facts, intervalMs: 7, isFixed: true });
    expect(dueFacts({ ...datum, visits: [] }).unansweredAt).toBeNull();
    expect(dueFacts({ ...datum, visits: [visited('failed'), visited('gone')] }).unansweredAt).toBeNull();
  });

  it('a turn that is too late names its host and time', () => {
    const late = new TurnTooLate('h.example', NOW);
    expect([late.name, late.host, late.at, late.message]).toEqual([
      ...['TurnTooLate', 'h.example', NOW, 'h.example must not be contacted before 2026-01-10T00:00:00.000Z'],
    ]);
  });
});

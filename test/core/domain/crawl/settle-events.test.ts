import { describe, expect, it } from 'vitest';
import { type CrawlDatum, NO_VALIDATORS, type Visit } from '../../../../src/core/domain/crawl/states/datum.ts';
import {
  broughtBack,
  type CrawlEvent,
  datumBroughtBack,
  settle,
  stateWhenOrphaned,
} from '../../../../src/core/domain/crawl/states/settle.ts';
import { DAY_MS, HOUR_MS } from '../../../../src/core/domain/time.ts';
import { datumIn, EVENTS, NOW, policy } from './settled-records.ts';

const settledBy = (datum: CrawlDatum, event: CrawlEvent) => settle(datum, event, policy, NOW);

describe('an event that is no visit', () => {
  it('keeps the counters of visits as they are', () => {
    const before = datumIn('fetched');
    for (const depth of [2, 3]) {
      const settled = settledBy(before, { kind: 'linked', depth });
      expect(settled).toEqual({ datum: before, verdict: 'kept', distance: null, terms: [] });
      expect(settled.datum).toBe(before);
    }
    expect(settledBy(before, { kind: 'linked', depth: 1 }).datum).toEqual({ ...before, depth: 1 });
  });

  it.each(['orphan', 'gone'] as const)('leaves a page that is %s alone when its last link goes', (state) => {
    const before = datumIn(state);
    expect(settledBy(before, { kind: 'orphaned' }).datum).toBe(before);
  });

  it('is one of those that are known', () => {
    const lost = { kind: 'lost' } as never;
    expect(() => settledBy(datumIn('fetched'), lost)).toThrow(new TypeError('unknown event {"kind":"lost"}'));
    const visit = { kind: 'visited', outcome: lost, parse: null, target: null, lastModifiedAt: null } as const;
    expect(() => settledBy(datumIn('fetched'), visit)).toThrow(new TypeError('unknown event {"kind":"lost"}'));
  });
});

describe('a visit that is asked for', () => {
  const touched = (datum: CrawlDatum, at: number) => settledBy(datum, { kind: 'touched', at, by: 'touch' }).datum;

  it('comes earlier, never later', () => {
    const before = datumIn('fetched', { nextFetchAt: NOW, dueBy: 'sitemap' });
    for (const at of [NOW, NOW + 1]) expect(touched(before, at)).toBe(before);
    expect(touched(before, NOW - 1)).toEqual({ ...before, nextFetchAt: NOW - 1, dueBy: 'touch' });
    const givenUp = datumIn('gone', { nextFetchAt: null });
    expect(touched(givenUp, NOW + 9)).toEqual({ ...givenUp, nextFetchAt: NOW + 9, dueBy: 'touch' });
  });

  it.each([
    ['etag', { etag: '"a"', lastModified: null, contentLength: 1 }],
    ['date', { etag: null, lastModified: 'then', contentLength: 1 }],
    ['etag and date', { etag: '"a"', lastModified: 'then', contentLength: 1 }],
  ])('of a page that could not be parsed goes without its %s; of others it goes with them', (_name, validators) => {
    const broken = datumIn('parse_failed', { validators });
    expect(touched(broken, NOW)).toEqual({ ...broken, validators: NO_VALIDATORS });
    const sound = datumIn('fetched', { validators });
    expect(touched(sound, NOW)).toBe(sound);
  });

  it('keeps the length of a page that could not be parsed: it is no condition', () => {
    const broken = datumIn('parse_failed', { validators: { etag: null, lastModified: null, contentLength: 1 } });
    expect(touched(broken, NOW)).toBe(broken);
  });
});

describe('what an orphan was', () => {
  const visit = (outcome: Visit['outcome']): Visit => ({
    ...{ at: NOW, outcome, distance: null, elapsedMs: null },
    ...{ bytes: 0, intervalMs: DAY_MS },
  });

  it.each<[state: string, part: Partial<CrawlDatum>]>([
    ['redir_perm', { visits: [visit('redirect')], httpStatus: 308 }],
    ['redir_temp', { visits: [visit('redirect')], httpStatus: 302 }],
    ['redir_temp', { visits: [visit('redirect'), visit('failed')], httpStatus: 503 }],
    ['unfetched', { digest: null }],
    ['parse_failed', { visits: [visit('new'), visit('parse-failed'), visit('denied')] }],
    ['fetched', { visits: [visit('parse-failed'), visit('modified')] }],
    ['duplicate', { target: 'http://h.example/b' }],
    ['fetched', { target: null }],
  ])('is %s', (state, part) => expect(stateWhenOrphaned(datumIn('orphan', part))).toBe(state));

  it('counts as an own page where it was a duplicate: what it repeated may be gone', () => {
    const orphan = datumIn('orphan', { target: 'http://h.example/b' });
    const wanted = settledBy(orphan, { kind: 'linked', depth: 9 }).datum;
    expect(wanted).toMatchObject({ state: 'fetched', target: null });
  });

  it.each(['permanent redirect', 'temporary redirect'])('it is again with a link, and leads there: %s', (name) => {
    const before = settledBy(datumIn('fetched'), EVENTS[name]!).datum;
    const orphan = settledBy(before, { kind: 'orphaned' }).datum;
    const { state, target } = before;
    expect(settledBy(orphan, { kind: 'linked', depth: 9 }).datum).toEqual({
      ...before,
      state,
      target,
      nextFetchAt: NOW,
      dueBy: null,
    });
  });
});

describe('stamps of a clock that was ahead', () => {
  const shift = { now: NOW, aheadMs: 10 * HOUR_MS };
  const back = (part: Partial<CrawlDatum>) => datumBroughtBack(datumIn('fetched', part), shift);
  const visit = (at: number, part: Partial<Visit> = {}): Visit => ({
    ...{ at, outcome: 'modified', distance: null, elapsedMs: DAY_MS },
    ...{ bytes: 0, intervalMs: DAY_MS, ...part },
  });

  it('one of now, or before, is sound', () => {
    expect([NOW - 1, NOW].map((at) => broughtBack(at, shift))).toEqual([NOW - 1, NOW]);
    expect(broughtBack(NOW + 1, shift)).toBe(NOW + 1 - 10 * HOUR_MS);
    expect(broughtBack(NOW + 1, shift, NOW - 5)).toBe(NOW - 5);
    expect(broughtBack(NOW + 2 * shift.aheadMs, shift)).toBe(NOW);
  });

  it.each<[name: string, part: Partial<CrawlDatum>, expected: Partial<CrawlDatum>]>([
    ['the discovery', { discoveredAt: NOW + HOUR_MS }, { discoveredAt: NOW - 9 * HOUR_MS }],
    ['the last visit', { lastFetchAt: NOW + HOUR_MS }, { lastFetchAt: NOW - 9 * HOUR_MS }],
    ['the last change', { changedAt: NOW + HOUR_MS }, { changedAt: NOW - 9 * HOUR_MS }],
    [
      'the last error',
      { lastError: { code: 'c', message: 'm', at: NOW + HOUR_MS } },
      { lastError: { code: 'c', message: 'm', at: NOW - 9 * HOUR_MS } },
    ],
    ['a visit', { visits: [visit(NOW + HOUR_MS)] }, { visits: [visit(NOW - 9 * HOUR_MS)] }],
  ])('is brought back where %s alone is ahead, and the others stay', (_name, part, expected) => {
    expect(back(part)).toEqual({ ...datumIn('fetched', part), ...expected });
  });

  it('what never was, stays so', () => {
    const part = { lastFetchAt: null, changedAt: null, lastError: null, nextFetchAt: null };
    expect(back({ ...part, discoveredAt: NOW + 1 })).toMatchObject(part);
  });

  it('none is brought back before a sound one of now', () =>
    expect(back({ lastFetchAt: NOW, changedAt: NOW + HOUR_MS })).toMatchObject({ lastFetchAt: NOW, changedAt: NOW }));

  it('due times follow by as much as the clock was ahead, not into the past', () => {
    expect(back({ lastFetchAt: NOW + 1, nextFetchAt: NOW + DAY_MS })).toMatchObject({
      nextFetchAt: NOW + 14 * HOUR_MS,
    });
    expect(back({ lastFetchAt: NOW + 1, nextFetchAt: NOW + 1 })).toMatchObject({ nextFetchAt: NOW });
  });

  it('the time since the visit before is that since the last answer, and stays for visits that were not moved', () => {
    const visits = [
      visit(NOW - 9 * DAY_MS, { elapsedMs: 5 * DAY_MS }),
      visit(NOW - 3 * DAY_MS, { elapsedMs: 2 * DAY_MS }),
      visit(NOW - 2 * DAY_MS, { outcome: 'failed', elapsedMs: DAY_MS }),
      visit(NOW - DAY_MS, { outcome: 'denied', elapsedMs: 2 * DAY_MS }),
      visit(NOW + 10 * HOUR_MS, { elapsedMs: 3 * DAY_MS + 10 * HOUR_MS }),
    ];
    expect(back({ visits })?.visits.map(({ elapsedMs }) => (elapsedMs as number) / DAY_MS)).toEqual([5, 2, 1, 2, 3]);
  });

  it('no time since an answer is made up where the ring begins, or nothing was answered', () => {
    const first = [visit(NOW + 1, { outcome: 'failed', elapsedMs: null }), visit(NOW + 2, { elapsedMs: null })];
    expect(back({ visits: first })?.visits.map(({ elapsedMs }) => elapsedMs)).toEqual([null, null]);
    const ring = [visit(NOW + 1, { elapsedMs: 7 * DAY_MS }), visit(NOW + 2, { elapsedMs: 1 })];
    expect(back({ visits: ring })?.visits.map(({ elapsedMs }) => elapsedMs)).toEqual([7 * DAY_MS, 1]);
  });

  it.each([
    [1, true],
    [0, false],
    [-1, false],
  ])('a jump of an hour and %i ms between two visits makes the interval before it hold: %s', (more, isJump) => {
    const belief = { changes: 1 } as never;
    const ahead = HOUR_MS + more;
    const visits = [
      visit(NOW - 2 * DAY_MS, { elapsedMs: null, intervalMs: 3 * HOUR_MS }),
      visit(NOW - DAY_MS, { intervalMs: 4 * HOUR_MS }),
      visit(NOW + ahead, { elapsedMs: DAY_MS + ahead, intervalMs: 5 * HOUR_MS }),
    ];
    const datum = datumIn('fetched', {
      visits,
      nextFetchAt: NOW + 9 * DAY_MS,
      schedule: { intervalMs: 6 * HOUR_MS, belief },
    });
    const found = datumBroughtBack(datum, { now: NOW, aheadMs: ahead });
    expect(found?.schedule).toEqual(isJump ? { intervalMs: 4 * HOUR_MS, belief: null } : datum.schedule);
    expect(found?.nextFetchAt).toBe(isJump ? NOW + 4 * HOUR_MS : NOW + 9 * DAY_MS - ahead);
  });
});

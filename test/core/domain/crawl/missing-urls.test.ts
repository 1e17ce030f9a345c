import { describe, expect, it } from 'vitest';
import { createFreshnessSchedule, FRESHNESS_DEFAULTS } from '../../../../src/core/domain/crawl/schedules/freshness.ts';
import { type CrawlDatum, NO_VALIDATORS, newDatum } from '../../../../src/core/domain/crawl/states/datum.ts';
import type { FetchOutcome } from '../../../../src/core/domain/crawl/states/outcome.ts';
import { type SettlePolicy, settle } from '../../../../src/core/domain/crawl/states/settle.ts';
import { DAY_MS } from '../../../../src/core/domain/time.ts';

const NOW = Date.UTC(2026, 0, 10);
const days = (...counts: number[]): number[] => counts.map((count) => count * DAY_MS);
const policy: SettlePolicy = {
  schedule: createFreshnessSchedule(FRESHNESS_DEFAULTS),
  minIntervalMs: DAY_MS,
  maxIntervalMs: 40 * DAY_MS,
  retryIntervalMs: DAY_MS,
  maxRetryIntervalMs: 30 * DAY_MS,
  goneIntervalsMs: days(7, 14, 28),
  missingIntervalsMs: days(30, 60, 180),
};
const costs = { requests: 1, bodyBytes: 0, receivedBytes: 100, ms: 5 };
const gone = { kind: 'gone', status: 404 } as const;
const moved = { kind: 'redirect', status: 301, permanent: true, target: '/b' } as const;
const found = { kind: 'redirect', status: 302, permanent: false, target: '/b' } as const;
const refused = (status: number) =>
  ({ kind: 'failed', code: 'http-client-error', message: '', status, retryAt: null }) as const;
const unasked = { kind: 'denied', code: 'missing-unasked', message: '', retryAt: null } as const;
const page = {
  kind: 'success',
  status: 200,
  contentType: 'text/html',
  robotsTag: null,
  validators: NO_VALIDATORS,
  digest: '1'.repeat(32),
  truncated: false,
  audit: null,
} as const;

type Bare<Outcome> = Outcome extends FetchOutcome ? Omit<Outcome, 'at' | keyof typeof costs> : never;

const url = 'http://h.example/a';
const fresh = newDatum({ url, now: NOW, intervalMs: 7 * DAY_MS, depth: 1 });

/** Pauses of a URL in days, each visit made when it is due; `null`: not selected any more. */
function pausesOf(outcomes: readonly Bare<FetchOutcome>[], from: CrawlDatum = fresh, isTargetMissing = false) {
  let datum = from;
  return outcomes.map((outcome) => {
    const at = datum.nextFetchAt ?? Number.NaN;
    const target = outcome.kind === 'redirect' ? 'http://h.example/b' : null;
    const event = { kind: 'visited', parse: null, target, isTargetMissing, lastModifiedAt: null } as const;
    datum = settle(datum, { ...event, outcome: { ...outcome, ...costs, at } as FetchOutcome }, policy, at).datum;
    return datum.nextFetchAt === null ? null : Math.round((10 * (datum.nextFetchAt - at)) / DAY_MS) / 10;
  });
}

describe('a URL that has never brought a page', () => {
  it('comes back after ever longer pauses, then is not selected any more', () => {
    expect(pausesOf([gone, gone, gone, gone])).toEqual([30, 60, 180, null]);
  });

  it('that was left out with others of its host comes a little before them, and counts as missing', () => {
    expect(pausesOf([gone, unasked, gone, unasked])).toEqual([30, 59.4, 180, null]);
  });

  it.each([400, 401, 405, 406, 414, 451])(
    'and is refused for good with %i waits as long, and is not given up',
    (status) => {
      const often = Array.from({ length: 5 }, () => refused(status));
      expect(pausesOf(often)).toEqual([30, 60, 180, 180, 180]);
      expect(pausesOf(often.slice(0, 3), { ...fresh, seed: true })).toEqual([1, 2, 4]);
    },
  );

  it.each([403, 408, 409, 425])('and is refused for now with %i is retried soon', (status) => {
    expect(pausesOf([refused(status), refused(status)])).toEqual([1, 2]);
  });
});

it('a page that is gone comes back sooner than a URL that was never there', () => {
  expect(pausesOf([page, gone, gone, gone, gone]).slice(1)).toEqual([7, 14, 28, null]);
  expect(pausesOf([gone, page, gone, gone]).slice(2)).toEqual([7, 14]);
});

describe('a redirect', () => {
  it('that is permanent comes back after the longest interval, whatever was believed of the page', () => {
    expect(pausesOf([moved, moved, moved])).toEqual([40, 40, 40]);
    const known = { ...fresh, schedule: { intervalMs: DAY_MS, belief: { changes: 9, watched: 9, fresh: 1 } as never } };
    const event = { kind: 'visited', parse: null, target: 'http://h.example/b', lastModifiedAt: null } as const;
    const settled = settle(known, { ...event, outcome: { ...moved, ...costs, at: NOW } }, policy, NOW);
    expect(settled.datum.schedule.belief).toBe(known.schedule.belief);
    expect(settled.seen).toBeUndefined();
  });

  it('to a URL that was never there comes back like that URL', () => {
    expect(pausesOf([moved, moved, moved, moved], fresh, true)).toEqual([40, 60, 180, 180]);
    expect(pausesOf([found, found, found, found], fresh, true)).toEqual([30, 60, 180, 180]);
  });

  it('that is temporary comes back as a page does', () => {
    const [first = 0] = pausesOf([found]) as number[];
    expect(first).toBeLessThan(40);
  });

  it('keeps the interval that the operator has fixed', () => {
    expect(pausesOf([moved, moved], { ...fresh, fixedIntervalMs: 2 * DAY_MS }, true)).toEqual([2, 2]);
  });
});

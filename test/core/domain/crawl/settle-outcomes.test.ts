import { describe, expect, it } from 'vitest';
import type { ScheduleVisit } from '../../../../src/core/domain/crawl/revisit/schedule.ts';
import { type CrawlDatum, NO_VALIDATORS, newDatum } from '../../../../src/core/domain/crawl/states/datum.ts';
import type { FetchOutcome, FetchRedirect } from '../../../../src/core/domain/crawl/states/outcome.ts';
import { type CrawlEvent, type SettlePolicy, settle } from '../../../../src/core/domain/crawl/states/settle.ts';
import { DAY_MS, HOUR_MS } from '../../../../src/core/domain/time.ts';
import { base, datumIn, EVENTS, NEW, NOW, OLD, parsed, policy, success, visited } from './settled-records.ts';

const TARGET = 'http://h.example/b';
const ELAPSED = 10 * DAY_MS;
const seen = { distance: 3, changes: 1, ratio: 0.5 } as never;

/** A policy whose schedule notes the visits that it is asked about, and has learnt something from each. */
function noting(part: Partial<SettlePolicy> = {}): { asked: ScheduleVisit[]; under: SettlePolicy } {
  const asked: ScheduleVisit[] = [];
  const schedule: SettlePolicy['schedule'] = {
    name: 'noting',
    initialIntervalMs: DAY_MS,
    onVisit: (memory, visit) => {
      asked.push(visit);
      return { memory, nextFetchAt: visit.now + 3 * DAY_MS, terms: [{ label: 'noted', value: 1 }], seen };
    },
  };
  return { asked, under: { ...policy, schedule, ...part } };
}

const of = (outcome: object, target: string | null = null): CrawlEvent => ({
  ...visited({ outcome: { ...base, ...outcome } as FetchOutcome, parse: null }),
  ...({ target } as object),
});
const redirect = (permanent: boolean): Partial<FetchRedirect> => ({
  kind: 'redirect',
  status: permanent ? 301 : 302,
  permanent,
  target: '/b',
});
const unchanged = (rung: string, part: object = {}) =>
  of({ kind: 'unchanged', rung, status: 304, validators: NO_VALIDATORS, audit: null, ...part });
const never = newDatum({ url: 'http://h.example/a', now: NOW - DAY_MS, intervalMs: 30 * DAY_MS, depth: 1 });
const settledBy = (datum: CrawlDatum, event: CrawlEvent, under = policy) => settle(datum, event, under, NOW);

describe('the visit as the schedule sees it', () => {
  it.each<[name: string, before: CrawlDatum, event: CrawlEvent, shown: Partial<ScheduleVisit>]>([
    [
      'the same bytes: unchanged, since the change before',
      datumIn('fetched'),
      EVENTS['success, same body']!,
      {
        ...({ outcome: 'unchanged', evidence: 'digest', changedAt: NOW - 20 * DAY_MS } as const),
        ...{ isHostTrusted: true, isContentOther: false },
      },
    ],
    [
      'other bytes: changed now',
      datumIn('fetched'),
      EVENTS['success, other body']!,
      { outcome: 'modified', evidence: 'distance', changedAt: NOW, isContentOther: false },
    ],
    [
      'headers of a host that has lied',
      datumIn('fetched'),
      { ...EVENTS['success, other body']!, isHostTrusted: false } as CrawlEvent,
      { isHostTrusted: false },
    ],
    [
      'equal headers',
      datumIn('fetched'),
      { ...unchanged('headers'), lastModifiedAt: 5 } as CrawlEvent,
      { outcome: 'unchanged', evidence: 'headers', distance: null, changedAt: NOW - 20 * DAY_MS, lastModifiedAt: 5 },
    ],
    ['an equal digest', datumIn('fetched'), unchanged('digest'), { evidence: 'digest', distance: 0 }],
    [
      'a first temporary redirect',
      never,
      of(redirect(false), TARGET),
      { outcome: 'new', evidence: 'first', changedAt: NOW, elapsedMs: null },
    ],
    [
      'a page that has become a redirect',
      datumIn('fetched'),
      of(redirect(false), TARGET),
      { outcome: 'modified', evidence: 'headers', changedAt: NOW, elapsedMs: ELAPSED },
    ],
    [
      'a redirect to where it led before',
      datumIn('redir_temp'),
      of(redirect(false), TARGET),
      { outcome: 'unchanged', evidence: 'headers', changedAt: NOW - 20 * DAY_MS },
    ],
    [
      'a redirect that was permanent, to where it led before',
      datumIn('redir_perm'),
      of(redirect(false), TARGET),
      { outcome: 'unchanged', changedAt: NOW - 20 * DAY_MS },
    ],
    [
      'a redirect to another URL than before',
      datumIn('redir_perm'),
      of(redirect(false), 'http://h.example/c'),
      { outcome: 'modified', changedAt: NOW },
    ],
    [
      'a redirect of a duplicate to its representative',
      datumIn('duplicate', { target: TARGET }),
      of(redirect(false), TARGET),
      { outcome: 'modified', changedAt: NOW },
    ],
  ])('%s', (_name, before, event, shown) => {
    const { asked, under } = noting();
    const { datum } = settledBy(before, event, under);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject(shown);
    expect(datum.changedAt).toBe(asked[0]?.changedAt);
  });

  it.each([['success, other body'], ['success, same body'], ['unchanged 304']])(
    'what it has learnt comes with the time that it took, from the second visit on: %s',
    (name) => {
      expect(settledBy(datumIn('fetched'), EVENTS[name]!, noting().under).seen).toEqual({
        ...(seen as object),
        elapsedMs: ELAPSED,
      });
      expect('seen' in settledBy(datumIn('fetched', { lastFetchAt: null }), EVENTS[name]!, noting().under)).toBe(false);
      expect('seen' in settledBy(datumIn('fetched'), EVENTS[name]!)).toBe(false);
    },
  );
});

describe('a visit that found a page', () => {
  it('keeps what was parsed of the same bytes where they were not parsed, and nothing of other bytes', () => {
    const known = { signature: 'fd851af90bc24962', changeSignature: 'f', changeDigest: 'd', sketch: 's' };
    const more = { signatureName: 'sig-1', title: 't', textChars: 9, stated: { language: 'en' } as never };
    const before = datumIn('fetched', { ...known, ...more, metadata: { topic: 'a' } });
    const kept = settledBy(before, visited({ outcome: success(OLD), parse: null })).datum;
    expect(kept).toMatchObject({ ...known, ...more, metadata: { topic: 'a' } });
    const other = settledBy(before, visited({ outcome: success(NEW), parse: null })).datum;
    const gone = Object.fromEntries(Object.keys({ ...known, ...more }).map((key) => [key, null]));
    expect(other).toMatchObject({ ...gone, metadata: { topic: 'a' } });
  });

  it('keeps the error of parsing as long as the page was not parsed', () => {
    const broken = settledBy(datumIn('fetched'), EVENTS['success, parse failed']!);
    expect(broken.verdict).toBe('parse-failed');
    expect(broken.datum.lastError).toEqual({ code: 'parse-failed', message: 'no', at: NOW });
    const still = settle(broken.datum, EVENTS['unchanged 304']!, policy, NOW + 1).datum;
    expect(still).toMatchObject({ state: 'parse_failed', lastError: broken.datum.lastError });
    const read = settle(still, EVENTS['success, other body']!, policy, NOW + 2).datum;
    expect(read.lastError).toBeNull();
    const failing = settledBy(datumIn('fetched'), EVENTS.failed!).datum;
    expect(settle(failing, EVENTS['unchanged 304']!, policy, NOW + 1).datum.lastError).toBeNull();
  });

  it('names the copy that a browser rendered, which stays while the page is unchanged', () => {
    const copy = { source: 'a' } as never;
    const rendered = settledBy(
      datumIn('fetched'),
      visited({ outcome: { ...success(NEW), rendered: copy }, parse: parsed() }),
    );
    expect(rendered.datum.rendered).toBe(copy);
    const still = settle(rendered.datum, unchanged('conditional'), policy, NOW + 1).datum;
    expect(still.rendered).toBe(copy);
    const anew = { source: 'b' } as never;
    expect(settle(still, unchanged('digest', { rendered: anew }), policy, NOW + 2).datum.rendered).toBe(anew);
    expect(settle(still, EVENTS['success, other body']!, policy, NOW + 2).datum.rendered).toBeNull();
  });

  it.each([
    ['conditional', 'unchanged-304', null],
    ['headers', 'unchanged-headers', null],
    ['digest', 'unchanged-digest', 0],
  ])('unchanged by the rung %s is noted as %s with the distance %s', (rung, outcome, distance) => {
    const { datum, ...rest } = settledBy(datumIn('fetched'), unchanged(rung), noting().under);
    expect(datum.visits).toEqual([
      { at: NOW, outcome, distance, elapsedMs: ELAPSED, bytes: 10, intervalMs: 30 * DAY_MS },
    ]);
    expect(rest).toMatchObject({ verdict: 'unchanged', distance: null, terms: [{ label: 'noted', value: 1 }] });
  });

  it('cannot be unchanged at first: the server breaks the protocol', () => {
    const { datum, verdict } = settledBy(never, unchanged('conditional'));
    expect(verdict).toBe('failed');
    expect(datum).toMatchObject({ state: 'unfetched', failures: 1, nextFetchAt: NOW + DAY_MS });
    const message = 'status 304 says unchanged, but nothing was fetched before';
    expect(datum.lastError).toEqual({ code: 'protocol-error', message, at: NOW });
  });
});

describe('a redirect', () => {
  const long = `http://h.example/${'x'.repeat(300)}`;
  const met = (redirects: number): CrawlDatum => ({ ...never, metadata: { redirects } });

  it.each<[name: string, before: CrawlDatum, target: string | null, error: object | null]>([
    ['that is followed is no error', met(4), TARGET, null],
    [
      'that ends a chain says so',
      met(5),
      TARGET,
      { code: 'redirect-limit', message: `redirect to ${TARGET} not followed after 5 redirects in a row` },
    ],
    ['to itself ends no chain', met(5), never.url, null],
    [
      'to what is no URL of the crawl cannot be followed',
      never,
      null,
      { code: 'redirect-invalid', message: 'redirect to /b cannot be followed' },
    ],
    [
      'with a long target names the beginning of it',
      met(5),
      long,
      { code: 'redirect-limit', message: `redirect to ${long.slice(0, 200)} not followed after 5 redirects in a row` },
    ],
  ])('%s', (_name, before, target, error) => {
    const { datum, verdict, distance } = settledBy(before, of(redirect(true), target), { ...policy, maxRedirects: 5 });
    expect([verdict, distance]).toEqual(['redirected', null]);
    expect(datum.lastError).toEqual(error === null ? null : { ...error, at: NOW });
    expect(datum.target).toBe(target);
  });

  it('is followed without end where no limit is set', () =>
    expect(settledBy(met(1e9), of(redirect(true), TARGET)).datum.lastError).toBeNull());

  it.each([
    ['permanent', of(redirect(true), TARGET), 'permanent redirect, longest interval', 90],
    [
      'to a missing page',
      { ...of(redirect(false), TARGET), isTargetMissing: true } as CrawlEvent,
      'redirect to a missing page, pause',
      7,
    ],
  ])('that is %s says why it comes back so late', (_name, event, label, days) => {
    const { datum, terms, seen } = settledBy(never, event);
    expect(terms).toEqual([{ label, value: days * DAY_MS, unit: 'ms' }]);
    expect(datum.nextFetchAt).toBe(NOW + days * DAY_MS);
    expect(seen).toBeUndefined();
  });
});

it.each(['permanent redirect', 'gone', 'denied'])(
  'after an interval of a fraction of a millisecond, a page that is %s is due at a whole one',
  (name) => {
    const interval = 4_398_776_470.588;
    const fractional = { ...policy, maxIntervalMs: interval, goneIntervalsMs: [interval] };
    const page = { ...datumIn('fetched'), schedule: { intervalMs: interval, belief: null } };
    const { datum } = settle(page, EVENTS[name]!, fractional, NOW);
    expect(datum.nextFetchAt).toBe(NOW + Math.round(interval));
  },
);

describe('a page that is gone', () => {
  it('says how often in a row, and when it is asked for again, until it is given up', () => {
    let datum = datumIn('fetched');
    const said = Array.from({ length: 4 }, (_, i) => {
      const settled = settle(datum, EVENTS.gone!, policy, NOW + i);
      datum = settled.datum;
      expect([settled.verdict, datum.lastError]).toEqual(['gone', null]);
      return settled.terms;
    });
    const times = (value: number) => ({ label: 'gone, times in a row', value });
    const pause = (days: number) => ({ label: 'pause', value: days * DAY_MS, unit: 'ms' });
    expect(said).toEqual([
      [times(1), pause(7)],
      [times(2), pause(14)],
      [times(3), pause(28)],
      [times(4), { label: 'not selected any more after', value: 3 }],
    ]);
    // It has changed once, when it went.
    expect(datum).toMatchObject({ changedAt: NOW, nextFetchAt: null, dueBy: null });
  });

  it('by its text, not by its status, says so', () => {
    const { datum } = settledBy(datumIn('fetched'), of({ kind: 'gone', status: 200, reason: 'soft-404' }));
    const message = 'as the answer to an address that cannot exist';
    expect(datum.lastError).toEqual({ code: 'soft-404', message, at: NOW });
  });
});

describe('a failed visit', () => {
  const failed = (part: object) =>
    of({ kind: 'failed', code: 'c', message: 'm', status: null, retryAt: null, ...part });

  it('says the pause, doubled or that of a missing page, and what the server asked for', () => {
    const twice = settle(settledBy(datumIn('fetched'), failed({})).datum, failed({}), policy, NOW);
    expect(twice.terms).toEqual([
      { label: 'failures in a row', value: 2 },
      { label: 'pause, doubled with each failure', value: 2 * DAY_MS, unit: 'ms' },
    ]);
    expect(twice).toMatchObject({ verdict: 'failed', distance: null });
    expect(twice.datum).toMatchObject({ dueBy: 'schedule', lastError: { code: 'c', message: 'm', at: NOW } });
    expect(settledBy(never, failed({ status: 405, retryAt: NOW + 9 * DAY_MS })).terms).toEqual([
      { label: 'failures in a row', value: 1 },
      { label: 'pause', value: 7 * DAY_MS, unit: 'ms' },
      { label: 'Retry-After', value: 9 * DAY_MS, unit: 'ms' },
    ]);
  });

  it.each([
    [400, true],
    [412, true],
    [431, true],
    [500, false],
    [null, false],
  ])('with the status %s drops the validators, which may be why it failed: %s', (status, isDropped) => {
    const validators = { etag: '"a"', lastModified: null, contentLength: 1 };
    const { datum } = settledBy(datumIn('fetched', { validators, httpStatus: 200 }), failed({ status }));
    expect(datum.validators).toEqual(isDropped ? NO_VALIDATORS : validators);
    expect(datum.httpStatus).toBe(status ?? 200);
  });

  it.each(['failed', 'denied'])('that %s does not bring an orphan back', (name) => {
    const { datum } = settledBy(datumIn('orphan'), EVENTS[name]!);
    expect(datum).toMatchObject({ state: 'orphan', nextFetchAt: null, dueBy: null });
  });
});

describe('a visit that was denied', () => {
  const denied = (code: string, retryAt: number | null = null) => of({ kind: 'denied', code, message: 'm', retryAt });
  const under = { ...policy, retryIntervalMs: 5 * HOUR_MS };

  it.each([
    ['robots-denied', null, 30 * DAY_MS],
    ['robots-denied', NOW + DAY_MS, DAY_MS],
    ['robots-unreachable', null, 5 * HOUR_MS],
    ['a-code-of-a-plugin', null, 30 * DAY_MS],
  ])('by %s until %s waits %d ms', (code, retryAt, pause) => {
    const { datum, ...rest } = settledBy(datumIn('fetched'), denied(code, retryAt), under);
    expect(rest).toEqual({
      verdict: 'denied',
      distance: null,
      terms: [{ label: `pause (${code})`, value: pause, unit: 'ms' }],
    });
    expect(datum).toMatchObject({ failures: 0, nextFetchAt: NOW + pause, lastError: { code, message: 'm', at: NOW } });
    expect(datum.visits.at(-1)).toMatchObject({ outcome: 'denied', bytes: 0, distance: null });
  });

  it.each<[name: string, before: CrawlDatum, retryAt: number | null, pause: number | null]>([
    ['waits a little less than those that are asked for', datumIn('gone'), null, 0.99 * 7 * DAY_MS],
    ['waits as long as its host wants', datumIn('gone'), NOW + 9 * DAY_MS, 9 * DAY_MS],
  ])('as others of its host were missing: %s', (_name, before, retryAt, pause) => {
    const { datum, ...rest } = settledBy(before, denied('missing-unasked', retryAt));
    const terms = [{ label: 'pause (missing-unasked)', value: pause, unit: 'ms' }];
    expect(rest).toEqual({ verdict: 'denied', distance: null, terms });
    expect(datum.nextFetchAt).toBe(NOW + (pause ?? 0));
    expect(datum.lastError).toEqual({ code: 'missing-unasked', message: 'm', at: NOW });
    expect(datum.visits.at(-1)).toMatchObject({ outcome: 'denied', bytes: 0 });
  });

  it('as others of its host were missing: is given up after its pauses, but never before it was asked for', () => {
    const leftOut = (from: CrawlDatum) => {
      let settled = settledBy(from, denied('missing-unasked'));
      for (let i = 1; i < 5; i++) settled = settle(settled.datum, denied('missing-unasked'), policy, NOW + i);
      return settled;
    };
    const { datum, terms } = leftOut(datumIn('gone'));
    expect(datum.nextFetchAt).toBeNull();
    expect(terms).toEqual([{ label: 'not selected any more after', value: 3 }]);
    expect(leftOut(never).datum.nextFetchAt).toBe(NOW + 4 + 0.99 * 28 * DAY_MS);
  });
});

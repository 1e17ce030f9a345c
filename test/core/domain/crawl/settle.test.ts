import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reinject } from '../../../../src/core/domain/crawl/discovery/seed.ts';
import { FIRST_INTERVAL_KEY, replayLastVisit } from '../../../../src/core/domain/crawl/revisit/next-visit.ts';
import { createFreshnessSchedule } from '../../../../src/core/domain/crawl/schedules/freshness.ts';
import { createAdaptiveSchedule } from '../../../../src/core/domain/crawl/schedules/nutch-schedules.ts';
import { createSimilaritySchedule } from '../../../../src/core/domain/crawl/schedules/similarity.ts';
import {
  CRAWL_STATES,
  type CrawlDatum,
  type CrawlState,
  VISIT_RING_SIZE,
} from '../../../../src/core/domain/crawl/states/datum.ts';
import { type CrawlEvent, settle } from '../../../../src/core/domain/crawl/states/settle.ts';
import { DAY_MS, HOUR_MS } from '../../../../src/core/domain/time.ts';
import { base, datumIn, EVENTS, NEW, NOW, OLD, parsed, policy, success, visited } from './settled-records.ts';

/** state before -> event -> state after; every cell is written down. */
const MATRIX: Record<CrawlState, Record<string, CrawlState>> = {
  unfetched: {
    linked: 'unfetched',
    orphaned: 'orphan',
    'success, other body': 'fetched',
    'success, same body': 'fetched',
    'success, parse failed': 'parse_failed',
    'unchanged 304': 'unfetched',
    'permanent redirect': 'redir_perm',
    'temporary redirect': 'redir_temp',
    gone: 'gone',
    failed: 'unfetched',
    denied: 'unfetched',
  },
  fetched: {
    linked: 'fetched',
    orphaned: 'orphan',
    'success, other body': 'fetched',
    'success, same body': 'notmodified',
    'success, parse failed': 'parse_failed',
    'unchanged 304': 'notmodified',
    'permanent redirect': 'redir_perm',
    'temporary redirect': 'redir_temp',
    gone: 'gone',
    failed: 'fetched',
    denied: 'fetched',
  },
  notmodified: {
    linked: 'notmodified',
    orphaned: 'orphan',
    'success, other body': 'fetched',
    'success, same body': 'notmodified',
    'success, parse failed': 'parse_failed',
    'unchanged 304': 'notmodified',
    'permanent redirect': 'redir_perm',
    'temporary redirect': 'redir_temp',
    gone: 'gone',
    failed: 'notmodified',
    denied: 'notmodified',
  },
  redir_temp: {
    linked: 'redir_temp',
    orphaned: 'orphan',
    'success, other body': 'fetched',
    'success, same body': 'notmodified',
    'success, parse failed': 'parse_failed',
    'unchanged 304': 'notmodified',
    'permanent redirect': 'redir_perm',
    'temporary redirect': 'redir_temp',
    gone: 'gone',
    failed: 'redir_temp',
    denied: 'redir_temp',
  },
  redir_perm: {
    linked: 'redir_perm',
    orphaned: 'orphan',
    'success, other body': 'fetched',
    'success, same body': 'notmodified',
    'success, parse failed': 'parse_failed',
    'unchanged 304': 'notmodified',
    'permanent redirect': 'redir_perm',
    'temporary redirect': 'redir_temp',
    gone: 'gone',
    failed: 'redir_perm',
    denied: 'redir_perm',
  },
  gone: {
    linked: 'gone',
    orphaned: 'gone',
    'success, other body': 'fetched',
    'success, same body': 'notmodified',
    'success, parse failed': 'parse_failed',
    'unchanged 304': 'notmodified',
    'permanent redirect': 'redir_perm',
    'temporary redirect': 'redir_temp',
    gone: 'gone',
    failed: 'gone',
    denied: 'gone',
  },
  duplicate: {
    linked: 'duplicate',
    orphaned: 'orphan',
    'success, other body': 'fetched',
    'success, same body': 'duplicate',
    'success, parse failed': 'parse_failed',
    'unchanged 304': 'duplicate',
    'permanent redirect': 'redir_perm',
    'temporary redirect': 'redir_temp',
    gone: 'gone',
    failed: 'duplicate',
    denied: 'duplicate',
  },
  orphan: {
    linked: 'fetched',
    orphaned: 'orphan',
    'success, other body': 'fetched',
    'success, same body': 'notmodified',
    'success, parse failed': 'parse_failed',
    'unchanged 304': 'notmodified',
    'permanent redirect': 'redir_perm',
    'temporary redirect': 'redir_temp',
    gone: 'gone',
    failed: 'orphan',
    denied: 'orphan',
  },
  parse_failed: {
    linked: 'parse_failed',
    orphaned: 'orphan',
    'success, other body': 'fetched',
    'success, same body': 'fetched',
    'success, parse failed': 'parse_failed',
    'unchanged 304': 'parse_failed',
    'permanent redirect': 'redir_perm',
    'temporary redirect': 'redir_temp',
    gone: 'gone',
    failed: 'parse_failed',
    denied: 'parse_failed',
  },
};

describe('settle: every state times every event', () => {
  it('the matrix has a cell for each', () => {
    expect(Object.keys(MATRIX).sort()).toEqual([...CRAWL_STATES].sort());
    for (const row of Object.values(MATRIX)) expect(Object.keys(row).sort()).toEqual(Object.keys(EVENTS).sort());
  });

  for (const state of CRAWL_STATES) {
    it.each(Object.entries(MATRIX[state]))(`${state} + %s -> %s`, (name, after) => {
      const before = datumIn(state);
      const { datum } = settle(before, EVENTS[name] as CrawlEvent, policy, NOW);
      expect(datum.state).toBe(after);
      expect(datum.url).toBe(before.url);
      if (datum.nextFetchAt !== null && datum !== before && EVENTS[name]?.kind === 'visited') {
        expect(datum.nextFetchAt).toBeGreaterThan(NOW);
      }
    });
  }
});

describe('settle: the record after each visit', () => {
  it('measures the Hamming distance only between signatures of one name', () => {
    const before = datumIn('fetched');
    expect(settle(before, EVENTS['success, other body'] as CrawlEvent, policy, NOW).distance).toBe(3);
    const renamed = visited({ outcome: success(NEW), parse: { ...parsed(), signatureName: 'sig-2' } });
    const settled = settle(before, renamed, policy, NOW);
    expect(settled).toMatchObject({ distance: null, verdict: 'modified' });
    // How much changed is unknown: the page is signed again, and its interval stays.
    expect(settled.datum.signatureName).toBe('sig-2');
    expect(settled.datum.schedule.intervalMs).toBe(before.schedule.intervalMs);
  });

  it('measures the distance by the signatures of changes, where a page has one beside that of likeness', () => {
    const pair = (changeSignature: string) => ({ ...parsed('0000000000000000'), changeSignature });
    const first = visited({ outcome: success(OLD), parse: pair('7d859af98bc24962') });
    const second = visited({ outcome: success(NEW), parse: pair('fd851af90bc24962') });
    const known = settle(datumIn('unfetched'), first, policy, NOW).datum;
    const { datum, distance } = settle(known, second, policy, NOW + 1);
    expect(distance).toBe(3);
    expect(datum).toMatchObject({ signature: '0000000000000000', changeSignature: 'fd851af90bc24962' });
  });

  it('a change of volatile blocks alone is a distance of 0, and the record names the blocks', () => {
    const article = { path: 'body>article>p', print: 1, chars: 1_000, isMain: true };
    const teaser = (print: number) => ({ path: 'body>section>p', print, chars: 100, isMain: true });
    let datum = datumIn('fetched');
    const distances = [1, 2, 3, 4, 5, 6].map((visit) => {
      const digest = String(visit).repeat(32);
      const signature = datum.signature === 'fd851af90bc24962' ? '7d859af98bc24962' : 'fd851af90bc24962';
      const places = [article, teaser(visit)].map(({ path, print }): [string, number] => [path, print]);
      const parse = { ...parsed(signature), blocks: [article, teaser(visit)], places };
      const settled = settle(datum, visited({ outcome: success(digest), parse }), policy, NOW + visit);
      datum = settled.datum;
      expect(settled.verdict).toBe('modified');
      return settled.distance;
    });
    expect(distances).toEqual([3, 3, 3, 0, 0, 0]);
    expect(datum.visits.at(-1)?.distance).toBe(0);
    expect(datum.blocks).toMatchObject({ changed: ['body>section>p'], volatile: ['body>section>p'] });
    const still = settle(datum, EVENTS['unchanged 304'] as CrawlEvent, policy, NOW + 7).datum;
    expect(still.blocks).toEqual(datum.blocks);
    const renamed = { ...parsed(), signatureName: 'sig-2', blocks: [article, teaser(7)] };
    const resigned = settle(still, visited({ outcome: success(NEW), parse: renamed }), policy, NOW + 8).datum;
    expect(resigned.blocks).toMatchObject({ changed: [], volatile: [] });
  });

  it('an unchanged visit keeps the time of change, digest and signature', () => {
    const before = datumIn('fetched');
    const { datum, verdict } = settle(before, EVENTS['unchanged 304'] as CrawlEvent, policy, NOW);
    expect(verdict).toBe('unchanged');
    expect(datum).toMatchObject({
      changedAt: before.changedAt,
      digest: OLD,
      signature: before.signature,
      lastFetchAt: NOW,
    });
  });

  it('a duplicate names its representative as long as it is one, and only that long', () => {
    const representative = 'http://h.example/first';
    const before = datumIn('duplicate', { target: representative });
    const targetAfter = (name: string, from = before) =>
      settle(from, EVENTS[name] as CrawlEvent, policy, NOW).datum.target;
    for (const name of ['unchanged 304', 'success, same body', 'failed', 'denied', 'linked']) {
      expect(targetAfter(name), name).toBe(representative);
    }
    expect(targetAfter('success, other body')).toBeNull();
    expect(targetAfter('success, parse failed')).toBeNull();
    const orphan = settle(before, EVENTS.orphaned as CrawlEvent, policy, NOW).datum;
    expect(targetAfter('linked', orphan)).toBeNull();
    expect(targetAfter('unchanged 304', orphan)).toBeNull();
  });

  it('an orphan that is wanted again is the redirect that it was, not a page that has not been visited since', () => {
    const away = settle(datumIn('fetched'), EVENTS['permanent redirect'] as CrawlEvent, policy, NOW).datum;
    const failing = settle(away, EVENTS.failed as CrawlEvent, policy, NOW).datum;
    const orphan = settle(failing, EVENTS.orphaned as CrawlEvent, policy, NOW).datum;
    const wanted = settle(orphan, EVENTS.linked as CrawlEvent, policy, NOW).datum;
    expect(wanted).toMatchObject({ state: 'redir_perm', target: 'http://h.example/c', nextFetchAt: NOW });
    const broken = settle(datumIn('fetched'), EVENTS['success, parse failed'] as CrawlEvent, policy, NOW).datum;
    const left = settle(broken, EVENTS.orphaned as CrawlEvent, policy, NOW).datum;
    expect(settle(left, EVENTS.linked as CrawlEvent, policy, NOW).datum.state).toBe('parse_failed');
  });

  it('a 304 renews the validators that it names and keeps the others', () => {
    const before = datumIn('fetched', { validators: { etag: '"1"', lastModified: 'then', contentLength: 9 } });
    const event = visited({
      outcome: {
        kind: 'unchanged',
        rung: 'conditional',
        status: 304,
        validators: { etag: '"2"', lastModified: null, contentLength: null },
        audit: null,
        ...base,
      },
      parse: null,
    });
    expect(settle(before, event, policy, NOW).datum.validators).toEqual({
      etag: '"2"',
      lastModified: 'then',
      contentLength: 9,
    });
  });

  it('failures double the pause up to the maximum, honour Retry-After and are forgotten after an answer', () => {
    let datum = datumIn('fetched');
    const pauses: number[] = [];
    for (let i = 0; i < 8; i++) {
      datum = settle(datum, EVENTS.failed as CrawlEvent, policy, NOW).datum;
      pauses.push(((datum.nextFetchAt as number) - NOW) / DAY_MS);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
    expect(datum).toMatchObject({ failures: 8, state: 'fetched', lastError: { code: 'fetch-timeout' } });
    const patient = visited({
      outcome: {
        kind: 'failed',
        code: 'http-throttled',
        message: 'x',
        status: 503,
        retryAt: NOW + 3 * DAY_MS,
        ...base,
      },
      parse: null,
    });
    expect(settle(datumIn('fetched'), patient, policy, NOW).datum.nextFetchAt).toBe(NOW + 3 * DAY_MS);
    const back = settle(datum, EVENTS['success, same body'] as CrawlEvent, policy, NOW).datum;
    expect(back).toMatchObject({ failures: 0, lastError: null });
  });

  it('"gone" ages through its pauses, failures in between not counted, then is selected no more; a return starts afresh', () => {
    let datum = datumIn('fetched');
    const pauses: (number | null)[] = [];
    for (let i = 0; i < 4; i++) {
      datum = settle(datum, EVENTS.gone as CrawlEvent, policy, NOW).datum;
      pauses.push(datum.nextFetchAt === null ? null : (datum.nextFetchAt - NOW) / DAY_MS);
      datum = settle(datum, EVENTS.failed as CrawlEvent, policy, NOW).datum;
    }
    expect(pauses).toEqual([7, 14, 28, null]);
    const back = settle(datum, EVENTS['success, other body'] as CrawlEvent, policy, NOW).datum;
    const again = settle(back, EVENTS.gone as CrawlEvent, policy, NOW).datum;
    expect(((again.nextFetchAt as number) - NOW) / DAY_MS).toBe(7);
  });

  it("the operator's fixed interval wins over schedule and bounds, while the schedule goes on learning", () => {
    const before = datumIn('fetched', { fixedIntervalMs: 60_000 });
    const { datum } = settle(before, EVENTS['unchanged 304'] as CrawlEvent, policy, NOW);
    expect(datum.nextFetchAt).toBe(NOW + 60_000);
    expect(datum.schedule.intervalMs).toBe(42 * DAY_MS);
  });

  it.each([
    ['freshness', createFreshnessSchedule()],
    ['adaptive', createAdaptiveSchedule()],
    ['similarity', createSimilaritySchedule()],
  ])('the interval that a seed names holds until the second visit, and its terms say so: %s', (_name, schedule) => {
    const under = { ...policy, schedule };
    const first = (part: Partial<CrawlDatum>): CrawlDatum =>
      settle(datumIn('unfetched', part), EVENTS['success, other body'] as CrawlEvent, under, NOW).datum;
    const named = first({ seed: true, metadata: { [FIRST_INTERVAL_KEY]: 2 * DAY_MS } });
    expect(named.nextFetchAt).toBe(NOW + 2 * DAY_MS);
    expect(replayLastVisit(named, under, null)?.nextFetchAt).toBe(NOW + 2 * DAY_MS);
    for (const part of [{ seed: true }, { seed: false }]) {
      const usual = first(part);
      expect((usual.nextFetchAt as number) - NOW).toBeGreaterThan(6 * DAY_MS);
      expect(replayLastVisit(usual, under, null)?.nextFetchAt).toBe(usual.nextFetchAt);
    }
    const second = settle(named, EVENTS['unchanged 304'] as CrawlEvent, under, NOW + 2 * DAY_MS).datum;
    expect((second.nextFetchAt as number) - NOW).toBeGreaterThan(4 * DAY_MS);
  });

  it.each([
    ['adaptive', createAdaptiveSchedule()],
    ['similarity', createSimilaritySchedule()],
  ])(
    'the arithmetic of another body is replayed as it was, signed by other rules or with no text at all: %s',
    (_name, schedule) => {
      const under = { ...policy, schedule };
      const visitAs = (signatureName: string, signature: string | null): CrawlDatum => {
        const { datum: known } = settle(datumIn('fetched'), EVENTS['unchanged 304'] as CrawlEvent, under, NOW);
        const parse = { ...parsed(), signatureName, signature };
        return settle(known, visited({ outcome: success(NEW), parse }), under, NOW + 42 * DAY_MS).datum;
      };
      const resigned = visitAs('sig-2', '7d859af98bc24962');
      const wordless = visitAs('sig-1', null);
      expect(resigned.schedule.intervalMs).toBeGreaterThan(wordless.schedule.intervalMs);
      for (const datum of [resigned, wordless]) {
        expect(datum.visits.at(-1)?.distance).toBeNull();
        const { memory, nextFetchAt } = replayLastVisit(datum, under, null)!;
        expect([memory.intervalMs, nextFetchAt]).toEqual([datum.schedule.intervalMs, datum.nextFetchAt]);
      }
    },
  );

  it('of a page with a fixed interval is the fixed interval alone', () => {
    const under = { ...policy, schedule: createAdaptiveSchedule() };
    let datum = datumIn('fetched', { fixedIntervalMs: DAY_MS });
    for (const at of [NOW, NOW + DAY_MS]) datum = settle(datum, EVENTS['unchanged 304'] as CrawlEvent, under, at).datum;
    const { terms, nextFetchAt } = replayLastVisit(datum, under, null)!;
    expect(terms).toEqual([{ label: 'fixed by the operator', value: DAY_MS, unit: 'ms' }]);
    expect(nextFetchAt).toBe(datum.nextFetchAt);
  });

  it('the interval of a seed is the start of the next visit of a known page, and its terms say so', () => {
    const under = { ...policy, schedule: createAdaptiveSchedule() };
    const { datum: known } = settle(datumIn('fetched'), EVENTS['unchanged 304'] as CrawlEvent, under, NOW);
    const seed = {
      url: known.url,
      score: null,
      intervalMs: 2 * DAY_MS,
      fixedIntervalMs: null,
      layers: null,
      metadata: {},
    };
    const named = reinject(known, seed, 'update', known);
    expect(named.nextFetchAt).toBe(NOW + 2 * DAY_MS);
    const modified = visited({ outcome: success(NEW), parse: parsed() });
    const { datum } = settle(named, modified, under, NOW + 2 * DAY_MS);
    expect(datum.schedule.intervalMs).toBe(1.6 * DAY_MS);
    expect(replayLastVisit(datum, under, null)?.nextFetchAt).toBe(datum.nextFetchAt);
  });

  it('bounds of a type hold from the visit on that finds the type', () => {
    const intervalRules = [{ of: 'text/html', minIntervalMs: null, maxIntervalMs: DAY_MS }];
    const under = { ...policy, intervalRules };
    const pause = (datum: CrawlDatum): number => {
      const after = settle(datum, EVENTS['success, other body'] as CrawlEvent, under, NOW).datum;
      expect(replayLastVisit(after, under, null)?.nextFetchAt).toBe(after.nextFetchAt);
      return (after.nextFetchAt as number) - NOW;
    };
    expect(pause(datumIn('unfetched'))).toBe(DAY_MS);
    expect(pause(datumIn('fetched', { contentType: 'application/pdf' }))).toBe(DAY_MS);
  });

  it('a URL denied by robots.txt is due again within the bounds of its host, or at its fixed interval', () => {
    const hour = HOUR_MS;
    const intervalRules = [{ of: 'h.example', minIntervalMs: null, maxIntervalMs: 6 * hour }];
    const pause = (part: Partial<CrawlDatum>): number => {
      const { datum } = settle(
        datumIn('fetched', part),
        EVENTS.denied as CrawlEvent,
        { ...policy, intervalRules },
        NOW,
      );
      return (datum.nextFetchAt as number) - NOW;
    };
    expect(pause({})).toBe(6 * hour);
    expect(pause({ fixedIntervalMs: 200 * DAY_MS })).toBe(200 * DAY_MS);
  });

  it('a seed is never an orphan', () => {
    const seed = datumIn('fetched', { seed: true });
    expect(settle(seed, { kind: 'orphaned' }, policy, NOW).datum).toBe(seed);
  });

  it('an orphan that is linked again is due at once', () => {
    expect(settle(datumIn('orphan'), { kind: 'linked', depth: 1 }, policy, NOW).datum).toMatchObject({
      state: 'fetched',
      nextFetchAt: NOW,
      depth: 1,
    });
    const never = datumIn('orphan', { digest: null, lastFetchAt: null });
    expect(settle(never, { kind: 'linked', depth: 5 }, policy, NOW).datum).toMatchObject({
      state: 'unfetched',
      depth: 2,
    });
  });

  it('keeps a bounded ring of visits, newest last', () => {
    let datum = datumIn('fetched');
    for (let i = 0; i < 40; i++) {
      datum = settle(datum, EVENTS['unchanged 304'] as CrawlEvent, policy, NOW + i * DAY_MS).datum;
    }
    expect(datum.visits).toHaveLength(VISIT_RING_SIZE);
    expect(datum.visits.at(-1)).toMatchObject({ at: NOW + 39 * DAY_MS, elapsedMs: DAY_MS, outcome: 'unchanged-304' });
  });

  it('is total and deterministic over any sequence of events, and never schedules into the past', () => {
    const names = fc.constantFrom(...Object.keys(EVENTS));
    fc.assert(
      fc.property(fc.constantFrom(...CRAWL_STATES), fc.array(names, { maxLength: 30 }), (state, sequence) => {
        let datum = datumIn(state);
        for (const [i, name] of sequence.entries()) {
          const now = NOW + i * DAY_MS;
          const event = EVENTS[name] as CrawlEvent;
          const once = settle(datum, event, policy, now).datum;
          expect(settle(datum, event, policy, now).datum).toEqual(once);
          datum = once;
          expect(CRAWL_STATES).toContain(datum.state);
          expect(datum.visits.length).toBeLessThanOrEqual(VISIT_RING_SIZE);
          if (event.kind === 'visited' && datum.nextFetchAt !== null) expect(datum.nextFetchAt).toBeGreaterThan(now);
        }
      }),
      { numRuns: 200 },
    );
  });
});

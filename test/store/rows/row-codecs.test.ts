import { describe, expect, it } from 'vitest';
import { CRAWL_STATES, type CrawlDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { urlKey } from '../../../src/core/domain/url/canonical/url-key.ts';
import { type HostFacts, NO_HOST_FACTS } from '../../../src/core/ports/crawl-db.ts';
import { dueKey } from '../../../src/store/rows/codecs/keys.ts';
import {
  decodeCounters,
  decodeDue,
  decodeHost,
  decodeLease,
  decodeLinks,
  decodeSegment,
  dueEntryOf,
  encodeCounters,
  encodeDue,
  encodeHost,
  encodeLease,
  encodeLinks,
  encodeSegment,
  isSameDue,
  leaseOf,
  NO_COUNTERS,
  NO_TALLY,
} from '../../../src/store/rows/codecs/row-codecs.ts';
import { pack, unpack } from '../../../src/store/rows/rows.ts';
import { visitedDatum } from '../../contracts/crawl-db-exam.ts';

/**
 * Values on the right are what rows of the present format hold. Another layout is another format of the crawl db: it
 * needs a step of migration.
 */
const URL_A = 'https://a.example/x';
const AT = 1_700_000_000_000;

describe('a due row', () => {
  const datum = visitedDatum(URL_A);
  const facts = { url: URL_A, dueAt: AT, state: 'fetched', score: 1.5, depth: 2, intervalMs: 86_400_000 };
  const failed = visitedDatum(URL_A, { visits: [{ ...datum.visits[0]!, outcome: 'failed', at: AT }] });

  it.each([
    ['of a page', datum, [1, 1.5, 2, 86_400_000, 1_700_000_100_000, 1, 2, [0.5, 1e9, 0.25, 2, null], 1, null]],
    [
      'of a URL that was never requested',
      visitedDatum(URL_A, { ...newUrl(), metadata: { weight: 3 } }),
      [0, 1.5, 2, 60_000, null, 0, 1, null, 3, null],
    ],
    [
      'of a page that failed',
      { ...failed, fixedIntervalMs: null },
      [1, 1.5, 2, 86_400_000, 1_700_000_100_000, 1, 0, [0.5, 1e9, 0.25, 2, null], 1, AT],
    ],
  ] as [string, CrawlDatum, unknown[]][])('%s', (_name, of, tuple) => {
    expect(unpack(encodeDue(of))).toEqual(tuple);
    const entry = decodeDue(URL_A, AT, pack(tuple));
    expect(dueEntryOf(dueKey({ ...entry, dueAt: AT }, urlKey(URL_A)), pack(tuple))).toEqual(entry);
  });

  it('is read field by field', () => {
    expect(decodeDue(URL_A, AT, encodeDue(datum))).toEqual({
      ...facts,
      ...{ lastFetchAt: 1_700_000_100_000, failures: 1, isNew: false, isFixed: true, weight: 1, unansweredAt: null },
      belief: { changes: 0.5, watchedMs: 1e9, newUrls: 2, noise: 0.25, mostMs: null },
    });
    const fresh = decodeDue(URL_A, AT, encodeDue(visitedDatum(URL_A, newUrl())));
    expect(fresh).toMatchObject({ isNew: true, isFixed: false, belief: null, state: 'unfetched', unansweredAt: null });
    expect(decodeDue(URL_A, AT, encodeDue(failed))).toMatchObject({ unansweredAt: AT });
  });

  it('is of every state', () => {
    for (const state of CRAWL_STATES)
      expect(decodeDue(URL_A, AT, encodeDue(visitedDatum(URL_A, { state }))).state).toBe(state);
  });

  it('is the same where time and facts are', () => {
    expect(isSameDue(datum, visitedDatum(URL_A))).toBe(true);
    expect(isSameDue(datum, visitedDatum(URL_A, { title: 'other' }))).toBe(true);
    expect(isSameDue(datum, visitedDatum(URL_A, { nextFetchAt: 1 }))).toBe(false);
    expect(isSameDue(datum, visitedDatum(URL_A, { score: 2 }))).toBe(false);
  });

  it.each([
    ['no tuple', Buffer.from('text')],
    ['a state without a name', pack([99, 1, 2, 3, null, 0, 0, null, 1, null])],
  ])('%s is refused, with its URL', (_name, bytes) => {
    expect(() => decodeDue(URL_A, AT, bytes)).toThrow(
      expect.objectContaining({
        code: 'db-corrupt',
        message: expect.stringMatching(/^the due entry of https:\/\/a\.example\/x cannot be read: ./),
        cause: expect.any(Error),
      }),
    );
  });
});

function newUrl(): Partial<CrawlDatum> {
  return {
    ...{ state: 'unfetched', nextFetchAt: AT, lastFetchAt: null, failures: 0, fixedIntervalMs: null, visits: [] },
    schedule: { intervalMs: 60_000, belief: null },
  };
}

it('a lease keeps the segment, the time and the due row', () => {
  const due = encodeDue(visitedDatum(URL_A));
  const bytes = encodeLease({ segment: '20260101000000-00001', dueAt: AT, due });
  expect(unpack(bytes)).toEqual(['20260101000000-00001', AT, due]);
  expect(decodeLease(URL_A, bytes)).toEqual({ segment: '20260101000000-00001', dueAt: AT, due });
  expect(leaseOf(URL_A, bytes)).toEqual({ url: URL_A, segment: '20260101000000-00001', dueAt: AT });
  expect(leaseOf(URL_A, encodeLease({ segment: 's', dueAt: null, due })).dueAt).toBeNull();
  expect(() => decodeLease(URL_A, Buffer.from('text'))).toThrow(`the lease of ${URL_A} cannot be read: `);
});

it('a row of a segment keeps its state and what is applied', () => {
  const row = { id: '20260101000000-00001', state: 'updated', createdAt: AT, urls: 10, applied: 7 } as const;
  expect(unpack(encodeSegment(row))).toEqual(['updated', AT, 10, 7]);
  expect(decodeSegment(row.id, encodeSegment(row))).toEqual(row);
  expect(() => decodeSegment(row.id, Buffer.from('text'))).toThrow(
    `the row of the segment of ${row.id} cannot be read`,
  );
});

it('counters start at nothing and keep what is counted', () => {
  expect(NO_COUNTERS).toEqual({ tally: [0, 0, 0, 0, 0, 0, 0, 0, 0], hosts: 0, leased: 0 });
  expect(NO_TALLY).toHaveLength(CRAWL_STATES.length);
  const counters = { tally: [1, 2, 3, 4, 5, 6, 7, 8, 9], hosts: 10, leased: 11 };
  expect(unpack(encodeCounters(counters))).toEqual([counters.tally, 10, 11]);
  expect(decodeCounters(encodeCounters(counters))).toEqual(counters);
  expect(() => decodeCounters(Buffer.from('text'))).toThrow('the counters of the crawl db cannot be read: ');
});

describe('a row of a host', () => {
  const tally = [1, 2, 0, 0, 0, 0, 0, 0, 0];
  const counts: HostFacts = {
    ...NO_HOST_FACTS,
    ...{ audits: 1, lies: 2, distrustedUntil: AT, conditionalHits: 3, conditionalMisses: 4 },
    ...{ headHits: 5, headMisses: 6, bytesSaved: 7, hintHits: 8, hintMisses: 9 },
  };
  const counted = [1, 2, AT, 3, 4, 5, 6, 7, 8, 9];
  const level = { changes: 1.5, watchedMs: 2_000, observedMs: 3_000, at: AT };
  const clock = {
    level,
    groups: [
      { number: 3, level: { changes: 0.25, watchedMs: 5, observedMs: 6, at: null }, pages: 7, lookedAt: 8 },
      { number: 4, level, pages: 9, lookedAt: 10 },
    ],
    epochs: [
      {
        ...{ from: 11, to: 12 },
        found: [
          { group: 3, observed: 0.5, expected: 0.125, visits: 13 },
          { group: 4, observed: 1, expected: 2, visits: 14 },
        ],
      },
      { from: 15, to: 16, found: [] },
    ],
  };
  const stored = [15_000, 2_000, 3_000, AT];

  it.each([
    ['without facts', null, undefined],
    ['with counts alone', counts, counted],
    [
      'with its answer to a URL that cannot exist',
      { ...counts, nothing: { at: AT, signature: '0123456789abcdef', signatureName: 'simhash/1', textChars: 5 } },
      [...counted, [AT, '0123456789abcdef', 'simhash/1', 5]],
    ],
    ['that asked for a pause', { ...counts, restUntil: AT }, [...counted, null, AT]],
    [
      'with its traffic',
      {
        ...counts,
        traffic: {
          ...{ visits: 1, dnsFailures: 2, connectionFailures: 3, timeouts: 4, receivedBytes: 5 },
          latency: { first: 6, counts: [7, 8] },
        },
      },
      [...counted, null, null, [1, 1, 2, 3, 4, 5, 6, 7, 8]],
    ],
    [
      'with rendered pages',
      { ...counts, rendering: [{ pattern: '/x/*', renders: 1, gains: 2, misses: 3, at: AT }] },
      [...counted, null, null, null, [['/x/*', 1, 2, 3, AT]]],
    ],
    [
      'with its clock',
      { ...counts, clock },
      [
        ...counted,
        ...[null, null, null, null],
        [
          stored,
          [
            [3, [2_500, 5, 6, null], 7, 8],
            [4, stored, 9, 10],
          ],
          [
            [11, 12, [3, 5_000, 1_250, 13, 4, 10_000, 20_000, 14]],
            [15, 16, []],
          ],
        ],
      ],
    ],
    [
      'with dead links',
      {
        ...counts,
        missing: {
          ...{ times: 2, at: AT },
          folders: [
            { folder: 3, missing: 4, found: 5 },
            { folder: 6, missing: 7, found: 8 },
          ],
        },
      },
      [...counted, null, null, null, null, null, [1, 2, AT, 3, 4, 5, 6, 7, 8]],
    ],
    [
      'with a bound by the day',
      { ...counts, fetchesOfDay: { day: 20_000, fetches: 3 } },
      [...counted, null, null, null, null, null, null, [20_000, 3]],
    ],
  ] as [string, HostFacts | null, unknown[] | undefined][])('%s', (_name, facts, tuple) => {
    const row = { tally, facts };
    expect(unpack(encodeHost(row))).toEqual(tuple === undefined ? [tally] : [tally, tuple]);
    expect(decodeHost('a.example', encodeHost(row))).toEqual(row);
  });

  it('keeps no list of rendered pages that is empty', () => {
    expect(unpack(encodeHost({ tally, facts: { ...counts, rendering: [] } }))).toEqual([tally, counted]);
  });

  it('keeps whole milliseconds, and changes to a ten-thousandth', () => {
    const fine = { changes: 0.123_456, watchedMs: 1.6, observedMs: 2.4, at: AT };
    const found = { group: 1, observed: 0.000_04, expected: 0.000_06, visits: 1 };
    const facts = { ...counts, clock: { level: fine, groups: [], epochs: [{ from: 1, to: 2, found: [found] }] } };
    const read = decodeHost('a.example', encodeHost({ tally, facts })).facts?.clock;
    expect(read?.level).toEqual({ changes: 0.1235, watchedMs: 2, observedMs: 2, at: AT });
    expect(read?.epochs[0]?.found).toEqual([{ group: 1, observed: 0, expected: 0.0001, visits: 1 }]);
  });

  it.each([
    ['traffic', [null, null, [2, 1, 2, 3, 4, 5, 6, 7]]],
    ['dead links', [null, null, null, null, null, [2, 1, 2]]],
  ])('forgets %s that a newer version has counted', (_name, rarely) => {
    expect(decodeHost('a.example', pack([tally, [...counted, ...rarely]]))).toEqual({ tally, facts: counts });
  });

  it('takes what was cut off for less', () => {
    const cut = [[15_000, 2_000, 3_000, AT], [], [[11, 12, [3, 5_000, 1_250, 13, 4, 10_000, 20_000]]]];
    const missing = [1, 2, AT, 3, 4, 5, 6, 7];
    const { facts } = decodeHost('a.example', pack([tally, [...counted, null, null, null, null, cut, missing]]));
    expect(facts?.clock?.epochs[0]?.found).toEqual([{ group: 3, observed: 0.5, expected: 0.125, visits: 13 }]);
    expect(facts?.missing?.folders).toEqual([{ folder: 3, missing: 4, found: 5 }]);
  });

  it('is refused, with its host, where it is none', () => {
    expect(() => decodeHost('a.example', Buffer.from('text'))).toThrow(
      'the row of the host of a.example cannot be read: ',
    );
  });
});

it.each([
  ['of its own origin by their path', ['https://a.example/', 'https://a.example/b?c'], '/\n/b?c\n'],
  [
    'of other origins as they are',
    ['http://a.example/', 'https://a.example:8080/x', 'https://a.example.org/'],
    'http://a.example/\nhttps://a.example:8080/x\nhttps://a.example.org/\n',
  ],
  ['where there are none', [], ''],
])('links are stored as lines: %s', (_name, targets, text) => {
  expect(String(encodeLinks(URL_A, targets))).toBe(text);
  expect(decodeLinks(URL_A, Buffer.from(text))).toEqual(targets);
});

import { describe, expect, it } from 'vitest';
import { replayLastVisit, type SettlePolicy } from '../../../../src/core/domain/crawl/revisit/next-visit.ts';
import { createFreshnessSchedule } from '../../../../src/core/domain/crawl/schedules/freshness.ts';
import {
  ADAPTIVE_DEFAULTS,
  createAdaptiveSchedule,
} from '../../../../src/core/domain/crawl/schedules/nutch-schedules.ts';
import { createSimilaritySchedule } from '../../../../src/core/domain/crawl/schedules/similarity.ts';
import { type CrawlDatum, NO_VALIDATORS, newDatum } from '../../../../src/core/domain/crawl/states/datum.ts';
import { type CopyRule, repeatDistance } from '../../../../src/core/domain/crawl/states/duplicate.ts';
import { settle } from '../../../../src/core/domain/crawl/states/settle.ts';
import { type Truncation, takesPartial } from '../../../../src/core/domain/crawl/states/truncation.ts';
import { DAY_MS, HOUR_MS } from '../../../../src/core/domain/time.ts';

const START = Date.UTC(2026, 0, 10);
const SIGNATURES = ['7d859af90bc24962', 'fd851af90bc24962'];
/** The date by which `syncDelta` moves a visit is no evidence of change. */
const ADAPTIVE = { ...ADAPTIVE_DEFAULTS, syncDelta: false };
const SCHEDULES = [createAdaptiveSchedule(ADAPTIVE), createSimilaritySchedule(), createFreshnessSchedule()];

const policyOf = (schedule: SettlePolicy['schedule']): SettlePolicy => ({
  schedule,
  minIntervalMs: HOUR_MS,
  maxIntervalMs: 90 * DAY_MS,
  retryIntervalMs: DAY_MS,
  maxRetryIntervalMs: 30 * DAY_MS,
  goneIntervalsMs: [7 * DAY_MS],
});

/** A page after one visit for each body: its digest and signature by number, and whether it was cut. */
function visited(policy: SettlePolicy, bodies: readonly (readonly [number, Truncation | false])[]): CrawlDatum {
  let datum = newDatum({ url: 'http://a.org/', now: START, intervalMs: policy.schedule.initialIntervalMs });
  for (const [i, [body, truncated]] of bodies.entries()) {
    const at = START + 40 * i * DAY_MS;
    const validators = { etag: `"${body}"`, lastModified: null, contentLength: 9 };
    const costs = { at, requests: 1, bodyBytes: 9, receivedBytes: 99, ms: 5 };
    const answer = { status: 200, contentType: 'text/html', robotsTag: null, validators, truncated, audit: null };
    const outcome = { kind: 'success', digest: `${body}`.padStart(32, '0'), ...answer, ...costs } as const;
    const signature = SIGNATURES[body] as string;
    const page = { signature, signatureName: 'sig-1', title: 't', textChars: 900, stated: null, places: [] };
    const parse = { kind: 'parsed', ...page, noindex: false, metadata: {} } as const;
    datum = settle(datum, { kind: 'visited', outcome, parse, target: null, lastModifiedAt: null }, policy, at).datum;
  }
  return datum;
}

describe.each(SCHEDULES)('$name: a part of a page', (schedule) => {
  const policy = policyOf(schedule);

  it.each<[string, readonly (readonly [number, Truncation | false])[]]>([
    [
      'the same part again',
      [
        [0, 'disconnect'],
        [0, 'disconnect'],
      ],
    ],
    [
      'another part',
      [
        [0, 'disconnect'],
        [1, 'disconnect'],
      ],
    ],
    [
      'the whole page after it',
      [
        [0, 'unspecified'],
        [1, false],
      ],
    ],
    [
      'it after the whole page',
      [
        [0, false],
        [1, 'disconnect'],
      ],
    ],
  ])('%s says nothing about changes', (_, bodies) => {
    const before = visited(policy, bodies.slice(0, 1));
    const after = visited(policy, bodies);
    expect(after.schedule).toEqual(before.schedule);
    expect(after.visits.at(-1)?.distance).toBeNull();
    const isPart = bodies.at(-1)?.[1] !== false;
    expect(after.validators === NO_VALIDATORS).toBe(isPart);
    // The arithmetic that explain shows is that of the visit.
    expect(replayLastVisit(after, policy, null)?.memory.intervalMs).toBe(after.schedule.intervalMs);
  });

  it('a body cut at the configured size compares as a whole one does', () => {
    const cut = visited(policy, [
      [0, 'length'],
      [0, 'length'],
      [1, 'length'],
    ]);
    const whole = visited(policy, [
      [0, false],
      [0, false],
      [1, false],
    ]);
    expect(cut).toEqual({ ...whole, truncated: 'length' });
  });
});

const RULE: CopyRule = { minChars: 200, distance: 3, minOverlap: 0 };

it('a part of a page neither repeats a page nor represents one', () => {
  const page = visited(policyOf(createSimilaritySchedule()), [[0, false]]);
  const part: CrawlDatum = { ...page, url: 'http://a.org/part', truncated: 'disconnect' };
  expect(repeatDistance({ ...page, url: 'http://a.org/b' }, page, RULE)).toBe(0);
  expect([repeatDistance(page, part, RULE), repeatDistance(part, page, RULE)]).toEqual([null, null]);
  const version: CrawlDatum = { ...page, url: 'http://a.org/amp', metadata: { variantOf: part.url } };
  expect(repeatDistance(version, part, RULE)).toBeNull();
});

it.each<[string, Partial<CrawlDatum>, boolean]>([
  ['at first', {}, false],
  ['after one incomplete body', { failures: 1, lastError: { code: 'body-incomplete', message: '', at: 0 } }, false],
  [
    'after two failures, the last one incomplete',
    { failures: 2, lastError: { code: 'body-incomplete', message: '', at: 0 } },
    true,
  ],
  ['after failures of another kind', { failures: 9, lastError: { code: 'fetch-timeout', message: '', at: 0 } }, false],
  ['over a part', { truncated: 'disconnect' }, true],
  ['over a copy cut at the configured size', { truncated: 'length' }, false],
])('%s: a part is taken or not', (_, change, isTaken) => {
  expect(takesPartial({ ...newDatum({ url: 'http://a.org/', now: START, intervalMs: DAY_MS }), ...change })).toBe(
    isTaken,
  );
});

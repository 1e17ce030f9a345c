import { describe, expect, it } from 'vitest';
import { isChangedSince } from '../../../../src/core/domain/crawl/change/change-feed.ts';
import { newDatum, VISIT_RING_SIZE, type VisitOutcome } from '../../../../src/core/domain/crawl/states/datum.ts';

/** Visits at the times 10, 20, 30, ..; the content changed last at `changedAt`. */
const datum = (changedAt: number | null, ...outcomes: VisitOutcome[]) => ({
  ...newDatum({ url: 'http://example.org/', now: 0, intervalMs: 1 }),
  changedAt,
  visits: outcomes.map((outcome, i) => ({
    at: 10 * (i + 1),
    outcome,
    distance: null,
    elapsedMs: null,
    bytes: 0,
    intervalMs: 1,
  })),
});
const SINCE = 25;
const same = Array.from({ length: VISIT_RING_SIZE }, (): VisitOutcome => 'unchanged-304');

describe('a page is another than it was', () => {
  it.each([
    ['never visited', datum(null), true],
    ['changed since', datum(30, 'new', 'unchanged-304', 'modified'), true],
    ['changed before', datum(20, 'new', 'modified', 'unchanged-304'), false],
    ['went away since', datum(30, 'new', 'unchanged-304', 'gone'), true],
    ['went away before', datum(20, 'new', 'gone', 'gone'), false],
    // The content is what it was, and its time of change is that of its going away.
    ['came back since', datum(20, 'new', 'gone', 'unchanged-304'), true],
    ['came back from a redirect since', datum(20, 'new', 'redirect', 'failed', 'unchanged-digest'), true],
    ['came back before', datum(10, 'gone', 'unchanged-304', 'unchanged-304'), false],
    ['came back, failed and was denied', datum(20, 'new', 'gone', 'failed', 'denied'), false],
    ['could be parsed again', datum(20, 'new', 'parse-failed', 'unchanged-digest'), true],
  ] as const)('%s', (_name, page, expected) => {
    expect(isChangedSince(page, SINCE)).toBe(expected);
  });

  it('is taken for changed where the visits before are forgotten', () => {
    expect(isChangedSince(datum(2, ...same), 5)).toBe(true);
    expect(isChangedSince(datum(2, ...same.slice(1)), 5)).toBe(false);
  });
});

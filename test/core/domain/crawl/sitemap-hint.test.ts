import { describe, expect, it } from 'vitest';
import { HINT_KEY, withHint } from '../../../../src/core/domain/crawl/discovery/sitemap-hint.ts';
import type { CrawlDatum } from '../../../../src/core/domain/crawl/states/datum.ts';
import { visitedDatum } from '../../../contracts/crawl-db-exam.ts';

const HOUR = 3_600_000;
const NOW = 1_800_000_000_000;
const page = (change: Partial<CrawlDatum> = {}): CrawlDatum =>
  visitedDatum('https://a.example/', {
    lastFetchAt: NOW - 10 * HOUR,
    nextFetchAt: NOW + 20 * HOUR,
    fixedIntervalMs: null,
    failures: 0,
    ...change,
  });
const hinted = (datum: CrawlDatum, trust: number, minIntervalMs = HOUR): number | null => {
  const after = withHint(datum, NOW - HOUR, trust, NOW, minIntervalMs);
  return after === null ? null : ((after.nextFetchAt ?? 0) - NOW) / HOUR;
};

describe('a newer lastmod', () => {
  it.each([
    [0, 20],
    [0.5, 10],
    [1, 0],
  ])('with trust %d brings a page due in 20 h forward to %d h', (trust, hours) => {
    expect(hinted(page(), trust)).toBe(hours);
  });

  it("never before the operator's bound", () => {
    expect(hinted(page(), 1, 15 * HOUR)).toBe(5);
    expect(hinted(page(), 1, 90 * HOUR)).toBe(20);
  });

  it.each([
    ['fails: its server, or the pause after failures, says when', { failures: 1 }],
    ['has an interval that the operator fixed', { fixedIntervalMs: HOUR }],
    ['was never visited', { lastFetchAt: null }],
    ['is not to be visited any more', { nextFetchAt: null }],
    ['was visited since', { lastFetchAt: NOW }],
    ['had a hint of this date before', { metadata: { [HINT_KEY]: NOW - HOUR } }],
  ])('leaves a page alone that %s', (_, change) => {
    expect(hinted(page(change), 1)).toBeNull();
  });
});

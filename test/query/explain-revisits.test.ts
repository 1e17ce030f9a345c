import { describe, expect, it } from 'vitest';
import { groupOf } from '../../src/core/domain/crawl/hazard/expectation.ts';
import { NO_LEVEL } from '../../src/core/domain/crawl/hazard/level.ts';
import type { SettlePolicy } from '../../src/core/domain/crawl/revisit/next-visit.ts';
import { createFreshnessSchedule } from '../../src/core/domain/crawl/schedules/freshness.ts';
import { type CrawlDatum, newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { DAY_MS } from '../../src/core/domain/time.ts';
import { hazardSentences } from '../../src/query/records/explain-revisits.ts';

describe('what explain says of looks at pages like one', () => {
  const pageOf = (path: string): CrawlDatum => ({
    ...newDatum({ url: `https://a.org${path}`, now: 0, intervalMs: 30 * DAY_MS }),
    state: 'fetched',
    lastFetchAt: 0,
  });
  const said = (path: string, visits: number, observed: number, expected: number): string => {
    const found = [{ group: groupOf(`https://a.org${path}`), visits, observed, expected }];
    const clock = { level: NO_LEVEL, groups: [], epochs: [{ from: 0, to: 2 * DAY_MS, found }] };
    const policy = {
      schedule: createFreshnessSchedule(),
      maxIntervalMs: 30 * DAY_MS,
      expected: { clock, above: 1 / (30 * DAY_MS) },
    } as unknown as SettlePolicy;
    return hazardSentences(pageOf(path), policy, 3 * DAY_MS).join('\n');
  };

  it.each([
    [
      '/',
      8,
      0.4,
      0.01,
      /^8 looks at other pages at the top of its host since its last visit found no change for certain, but more that may be one than was expected: the 3 days since its last visit count as \d+ days\.$/m,
    ],
    [
      '/docs/a',
      9,
      6,
      0.5,
      /^Other pages of \/docs\/ changed by \S+ \(6 substantive changes at 9 looks\): the 3 days since .* count as \d+ days\.$/m,
    ],
    ['/docs/a', 1, 1, 0.1, /\(1 substantive change at 1 look\)/],
    [
      '/docs/a',
      18,
      0,
      9,
      /^18 looks at other pages of \/docs\/ since its last visit found no change: the 3 days .* count as 29 hours\.$/m,
    ],
  ])('%s, %i looks, %d seen, %d expected', (path, visits, observed, expected, words) => {
    expect(said(path, visits, observed, expected)).toMatch(words);
  });
});

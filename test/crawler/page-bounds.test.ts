import { expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import { nextVisit } from '../../src/core/domain/crawl/revisit/next-visit.ts';
import { createSimilaritySchedule, SIMILARITY_DEFAULTS } from '../../src/core/domain/crawl/schedules/similarity.ts';
import { newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { intervalsOf } from '../../src/crawler/parsing-options.ts';
import { policyOf } from '../../src/crawler/policy.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

it('bounds of a host or a type win over the general ones, also where they lie outside of them', () => {
  const config = defaultConfig([
    'schedule.minInterval=1h',
    'schedule.maxInterval=90d',
    'schedule.bounds=["news.example.net 15m..6h", "application/pdf 30d..365d"]',
  ]);
  const policy = policyOf(config, createSimilaritySchedule({ ...SIMILARITY_DEFAULTS, ...intervalsOf(config) }));
  const settledAt = (host: string, contentType: string, outcome: 'modified' | 'unchanged'): number => {
    const fresh = newDatum({ url: `https://${host}/a`, now: 0, intervalMs: DAY });
    let { schedule } = fresh;
    for (let visits = 0; visits < 60; visits++) {
      const visit = { now: 0, elapsedMs: DAY, outcome, evidence: 'digest', distance: null } as const;
      const page = { ...fresh, contentType, schedule };
      schedule = nextVisit(page, { ...visit, changedAt: null, lastModifiedAt: null }, policy).memory;
    }
    return schedule.intervalMs;
  };
  expect(settledAt('news.example.net', 'text/html', 'modified')).toBe(15 * MINUTE);
  expect(settledAt('news.example.net', 'text/html', 'unchanged')).toBe(360 * MINUTE);
  expect(settledAt('example.org', 'application/pdf', 'unchanged')).toBe(365 * DAY);
  expect(settledAt('example.org', 'text/html', 'modified')).toBe(60 * MINUTE);
  expect(settledAt('example.org', 'text/html', 'unchanged')).toBe(90 * DAY);
});

it('hosts of bounds may be in any spelling', () => {
  const rulesOf = (...bounds: string[]) =>
    policyOf(
      defaultConfig([`schedule.bounds=${JSON.stringify(bounds)}`]),
      createSimilaritySchedule(SIMILARITY_DEFAULTS),
    ).intervalRules?.map(({ of }) => of);
  expect(rulesOf('Bücher.example:8080 1h..', '*.Straße.example ..30d', '[0:0::1]:81 1h..', 'Text/HTML 1d..')).toEqual([
    'xn--bcher-kva.example:8080',
    '*.xn--strae-oqa.example',
    '[::1]:81',
    'text/html',
  ]);
  expect(() => rulesOf('*.example.org:8080 1h..')).toThrow('expected a host, *.domain or MIME type');
});

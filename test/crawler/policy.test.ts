import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import { boundsFor } from '../../src/core/domain/crawl/revisit/next-visit.ts';
import type { FetchSchedule } from '../../src/core/domain/crawl/revisit/schedule.ts';
import { intervalsOf } from '../../src/crawler/parsing-options.ts';
import { policyOf } from '../../src/crawler/policy.ts';

const config = defaultConfig([
  { key: 'schedule.bounds', value: ['a.org 2h..2d', 'text/plain 3h..3d'], origin: 'test' },
  {
    key: 'hosts',
    value: [
      { match: 'https://a.org/news/', minInterval: '10m', maxInterval: '1h' },
      { match: '*.a.org', delay: '1s' },
      { match: 'b.org', minInterval: '200d' },
    ],
    origin: 'test',
  },
]);
const policy = policyOf(config, {} as FetchSchedule);
const [MINUTE, DAY] = [60_000, 86_400_000];

describe('policyOf', () => {
  it('bounds the intervals of the pages of an entry, and leaves others to schedule.bounds', () => {
    const of = (url: string, contentType: string | null = null) => {
      const { minIntervalMs, maxIntervalMs } = boundsFor({ url, contentType }, policy);
      return [minIntervalMs, maxIntervalMs];
    };
    expect(of('https://a.org/news/1', 'text/plain')).toEqual([10 * MINUTE, 60 * MINUTE]);
    expect(of('https://a.org/other')).toEqual([120 * MINUTE, 2 * DAY]);
    expect(of('https://c.org/x', 'text/plain')).toEqual([180 * MINUTE, 3 * DAY]);
    // The general maximum is shorter than the entry's minimum.
    expect(of('https://b.org/')).toEqual([200 * DAY, 200 * DAY]);
  });

  it('lets schedules know the widest of all bounds', () => {
    expect(intervalsOf(config)).toMatchObject({ minIntervalMs: 10 * MINUTE, maxIntervalMs: 200 * DAY });
  });
});

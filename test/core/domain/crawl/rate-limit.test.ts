import { describe, expect, it } from 'vitest';
import { exhaustedUntil, quotaOf } from '../../../../src/core/domain/crawl/headers/header-fields.ts';

const NOW = Date.UTC(2026, 2, 1, 8);
const inSeconds = (seconds: number): number => NOW + seconds * 1_000;

describe('the quota of requests', () => {
  it.each([
    // draft-ietf-httpapi-ratelimit-headers, from its list of policies on
    [{ ratelimit: '"default";r=50;t=30' }, 50, 30],
    [{ ratelimit: '"a, b";r=5;t=10, "day";r=0;t=600' }, 0, 600],
    [{ ratelimit: '"a";r=0;t=10,"b";r=0;t=20' }, 0, 20],
    [{ ratelimit: '"with;r=7;t=9";t=5;r=0' }, 0, 5],
    // and before
    [{ ratelimit: 'limit=100, remaining=0, reset=50' }, 0, 50],
    [{ 'ratelimit-limit': '100', 'ratelimit-remaining': '3', 'ratelimit-reset': '40' }, 3, 40],
    // services
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(inSeconds(90) / 1_000) }, 0, 90],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(inSeconds(90)) }, 0, 90],
    [{ 'x-rate-limit-remaining': '0', 'x-rate-limit-reset': '12.5' }, 0, 12.5],
    [{ 'x-ratelimit-reset': 'Sun, 01 Mar 2026 08:01:00 GMT' }, null, 60],
    // a time that has passed
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(inSeconds(-90) / 1_000) }, 0, 0],
  ])('%j', (headers, remaining, seconds) => {
    expect(quotaOf(headers as Record<string, string>, NOW)).toEqual({ remaining, resetAt: inSeconds(seconds) });
  });

  it.each([
    {},
    { ratelimit: '"default";r=0' },
    { ratelimit: 'unlimited' },
    { 'x-ratelimit-remaining': '0' },
    { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': 'soon' },
    { 'x-ratelimit-reset': '-5' },
  ])('is not stated by %j', (headers) => {
    expect(quotaOf(headers as Record<string, string>, NOW)).toBeNull();
  });

  it('that is used up holds for an hour at most', () => {
    expect(exhaustedUntil({ ratelimit: '"d";r=1;t=60' }, NOW)).toBeNull();
    expect(exhaustedUntil({ ratelimit: '"d";r=0;t=60' }, NOW)).toBe(inSeconds(60));
    expect(exhaustedUntil({ ratelimit: '"d";r=0;t=86400' }, NOW)).toBe(inSeconds(3_600));
    expect(exhaustedUntil({ 'x-ratelimit-reset': '60' }, NOW)).toBeNull();
  });
});

import { describe, expect, it } from 'vitest';
import { boundsOf, type IntervalRule } from '../../../../src/core/domain/crawl/revisit/next-visit.ts';

const general = { minIntervalMs: 10, maxIntervalMs: 1_000 };
const rules: readonly IntervalRule[] = [
  { of: 'news.example.org', minIntervalMs: 1, maxIntervalMs: 20 },
  { of: '*.example.org', minIntervalMs: null, maxIntervalMs: 5 },
  { of: 'application/pdf', minIntervalMs: 5_000, maxIntervalMs: null },
  { of: 'image/*', minIntervalMs: 50, maxIntervalMs: 60 },
  { of: 'port.org:8080', minIntervalMs: 70, maxIntervalMs: 80 },
  { of: '[::1]', minIntervalMs: 90, maxIntervalMs: 95 },
];

describe('bounds by host and type', () => {
  it.each([
    ['news.example.org', null, 1, 20],
    ['news.example.org:8080', 'application/pdf', 1, 20],
    ['example.org', 'text/html', 5, 5],
    ['a.b.example.org', null, 5, 5],
    ['notexample.org', null, 10, 1_000],
    ['other.org', 'application/pdf; version=1', 5_000, 5_000],
    ['other.org', 'IMAGE/png', 50, 60],
    ['other.org', 'text/html', 10, 1_000],
    ['bad-news.example.org', null, 5, 5],
    ['a.example.org:8080', null, 5, 5],
    ['other.org', 'application/pdf ; version=1', 5_000, 5_000],
    ['other.org', 'application/pdx', 10, 1_000],
    ['other.org', 'ics/x', 10, 1_000],
    ['port.org:8080', null, 70, 80],
    ['port.org', null, 10, 1_000],
    ['[::1]:80', null, 90, 95],
  ])('%s, %s: %s to %s', (host, contentType, minIntervalMs, maxIntervalMs) => {
    expect(boundsOf(rules, general, { host, contentType })).toEqual({ minIntervalMs, maxIntervalMs });
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FetchOutcome } from '../../../src/core/domain/crawl/states/outcome.ts';
import {
  addFailure,
  type FailureKind,
  failureOf,
  sumOfFailures,
} from '../../../src/core/steps/counters/round-counts.ts';

const BASE = { at: 0, requests: 1, bodyBytes: 0, receivedBytes: 0, ms: 1 };
const failed = (code: string, status: number | null, message = 'm'): FetchOutcome => ({
  ...BASE,
  kind: 'failed',
  code,
  message,
  status,
  retryAt: null,
});

describe('failures by their reason', () => {
  it('are visits that failed or were refused, not answers', () => {
    expect(failureOf('http://a.test/', failed('http-error', 503, 'HTTP 503'))).toEqual({
      code: 'http-error',
      status: 503,
      visits: 1,
      url: 'http://a.test/',
      message: 'HTTP 503',
    });
    const denied: FetchOutcome = { ...BASE, kind: 'denied', code: 'robots-denied', message: 'rule', retryAt: null };
    expect(failureOf('http://a.test/x', denied)).toMatchObject({ code: 'robots-denied', status: null });
    expect(failureOf('http://a.test/', { ...BASE, kind: 'gone', status: 404 })).toBeNull();
  });

  it('are counted by code and status, the most frequent first, each with its first URL', () => {
    const one = (url: string, code: string, status: number | null): FailureKind[] => [
      failureOf(url, failed(code, status)) as FailureKind,
    ];
    const sum = sumOfFailures([
      one('http://a.test/1', 'http-error', 500),
      one('http://a.test/2', 'connect-failed', null),
      one('http://a.test/3', 'http-error', 503),
      one('http://a.test/4', 'http-error', 503),
      one('http://a.test/5', 'connect-failed', null),
    ]);
    expect(sum.map(({ code, status, visits, url }) => [code, status, visits, url])).toEqual([
      ['connect-failed', null, 2, 'http://a.test/2'],
      ['http-error', 503, 2, 'http://a.test/3'],
      ['http-error', 500, 1, 'http://a.test/1'],
    ]);
    expect(sumOfFailures([sum, sum]).map(({ visits }) => visits)).toEqual([4, 4, 2]);
  });

  it('stay few however many codes a plugin has, and no visit is lost', () => {
    const kinds = Array.from({ length: 200 }, (_, i) => [
      failureOf(`http://a.test/${i}`, failed(`own-${i}`, null)) as FailureKind,
    ]);
    const sum = sumOfFailures(kinds);
    expect(sum).toHaveLength(51);
    expect(sum[0]).toMatchObject({ code: 'other', visits: 150, url: 'http://a.test/50' });
    expect(sum.reduce((total, { visits }) => total + visits, 0)).toBe(200);
  });

  it('are the same one by one and in parts: in order, each once, no visit lost', () => {
    const kind = fc.record({
      code: fc.integer({ min: 0, max: 80 }).map((n) => `own-${n}`),
      status: fc.constantFrom(null, 500, 503),
      visits: fc.integer({ min: 1, max: 3 }),
      url: fc.constant('http://a.test/'),
      message: fc.constant('m'),
    });
    fc.assert(
      fc.property(fc.array(kind, { maxLength: 300 }), fc.nat(300), (kinds, cut) => {
        const one: FailureKind[] = [];
        for (const each of kinds) addFailure(one, each);
        const parts = sumOfFailures([sumOfFailures([kinds.slice(0, cut)]), sumOfFailures([kinds.slice(cut)])]);
        for (const sum of [one, parts]) {
          const reasons = sum.map(({ code, status }) => `${code} ${status ?? ''}`);
          expect(new Set(reasons).size).toBe(sum.length);
          expect(sum.length).toBeLessThanOrEqual(51);
          expect(sum.reduce((total, { visits }) => total + visits, 0)).toBe(
            kinds.reduce((total, { visits }) => total + visits, 0),
          );
          const sorted = [...sum].sort((a, b) => b.visits - a.visits);
          expect(sum.map(({ visits }) => visits)).toEqual(sorted.map(({ visits }) => visits));
        }
      }),
    );
  });
});

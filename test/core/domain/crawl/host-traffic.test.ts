import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  LAST_LATENCY_STEP,
  latencyPercentile,
  latencyStep,
  NO_TRAFFIC,
  TrafficSum,
} from '../../../../src/core/domain/crawl/states/host-traffic.ts';
import type { FetchOutcome } from '../../../../src/core/domain/crawl/states/outcome.ts';
import { decodeTraffic, encodeTraffic } from '../../../../src/store/rows/codecs/row-codecs.ts';

const COSTS = { at: 0, requests: 1, bodyBytes: 10, receivedBytes: 100 };
const answered = (ms: number): FetchOutcome => ({ kind: 'gone', status: 404, ...COSTS, ms });
const failed = (code: string, requests = 1, status: number | null = null): FetchOutcome => ({
  ...{ kind: 'failed', code, message: '', status, retryAt: null },
  ...{ ...COSTS, requests, receivedBytes: 0, ms: 20_000 },
});
const denied: FetchOutcome = {
  ...{ kind: 'denied', code: 'robots-denied', message: '', retryAt: null },
  ...{ ...COSTS, requests: 0, receivedBytes: 0, ms: 0 },
};
const sumOf = (outcomes: readonly FetchOutcome[], start = NO_TRAFFIC) => {
  const sum = new TrafficSum(start);
  for (const outcome of outcomes) sum.add(outcome);
  return sum.value;
};

const times = fc.array(fc.double({ min: 1, max: 3_000_000, noNaN: true }), { minLength: 1, maxLength: 400 });

describe('latency', () => {
  it('percentiles are off by 9 % at most, whatever the times', () => {
    fc.assert(
      fc.property(times, fc.constantFrom(0.01, 0.5, 0.9, 0.99, 1), (all, share) => {
        const found = latencyPercentile(sumOf(all.map(answered)), share) as number;
        const exact = [...all].sort((a, b) => a - b)[Math.ceil(share * all.length) - 1] as number;
        expect(Math.abs(Math.log2(found / exact))).toBeLessThanOrEqual(0.1251);
      }),
    );
  });

  it('a time lies in the step of its bounds, and an hour or more in the last', () => {
    expect([0, 0.9, 1, 1.18, 1.19, 2, 1_000, 3_600_000, 1e12].map(latencyStep)).toEqual([
      ...[0, 0, 1, 1, 2, 5, 40, 88, LAST_LATENCY_STEP],
    ]);
  });

  it('is unknown without an answered visit', () => {
    expect(latencyPercentile(NO_TRAFFIC, 0.5)).toBeNull();
    expect(latencyPercentile(sumOf([failed('dns-failed')]), 0.5)).toBeNull();
  });
});

describe('the sums', () => {
  it('count failures by their kind, and refusals not at all', () => {
    const codes = ['dns-failed', 'dns-failed', 'connect-failed', 'tls-failed', 'connect-timeout', 'fetch-timeout'];
    // Without its robots.txt a page of a dead host is not requested: it failed all the same.
    const outcomes = [...codes.map((code) => failed(code, 0)), denied, failed('host-failing', 0), answered(5)];
    expect(sumOf(outcomes)).toMatchObject({
      ...{ visits: 7, dnsFailures: 2, connectionFailures: 2, timeouts: 2, receivedBytes: 100 },
    });
    expect(sumOf([failed('http-server-error', 1, 503)])).toMatchObject({ visits: 1, latency: { counts: [1] } });
  });

  it('do not depend on where they are cut, and survive the host row, in at most 460 bytes', () => {
    fc.assert(
      fc.property(times, fc.nat(), (all, cut) => {
        const outcomes = all.map(answered);
        const at = cut % outcomes.length;
        const whole = sumOf(outcomes);
        expect(sumOf(outcomes.slice(at), sumOf(outcomes.slice(0, at)))).toEqual(whole);
        expect(decodeTraffic(encodeTraffic(whole))).toEqual(whole);
        expect(whole.latency.counts.length).toBeLessThanOrEqual(LAST_LATENCY_STEP + 1);
      }),
    );
  });

  it('of a newer version are counted anew', () => {
    expect(decodeTraffic([2, 1, 1, 1, 1, 1, 0])).toBeNull();
  });
});

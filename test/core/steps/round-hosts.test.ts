import { describe, expect, it } from 'vitest';
import type { FetchOutcome } from '../../../src/core/domain/crawl/states/outcome.ts';
import { HostTally, sumOfHosts } from '../../../src/core/steps/counters/round-counts.ts';

const BASE = { at: 0, requests: 1, bodyBytes: 0, receivedBytes: 0, ms: 1 };
const gone: FetchOutcome = { ...BASE, kind: 'gone', status: 404 };
const refused = (code: string): FetchOutcome => ({ ...BASE, kind: 'denied', code, message: 'm', retryAt: null });
const failed = (code: string): FetchOutcome => ({ ...refused(code), kind: 'failed', status: null }) as FetchOutcome;

/** The summary of visits, as `host outcome`. */
function summaryOf(visits: readonly (readonly [string, FetchOutcome])[]) {
  const tally = new HostTally();
  for (const [host, outcome] of visits) tally.count(host, `http://${host}/`, outcome);
  return tally.summary;
}

describe('hosts of a round', () => {
  it('are listed by visits, and by failed visits with the reason; what robots.txt keeps out is no failure', () => {
    const { busiest, failing } = summaryOf([
      ['a.test', gone],
      ['b.test:8080', failed('dns-failed')],
      ['b.test:8080', failed('dns-failed')],
      ['b.test:8080', refused('host-failing')],
      ['a.test', refused('robots-denied')],
      ['c.test', failed('a code of a plugin')],
    ]);
    expect(busiest).toEqual([
      { host: 'b.test:8080', visits: 3 },
      { host: 'a.test', visits: 2 },
      { host: 'c.test', visits: 1 },
    ]);
    expect(failing).toEqual([
      { host: 'b.test:8080', code: 'dns-failed', visits: 2 },
      { host: 'b.test:8080', code: 'host-failing', visits: 1 },
      { host: 'c.test', code: 'a code of a plugin', visits: 1 },
    ]);
  });

  it('are few, however many a round visits, and keep their sums over parts of it', () => {
    const many = summaryOf(Array.from({ length: 5_000 }, (_, i) => [`${i % 2_500}.test`, failed('dns-failed')]));
    expect([many.busiest.length, many.failing.length]).toEqual([20, 20]);
    const part = summaryOf([['b.test', failed('tls-failed')]]);
    expect(sumOfHosts([part, part, summaryOf([['a.test', gone]])])).toEqual({
      busiest: [
        { host: 'b.test', visits: 2 },
        { host: 'a.test', visits: 1 },
      ],
      failing: [{ host: 'b.test', code: 'tls-failed', visits: 2 }],
    });
  });
});

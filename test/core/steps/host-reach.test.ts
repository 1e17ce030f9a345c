import { describe, expect, it } from 'vitest';
import type { FetchOutcome } from '../../../src/core/domain/crawl/states/outcome.ts';
import { HostFailures, reachByRobots, reachOf } from '../../../src/core/steps/fetch/host-hold.ts';

describe('a proxy that fails', () => {
  const outcome = { kind: 'failed', code: 'proxy-failed', status: null } as FetchOutcome;

  it('counts for no host, and for the network as a whole', () => {
    const stopped: string[] = [];
    const log = { warn: () => {}, info: () => {}, debug: () => {}, error: () => {} };
    const limits = { hostFailureLimit: 2, failureLimit: 5 };
    const failures = new HostFailures(log, limits, ({ code }) => void stopped.push(code));
    expect(reachByRobots({ code: 'proxy-failed', fault: 'away' } as never)).toBe('unknown');
    for (let i = 0; i < 4; i++) failures.count('a.example', reachOf(outcome));
    expect(failures.reason('a.example')).toBeUndefined();
    expect(failures.hasFailed('a.example')).toBe(false);
    expect(stopped).toEqual([]);
    failures.count('b.example', reachOf(outcome));
    expect(stopped).toEqual(['failure-limit']);
  });
});
